"""Numbers of steps come out of checkpoints, configurations and tensors: every type of integer is one."""

from __future__ import annotations

import numpy as np
import pytest

from summarykit import Loop, ProfileOnDemand, Profiler, StopAtStep, SummaryCollector, schedule
from summarykit.whole import check_integer, whole


@pytest.mark.parametrize("value", [3, np.int64(3), np.uint8(3), np.array(3), np.array(3, ">i2")], ids=repr)
def test_integers(value):
    assert (whole(value), type(whole(value))) == (3, int)


@pytest.mark.parametrize("value", [True, np.True_, np.array(True), 3.0, np.float32(3), "3", None, [3], np.array([1, 2]), 3j], ids=repr)
def test_what_is_none(value):
    assert whole(value) is None


def test_a_tensor_of_pytorch():
    torch = pytest.importorskip("torch")
    assert whole(torch.tensor(3)) == 3
    assert whole(torch.tensor(True)) is None
    assert whole(torch.tensor([1, 2])) is None


def test_g7_counts_of_loop_and_collector_may_be_of_numpy(tmp_path):
    collector = SummaryCollector(tmp_path, collect_freq=np.int64(2), collect_tensor_freq=np.int32(2))
    with Loop(train_dataset=range(4), epochs=np.int64(1), callbacks=collector, initial_step=np.int64(10)) as loop:
        for _ in loop.steps():
            loop.report(loss=1.0)
    assert (loop.step, type(loop.step)) == (14, int)


def test_counts_of_the_profiler_may_be_of_numpy(tmp_path):
    profiler = Profiler(tmp_path, start_profile=False, max_bytes=np.int64(2**26), rank=np.uint8(0), world_size=np.int32(2))
    assert StopAtStep(np.int64(2), np.int64(3), profiler).ranges == ((2, 3),)
    assert ProfileOnDemand(np.int16(4), profiler).steps == 4
    assert schedule(active=np.int64(2), wait=np.array(1)) == schedule(active=2, wait=1)


@pytest.mark.parametrize(("value", "error", "told"), [
    (True, TypeError, "count must be an int, got True"), (2.0, TypeError, "count must be an int, got 2.0"),
    (0, ValueError, "count must be at least 1 and below 2**63, got 0"), (2**63, ValueError, f"got {2**63}"),
])  # fmt: skip
def test_one_check_for_all(value, error, told):
    with pytest.raises(error) as refused:
        check_integer("count", value, 1)
    assert told in str(refused.value)
