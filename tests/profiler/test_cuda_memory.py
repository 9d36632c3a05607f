"""The collector of CUDA's memory, beside a stand-in for ``torch.cuda``: this has what the collector asks for, and nothing else."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from summarykit import Profiler
from summarykit.profiler.merging import recorded

GB = 1_000_000_000


class Cuda:
    """Two devices, of which only the second is used; each look finds more allocated."""

    def __init__(self, initialized: bool = True) -> None:
        self.initialized = initialized
        self.looks = 0

    def is_initialized(self) -> bool:
        return self.initialized

    def device_count(self) -> int:
        return 2

    def memory_stats(self, device: int) -> dict[str, int]:
        if device == 0:
            return {}
        self.looks += 1
        return {
            "allocated_bytes.all.allocated": 10 * GB * self.looks,
            "allocated_bytes.all.current": 9 * GB + self.looks,
            "allocated_bytes.all.peak": 19 * GB,
            "reserved_bytes.all.current": 20 * GB,
            "reserved_bytes.all.peak": 20 * GB,
            "num_alloc_retries": 3,
        }

    def get_device_properties(self, device: int) -> SimpleNamespace:
        return SimpleNamespace(total_memory=(device + 1) * 5 * GB)


@pytest.fixture
def cuda(monkeypatch) -> Cuda:
    found = Cuda()
    monkeypatch.setitem(sys.modules, "torch.cuda", found)
    return found


def test_memory_of_the_devices_that_are_used(tmp_path, cuda):
    with Profiler(tmp_path, collectors=["cuda_memory"]) as profiler:
        profiler.step()
    (recording,) = recorded(profiler.windows[0].records)
    memory = recording.tables["memory"]
    assert set(memory["device"].tolist()) == {1}
    assert memory["bytes"].tolist()[:2] == [0, 10 * GB]    # what had been allocated before is not the window's
    assert memory["allocated"].tolist()[:2] == [9 * GB + 1, 9 * GB + 2]
    assert set(memory["reserved"].tolist()) == {20.0 * GB}
    counters = recording.tables["counters"]
    found = dict(zip(counters["counter"].tolist(), counters["value"].tolist(), strict=True))
    assert found == {"cuda_1/allocated_peak": 19.0 * GB, "cuda_1/reserved": 20.0 * GB, "cuda_1/retries": 3.0}
    assert recording.meta["collected"]["cuda_memory"] == {"devices": [{"id": 1, "totalGlobalMem": 10 * GB}]}


def test_the_advice_knows_of_it(tmp_path, cuda):
    with Profiler(tmp_path, collectors=["cuda_memory"]) as profiler:
        profiler.step()
    report = profiler.analyse()
    assert {advice.rule for advice in report.advice} >= {"fragmentation", "device_memory"}
    assert report.profiles[0].memory["device"].tolist() == [1.0]
    assert "cuda_1/reserved" in str(report)


def test_cuda_is_not_initialized_by_it(tmp_path, cuda):
    cuda.initialized = False
    with Profiler(tmp_path, collectors=["cuda_memory"]) as profiler:
        profiler.step()
    (recording,) = recorded(profiler.windows[0].records)
    assert not cuda.looks
    assert "memory" not in recording.tables


def test_auto_takes_it_where_cuda_is_used(tmp_path, cuda):
    def collectors() -> set[str]:
        profiler = Profiler(tmp_path)
        profiler.stop()
        return set(recorded(profiler.windows[0].records)[0].meta["collected"])

    assert "cuda_memory" in collectors()
    cuda.initialized = False
    assert "cuda_memory" not in collectors()
