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


def test_what_the_program_resets_takes_nothing_away(tmp_path, cuda):
    with Profiler(tmp_path, collectors=["cuda_memory"]):
        cuda.looks = -1    # as torch.cuda.reset_accumulated_memory_stats() does: the last look finds nothing
    (recording,) = recorded(next(tmp_path.rglob("*.profile")))
    assert (recording.tables["memory"]["bytes"] >= 0).all()


def test_beside_the_real_torch_over_an_allocator_that_is_made_up(tmp_path, monkeypatch):
    """PyTorch's own functions, from the calls of its library on: names of statistics are made by them."""
    torch = pytest.importorskip("torch")
    stat = {"current": 3, "peak": 5, "allocated": 9, "freed": 6}
    pools = {"all": stat, "small_pool": stat, "large_pool": stat}
    names = ("allocation", "segment", "active", "inactive_split")
    arrays = {f"{name}{kind}": pools for name in names for kind in ("", "_bytes")} | {"allocated_bytes": pools, "reserved_bytes": pools}
    found = {"num_alloc_retries": 2, "num_ooms": 0, "max_split_size": -1, **arrays}
    monkeypatch.setattr(torch.cuda, "_initialized", True)
    monkeypatch.setattr(torch.cuda, "_is_in_bad_fork", lambda: False)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: SimpleNamespace(total_memory=80 * GB))
    monkeypatch.setattr(torch._C, "_cuda_memoryStats", lambda device: found, raising=False)
    with Profiler(tmp_path, collectors=["cuda_memory"]) as profiler:
        profiler.step()
    (recording,) = recorded(profiler.windows[0].records)
    memory = recording.tables["memory"]
    told = {name: set(memory[name].tolist()) for name in ("bytes", "allocated", "reserved")}
    assert told == {"bytes": {0}, "allocated": {3}, "reserved": {3}}
    counters = recording.tables["counters"]
    last = dict(zip(counters["counter"].tolist(), counters["value"].tolist(), strict=True))
    assert last == {"cuda_0/allocated_peak": 5.0, "cuda_0/reserved": 3.0, "cuda_0/retries": 2.0}


def test_an_allocator_that_cannot_be_asked_costs_nothing_else(tmp_path, cuda, monkeypatch, caplog):
    """As PyTorch's with an allocator of somebody else's (``CUDAPluggableAllocator``): what else is recorded is written all the same."""

    def unable(device):
        raise RuntimeError("CUDAPluggableAllocator does not yet support getDeviceStats")

    monkeypatch.setattr(cuda, "memory_stats", unable)
    with Profiler(tmp_path, collectors=["cuda_memory"]) as profiler:
        profiler.windows[0]._written()
        profiler.windows[0]._written()
        profiler.step(), profiler.step()
    (recording,) = recorded(profiler.windows[0].records)
    assert recording.tables["steps"]["step"].tolist() == [1, 2]
    assert caplog.text.count("'cuda_memory' failed to describe itself, the rest goes on") == 1


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
