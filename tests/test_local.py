"""RM1: a store behind a URL is not a folder of that name; what a job may do instead sends each byte once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from summarykit import (
    LandscapeCollector,
    ProfileOnDemand,
    Profiler,
    Run,
    SummaryCollector,
    SummaryLandscape,
    SummaryRecord,
    SummaryWriter,
    convert,
    repair,
    runs,
    verify,
)  # fmt: skip
from summarykit.errors import RemotePathError

URL = "s3://bucket/run"
PLACES = {
    "SummaryRecord": lambda url, base: SummaryRecord(url),
    "SummaryWriter": lambda url, base: SummaryWriter(url),
    "SummaryCollector": lambda url, base: SummaryCollector(url),
    "LandscapeCollector": lambda url, base: LandscapeCollector(url, [[1, 2, 3]]),
    "SummaryLandscape": lambda url, base: SummaryLandscape(url),
    "Profiler": lambda url, base: Profiler(url, start_profile=False),
    "ProfileOnDemand": lambda url, base: ProfileOnDemand(3, Profiler(url, start_profile=False)),
    "Run": lambda url, base: Run(url),
    "runs": lambda url, base: runs(url),
    "verify": lambda url, base: verify(url),
    "convert": lambda url, base: convert(base, url),
    "repair": lambda url, base: repair(base, url),
}


@pytest.mark.parametrize("url", [URL, "gs://b/x", Path(URL), "file:///tmp/x", "new-store://x", "HDFS:/x", "dbfs:/x"], ids=str)
@pytest.mark.parametrize("place", PLACES)
def test_rm1_a_url_is_refused_where_it_is_given(place, url, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    base = tmp_path / "base"
    with SummaryRecord(base) as record:
        record.add_value("scalar", "loss", 1.0)
        record.record(1)
    with pytest.raises(RemotePathError, match=r"is a URL.*Mount the store.*max_file_size"):
        PLACES[place](url, base)
    assert [path.name for path in tmp_path.iterdir()] == ["base"]


@pytest.mark.parametrize("name", ["exp:/run", "lr=0.1:/a", "C:/run", "a:b", "12:30://x", "x/s3://y"])
def test_rm1_a_folder_may_have_a_colon_in_its_name(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with SummaryRecord(name) as record:
        record.add_value("scalar", "loss", 1.0)
        record.record(1)
    assert len(Run(name).scalars("loss")) == 1
    assert (tmp_path / name).is_dir()


def test_rm1_finished_files_of_a_run_are_sent_once_each_to_a_store_of_whole_objects(tmp_path):
    """The store takes whole objects only, as most do. A hundred times 10 KB; what lies there can be read while the run goes on."""
    store: dict[str, bytes] = {}
    sent = []

    def send(files: list[str]) -> None:
        for file in files:
            if Path(file).name not in store:
                store[Path(file).name] = Path(file).read_bytes()
                sent.append(len(store[Path(file).name]))

    def steps_in_store(place: Path) -> list[int]:
        place.mkdir()
        for name, content in store.items():
            (place / name).write_bytes(content)
        assert verify(place).ok
        return Run(place).tensors("t").step.tolist()

    record = SummaryRecord(tmp_path / "run", formats=("tensorboard",), max_file_size=128 << 10)
    for step in range(100):
        record.add_value("tensor", "t", np.full(10_000, step, np.uint8))
        record.record(step)
        record.flush()
        send(record.stats()["files"][:-1])    # the last one grows
        if step == 70:
            seen = steps_in_store(tmp_path / "meanwhile")
            assert seen == list(range(len(seen)))
            assert len(seen) > 50
    record.close()
    send(record.stats()["files"])
    assert steps_in_store(tmp_path / "afterwards") == list(range(100))
    assert len(sent) > 5
    assert sum(sent) <= 2 * 100 * 10_000
