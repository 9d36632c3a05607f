"""MindInsight's landscape pages show our surfaces: every number is the recorded one, as float32."""

from __future__ import annotations

import numpy as np
import pytest
from testkit import surfaces, views

from summarykit import SummaryLandscape

pytestmark = [pytest.mark.viewers, pytest.mark.shared]


def digest(values) -> str:
    return views.digest(np.asarray(values, np.float32), str)


@pytest.mark.parametrize("options", [(), ("--rest",)], ids=["python", "rest"])
def test_mindinsight_shows_our_landscapes(tmp_path, mindinsight_client, options):
    run = surfaces.store(tmp_path / "run", intervals=((1, 2, 3, 4), (3, 4, 5, 6)), landscape_size=9, unit="epoch")
    first, second, result = SummaryLandscape(run).gen_landscapes_with_multi_process(surfaces.double)
    document = mindinsight_client(run, *options).expect_sound()
    (job,) = document["train_jobs"].values()
    seen = job["plugins"]["loss_landscape"]
    assert sorted(seen["intervals"]) == [[1, 4], [3, 6]]
    by_interval = dict(zip(map(tuple, seen["intervals"]), seen["interval"], strict=True))
    shown = {(1, 4): first, (3, 6): second, None: result}
    for interval, surface in shown.items():
        found = seen["final"] if interval is None else by_interval[interval]
        assert {axis: found["points"][axis]["sha256"] for axis in "xyz"} == {axis: digest(getattr(surface, axis)) for axis in "xyz"}
        assert found["points"]["z_shape"] == [9, 9]
        assert found["metadata"]["decomposition"] == surface.decomposition
        assert (found["metadata"]["unit"], found["metadata"]["step_per_epoch"]) == ("epoch", 3)
        np.testing.assert_allclose(found["convergence_point"], surface.convergence, rtol=1e-6)
        if interval is not None:
            assert {axis: found["path"][axis]["sha256"] for axis in "xyz"} == {axis: digest(getattr(surface.path, axis)) for axis in "xyz"}
            assert found["path"]["intervals"] == surface.path.steps.tolist()
