"""Operators in networks of MindSpore: ours in PyNative mode, its own in both modes; in a hand-written loop."""

from __future__ import annotations

import numpy as np
import pytest
from testkit.scripts import Script

from summarykit import Run

pytestmark = pytest.mark.slow

PROGRAM = """
import sys
import mindspore as ms
from mindspore import nn, ops
import summarykit
from summarykit import Loop, SummaryCollector

directory, mode = sys.argv[1:]
ms.set_context(mode=ms.GRAPH_MODE if mode == "graph" else ms.PYNATIVE_MODE)

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(3, 2)
        self.scalar, self.tensor, self.histogram, self.image = (
            ops.ScalarSummary(), ops.TensorSummary(), ops.HistogramSummary(), ops.ImageSummary()
        )

    def construct(self, x, picture):
        y = self.fc(x)
        self.scalar("its/scalar", x.sum())
        self.tensor("its/tensor", x)
        self.histogram("its/histogram", x)
        self.image("its/image", picture)
        return y

class Ours(Net):
    def construct(self, x, picture):
        y = super().construct(x, picture)
        summarykit.ops.scalar("our/scalar", x.sum())
        summarykit.ops.tensor("our/tensor", x)
        return y

net = Net() if mode == "graph" else Ours()
picture = ops.zeros((1, 1, 4, 4), ms.float32)
with Loop(net, None, range(12), 1, [SummaryCollector(directory, collect_freq=5, keep_default_action=False)]) as loop:
    for number in loop.steps():
        net(ops.ones((2, 3), ms.float32) * number, picture)
        ms.runtime.synchronize() if hasattr(ms, "runtime") else None
    with loop.evaluation(range(2)):
        for number in loop.steps():
            net(ops.ones((2, 3), ms.float32) * 99, picture)
"""


@pytest.mark.parametrize("mode", ["graph", "pynative"])
def test_steps_that_are_collected_are_recorded(mindspore_python, tmp_path, mode):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")    # graph mode reads the source
    Script(program, (str(tmp_path / "run"), mode), python=str(mindspore_python)).run(cwd=tmp_path).expect_success()
    run = Run(tmp_path / "run")
    for who in ["its"] if mode == "graph" else ["its", "our"]:
        assert run.scalars(f"{who}/scalar").step.tolist() == [1, 5, 10, 12]
        assert run.scalars(f"{who}/scalar").value.tolist() == [0, 24, 54, 66]
        np.testing.assert_array_equal(run.tensors(f"{who}/tensor").at(10), np.full((2, 3), 9, np.float32))
    assert [each.value.max for each in run.histograms("its/histogram")] == [0, 4, 9, 11]
    assert run.images("its/image").step.tolist() == [1, 5, 10, 12]
