"""What the machine and this process do, sampled beside the training."""

from __future__ import annotations

import sys
import threading
import time
import types

import psutil
import pytest
from testkit.nvml import Nvml

from summarykit.collectors import SummaryCollector, sampler, system
from summarykit.collectors.gpus import Gpus
from summarykit.collectors.machine import Machine
from summarykit.collectors.sampler import Sampler
from summarykit.notices import Notices
from summarykit.training import Loop

ALWAYS = {"cpu_percent", "process_cpu_percent", "memory_percent", "process_memory_mb", "disk_free_gb"}


@pytest.fixture(autouse=True)
def _seldom(monkeypatch):
    """No sample but those that a test asks for, however slow the machine is."""
    monkeypatch.setattr(system, "PERIOD", 10_000)


@pytest.fixture
def collector(directory, quiet):
    return SummaryCollector(directory.path, 1, collect_specified_data=quiet("collect_system"))


def train(collector, steps=5, body=lambda: None):
    with Loop(train_dataset=range(steps), callbacks=collector) as loop:
        for _ in loop.steps():
            body()


def test_a_short_run_has_a_sample_at_its_end(directory, collector, no_leftovers):
    train(collector)
    steps = directory.steps()
    assert {f"system/{name}" for name in ALWAYS} <= set(steps)
    assert {tuple(found) for found in steps.values()} == {(5,)}
    assert 0 < directory.values("system/process_memory_mb")[0] < psutil.virtual_memory().total / 1e6


def test_every_sample_is_taken_by_one_step(directory, collector, monkeypatch):
    monkeypatch.setattr(system, "PERIOD", 0.02)
    seen = []

    def until_there_is_a_sample():
        part = next(part for part in collector._collection._parts if isinstance(part, system.System))
        deadline = time.monotonic() + 60
        while not part._sampler._newest and time.monotonic() < deadline:
            time.sleep(0.005)
        seen.append(bool(part._sampler._newest))
        part._sampler.stop()    # no second one comes before the end

    train(collector, body=lambda: seen or until_there_is_a_sample())
    assert seen == [True]
    assert {tuple(steps) for tag, steps in directory.steps().items() if tag.split("/")[1] in ALWAYS} == {(1, 5)}


def test_a_last_step_that_has_a_sample_gets_no_second_one(directory, collector):
    def sampled():
        part = next(part for part in collector._collection._parts if isinstance(part, system.System))
        part._sampler.sample()

    train(collector, steps=3, body=sampled)
    assert directory.steps()["system/cpu_percent"] == [1, 2, 3]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_nothing_is_left_where_an_exception_ends_the_run(directory, collector, error, no_leftovers):
    def fail():
        raise error

    with pytest.raises(error):
        train(collector, body=fail)
    assert len(directory.values("system/cpu_percent")) == 1


class Source:
    def __init__(self, *samples):
        self.samples = list(samples)

    def sample(self):
        sample = self.samples.pop(0)
        if isinstance(sample, Exception):
            raise sample
        return sample


def test_a_source_that_fails_costs_only_its_own(caplog):
    found = Sampler([Source(OSError("gone"), OSError("gone"), {"a": 1}), Source({"b": 1}, {"b": 2}, {"b": 3})], 1.0)
    taken = []
    for _ in range(3):
        found.sample()
        taken += [found.take(), found.take()]
    assert taken == [{"b": 1}, {}, {"b": 2}, {}, {"a": 1, "b": 3}, {}]
    assert caplog.messages == ["system: Source cannot be sampled: OSError: gone"]


def test_a_source_that_hangs_does_not_hang_the_end(monkeypatch):
    monkeypatch.setattr(sampler, "PATIENCE", 0.05)
    let_go, begun = threading.Event(), threading.Event()

    class Hanging:
        def sample(self):
            begun.set()
            let_go.wait(60)
            return {}

    found = Sampler([Hanging()], 0.001)
    found.start()
    assert begun.wait(30)
    assert not found.stop()
    let_go.set()
    found._thread.join(30)
    assert found.stop()


def test_the_numbers_of_a_machine(tmp_path):
    machine = Machine(tmp_path)
    held = bytearray(64_000_000)
    deadline = time.thread_time() + 0.05
    while time.thread_time() < deadline:
        pass
    found = machine.sample()
    assert set(found) >= ALWAYS
    assert found["process_memory_mb"] * 1e6 > len(held)
    assert found["process_cpu_percent"] > 0
    assert all(isinstance(value, float) and value >= 0 for value in found.values())


def test_a_directory_that_is_gone_and_counters_that_are_not_there(tmp_path, monkeypatch):
    monkeypatch.setattr(psutil, "disk_io_counters", lambda: None)
    monkeypatch.setattr(psutil, "net_io_counters", lambda: (_ for _ in ()).throw(NotImplementedError))
    assert set(Machine(tmp_path / "gone").sample()) == ALWAYS - {"disk_free_gb"}


FIRST = {"utilization_percent": 50, "memory_used_mb": 3, "power_watts": 70, "temperature_celsius": 40}
SECOND = {"utilization_percent": 51, "memory_used_mb": 6, "temperature_celsius": 41}


@pytest.mark.parametrize(("shown", "expected"), [(None, [FIRST, SECOND]), ("1", [SECOND]), ("GPU-b,0", [SECOND, FIRST]), ("", [])])
def test_gpus_are_numbered_as_cuda_shows_them(monkeypatch, shown, expected):
    monkeypatch.setitem(sys.modules, "pynvml", Nvml())
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if shown is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", shown)
    found = Gpus(Notices())
    for _ in range(2):
        assert found.sample() == {f"gpu/{number}/{name}": value for number, gpu in enumerate(expected) for name, value in gpu.items()}


def test_without_a_driver_there_are_no_gpus(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynvml", Nvml(driver=False))
    assert Gpus(Notices()).sample() == {}


@pytest.mark.parametrize("used", [True, False])
def test_without_the_package_it_is_told_where_a_gpu_is_used(monkeypatch, caplog, used):
    cuda = types.SimpleNamespace(is_initialized=lambda: used)
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(cuda=cuda))
    monkeypatch.setitem(sys.modules, "pynvml", None)
    assert Gpus(Notices()).sample() == {}
    assert caplog.messages == (["the GPU's load needs pynvml: pip install 'summarykit[gpu]'"] if used else [])
