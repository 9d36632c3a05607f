"""Numbers of steps come out of checkpoints, configurations and tensors: every type of integer is one."""

from __future__ import annotations

import numpy as np
import pytest

from summarykit import Loop, SummaryCollector
from summarykit.whole import whole


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
