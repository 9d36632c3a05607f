"""Tensors of an accelerator: no thread that records waits for the device or reads it, and every value arrives as it was."""

from __future__ import annotations

import sys
import threading
from types import SimpleNamespace

import numpy as np
import pytest

import summarykit
from summarykit.kinds import transfers
from summarykit.kinds.transfers import TRANSFERS

torch = pytest.importorskip("torch")


class Accelerator:
    """A device whose work waits until it is told to go on; its one stream runs in order."""

    def __init__(self):
        self.queued, self.capturing, self.broken = [], False, False

    def run(self):
        while self.queued:
            self.queued.pop(0)()


DEVICE = Accelerator()


class Event:
    def __init__(self):
        self.passed = False

    def record(self, stream):
        assert stream == "the stream of privateuseone:0"
        DEVICE.queued.append(lambda: setattr(self, "passed", True))

    def query(self):
        if DEVICE.broken:
            raise RuntimeError("device-side assert triggered")
        return self.passed


def reading(*_, **__):
    raise AssertionError("a device was read")


class OnDevice(torch.Tensor):
    """A tensor of that device. Whatever would wait for the device fails, in whichever thread."""

    item = tolist = numpy = cpu = __float__ = __int__ = __bool__ = __array__ = __dlpack__ = __index__ = reading

    @staticmethod
    def __new__(cls, values):
        return torch.Tensor._make_wrapper_subclass(
            cls, values.shape, dtype=values.dtype, device="privateuseone:0", strides=values.stride(), requires_grad=values.requires_grad
        )

    def __init__(self, values):
        self.values = values

    @classmethod
    def __torch_dispatch__(cls, operator, types, args=(), kwargs=None):
        name = operator.overloadpacket.__name__
        if name == "copy_":
            host, there = args[:2]
            assert args[2] is True, "a blocking copy"
            now = there.values.clone()    # as the stream's order has it: what comes later does not reach it
            DEVICE.queued.append(lambda: host.copy_(now))
            return host
        assert name == "detach", name
        return OnDevice(args[0].values.detach())


@pytest.fixture(autouse=True, scope="module")
def module():
    torch._register_device_module(
        "privateuseone",
        SimpleNamespace(
            Event=Event,
            current_stream=lambda device: f"the stream of {device}",
            is_current_stream_capturing=lambda: DEVICE.capturing,
        ),
    )
    yield
    del torch.privateuseone, sys.modules["torch.privateuseone"]
    transfers._device_module.cache_clear()


@pytest.fixture(autouse=True)
def fresh():
    yield
    DEVICE.run()
    DEVICE.capturing = DEVICE.broken = False
    TRANSFERS.settle(1.0)
    assert not TRANSFERS.waiting


VALUES = {
    "scalar": torch.tensor(0.25, requires_grad=True),
    "histogram": torch.arange(30.0).reshape(5, 6).T,
    "tensor": torch.arange(12, dtype=torch.bfloat16).reshape(3, 4),
    "image": torch.arange(27, dtype=torch.uint8).reshape(3, 3, 3),
}


def test_va13_nothing_is_read_or_waited_for_and_everything_arrives(tmp_path):
    record = summarykit.SummaryRecord(tmp_path)
    given = {kind: OnDevice(value.clone()) for kind, value in VALUES.items()}
    for kind, value in given.items():
        record.add_value(kind, "t", value)
    assert record.record(1)
    for value in given.values():
        value.values.detach().zero_()    # in place, later: the record must not see it
    assert len(TRANSFERS.waiting) == len(given)
    threading.Timer(0.1, DEVICE.run).start()
    record.close()
    run = summarykit.Run(tmp_path)
    assert run.scalars("t").value.tolist() == [0.25]
    histogram = run.histograms("t").at(1).value
    assert (histogram.count, histogram.min, histogram.max) == (30, 0, 29)
    np.testing.assert_array_equal(np.asarray(run.tensors("t").at(1), np.float32), np.arange(12).reshape(3, 4))
    assert not record.stats()["dropped"]


def test_what_has_arrived_is_found_out_by_the_next_call(tmp_path):
    with summarykit.SummaryRecord(tmp_path) as record:
        record.add_value("scalar", "loss", OnDevice(torch.tensor(1.5)))
        record.record(1)
        assert TRANSFERS.waiting
        DEVICE.run()
        record.add_value("scalar", "other", 2.0)
        record.record(2)
        assert not TRANSFERS.waiting


def test_while_a_graph_is_captured_a_value_is_dropped_and_counted(tmp_path):
    with summarykit.SummaryRecord(tmp_path) as record:
        DEVICE.capturing = True
        record.add_value("scalar", "loss", OnDevice(torch.tensor(1.5)))
        assert not record.record(1)
        DEVICE.capturing = False
        assert any("capturing" in reason for reason in record.stats()["dropped"])
    assert not DEVICE.queued


def test_a_device_that_fails_costs_its_values_and_not_the_training(tmp_path):
    record = summarykit.SummaryRecord(tmp_path)
    record.add_value("histogram", "weights", OnDevice(torch.ones(3)))
    assert record.record(1)
    DEVICE.broken = True
    record.add_value("scalar", "loss", 1.0)
    assert record.record(2)
    record.close()
    assert any("the device failed" in reason for reason in record.stats()["dropped"])
    assert summarykit.Run(tmp_path).scalars("loss").value.tolist() == [1.0]


def test_a_flush_waits_no_longer_than_it_says():
    TRANSFERS.begin(OnDevice(torch.ones(3)))
    TRANSFERS.settle(0.05)
    assert TRANSFERS.waiting


def test_a_forked_child_forgets_them():
    TRANSFERS.begin(OnDevice(torch.ones(3)))
    child = type(TRANSFERS)()
    child.waiting.append(object())
    child.forget()
    assert not child.waiting


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU: no accelerator here")
def test_a_gpu_is_never_waited_for(tmp_path):
    record = summarykit.SummaryRecord(tmp_path)
    weights = torch.arange(1000.0, device="cuda")
    torch.cuda.set_sync_debug_mode("error")
    try:
        for step in range(1, 4):
            record.add_value("histogram", "weights", weights)
            record.add_value("scalar", "loss", weights.mean())
            record.record(step)
            weights += 1
    finally:
        torch.cuda.set_sync_debug_mode("default")
    record.close()
    assert [summarykit.Run(tmp_path).histograms("weights").at(step).value.max for step in (1, 2, 3)] == [999, 1000, 1001]
