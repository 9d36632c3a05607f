"""A cluster's executor: dask's, on a cluster of two processes of this machine."""

from __future__ import annotations

import pytest
from testkit import surfaces

from summarykit.landscape import SummaryLandscape

distributed = pytest.importorskip("distributed")    # it brings dask
dask = pytest.importorskip("dask")
PATIENT = {f"distributed.comm.timeouts.{name}": "300s" for name in ("connect", "tcp")}    # a busy machine needs time


def test_a_cluster_gives_the_same_values(tmp_path, monkeypatch):
    run = surfaces.store(tmp_path / "run", landscape_size=5)
    wanted = SummaryLandscape(run).gen_landscapes_with_multi_process(surfaces.double)
    monkeypatch.setenv("PYTHONPATH", str(surfaces.Path(surfaces.__file__).parents[1]))
    with (
        dask.config.set(PATIENT),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        found = SummaryLandscape(run).gen_landscapes_with_multi_process(surfaces.double, executor=client.get_executor())
    for one, other in zip(found, wanted, strict=True):
        assert one.z.tobytes() == other.z.tobytes()
