"""Compiled graphs and columns give what a cell of MindSpore gives; afterwards it is the same cell."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.slow    # MindSpore needs seconds to begin

COLUMNS = """
import itertools, numpy as np, mindspore as ms
from mindspore import nn
from summarykit.landscape.models import mindspore_columns
ms.set_device("CPU")
ms.set_context(mode=ms.GRAPH_MODE)
random = np.random.default_rng(0)
def compared(cell, inputs):
    wanted = cell(inputs).asnumpy()
    kept = [each.conv2d for each in cell if hasattr(each, "conv2d")]
    replaced = mindspore_columns.Replaced(cell)
    cell.phase = "columns"
    np.testing.assert_allclose(cell(inputs).asnumpy(), wanted, atol=1e-5)
    assert all(type(each.conv2d).__name__ == "Columns" for each in cell if hasattr(each, "conv2d"))
    replaced.back()
    assert [each.conv2d for each in cell if hasattr(each, "conv2d")] == kept
images = ms.Tensor(random.normal(size=(5, 3, 17, 20)).astype("f4"))
for kernel, stride, dilation, mode in [
    (3, 1, 1, "same"), ((2, 5), (2, 3), 2, "same"), (3, 2, 1, "valid"), ((3, 2), 1, 2, "valid"), (3, (1, 2), 1, "pad"), (4, 2, 2, "pad"),
]:
    mindspore_columns._AT_ONCE = 4000 if stride == 1 else 1 << 24    # some in pieces
    padding = (1, 2, 0, 3) if mode == "pad" else 0
    compared(nn.SequentialCell(nn.Conv2d(3, 4, kernel, stride, mode, padding, dilation, has_bias=True), nn.ReLU()), images)
compared(nn.SequentialCell(nn.Conv1d(3, 4, 5)), ms.Tensor(random.normal(size=(5, 3, 17)).astype("f4")))
several = nn.SequentialCell(nn.Conv2d(3, 4, 3), nn.Conv2d(4, 4, 3))
kept, columns = [each.conv2d for each in several], mindspore_columns._columns()
def fails(convolution):
    if convolution is kept[1]: raise RuntimeError("the second one")
    return columns(convolution)
mindspore_columns._columns = lambda: fails
try:
    mindspore_columns.Replaced(several)
except RuntimeError:
    assert [each.conv2d for each in several] == kept    # the first one is back
else:
    raise AssertionError
mindspore_columns._columns = lambda: columns
alone = nn.SequentialCell(nn.Conv2d(4, 4, 3, group=2), nn.Conv2d(4, 4, 1))
mindspore_columns.Replaced(alone)
assert all(isinstance(each.conv2d, ms.ops.Conv2D) for each in alone)    # groups, and what is a product already
mindspore_columns.pay()    # whatever this processor's answer is
"""

CALLED = """
import logging, numpy as np, mindspore as ms
from pathlib import Path
from mindspore import nn
from summarykit.landscape.models import mindspore_graph
ms.set_device("CPU")
class Net(nn.Cell):
    def __init__(self, *more):
        super().__init__()
        self.layers = nn.SequentialCell(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.Dense(72, 3), *more)
    def construct(self, images):
        return self.layers(images)
class Eager(Net):
    def construct(self, images):    # the compiler does not take that
        return self.layers(images) * (1 + ms.get_context("mode") - ms.PYNATIVE_MODE)
said = []
handler = logging.Handler()
handler.emit = lambda record: said.append(record.getMessage())
logging.getLogger("summarykit").addHandler(handler)
logging.getLogger("summarykit").setLevel(logging.INFO)
mindspore_graph.pay = lambda: True    # also where it does not
batch = ms.Tensor(np.random.default_rng(0).normal(size=(4, 1, 6, 6)).astype("f4")), ms.Tensor(np.array([0, 1, 2, 1], "i4"))
for mode, kind, fits in [
    (ms.PYNATIVE_MODE, Net, True), (ms.PYNATIVE_MODE, Eager, False), (ms.PYNATIVE_MODE, lambda: Net(nn.Dropout(p=0.5)), False),
    (ms.PYNATIVE_MODE, lambda: Net().to_float(ms.float16), True), (ms.GRAPH_MODE, lambda: Net().to_float(ms.float16), True),
    (ms.GRAPH_MODE, Net, True), (ms.GRAPH_MODE, lambda: Net(nn.Dropout(p=0.5)), False),    # by chance the values are never the same
]:
    ms.set_context(mode=mode)
    net = kind()
    loss = nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")).set_train()
    conv2d, phase = net.layers[0].conv2d, loss.phase
    graphs = mindspore_graph.Graphs(loss, net)
    graphs.prepare(batch)
    assert (net.layers[0].conv2d is not conv2d) == fits, (mode, kind, said)
    loss.set_train(False)
    for _ in range(2):
        for cell, inputs in ((loss, batch), (net, batch[:1])):
            wanted = cell(*inputs).asnumpy()
            exactness = {"rtol": 2e-3, "atol": 2e-3} if wanted.dtype == np.float16 else {"rtol": 1e-5, "atol": 1e-6}
            np.testing.assert_allclose(graphs(cell, *inputs).asnumpy(), wanted, **exactness)
        bias = net.layers[2].bias
        bias.set_data(ms.Tensor(bias.asnumpy() + [0, 1, 2], ms.float32))    # new weights are seen
    graphs.back()
    assert net.layers[0].conv2d is conv2d and loss.set_train().phase == phase and ms.get_context("mode") == mode
assert len([each for each in said if "measured as it is" in each]) == 3, said
assert not list(Path().glob("rank_*"))    # what the compiler leaves where it fails
ms.set_context(mode=ms.PYNATIVE_MODE)
class Unable:
    def __init__(self, cell): raise RuntimeError("no columns")
mindspore_graph.Replaced = Unable
loss = nn.WithLossCell(Net(), nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"))
graphs = mindspore_graph.Graphs(loss)
graphs.prepare(batch)
assert graphs._compiled and len(said) == 3, said    # a graph without columns is still one
graphs.back()
"""

TRAINED = """
import numpy as np, mindspore as ms
from mindspore import nn
from mindspore.train import Loss, Model, MSE
from summarykit.landscape import Evaluation
from summarykit.landscape.models import model_of
ms.set_device("CPU")
ms.set_context(mode=ms.GRAPH_MODE)
random = np.random.default_rng(0)
net = nn.SequentialCell(nn.Dense(4, 6), nn.Dropout(p=0.5), nn.BatchNorm1d(6), nn.Dense(6, 1))
batch = [ms.Tensor(random.normal(size=size).astype("f4")) for size in ((8, 4), (8, 1))]
model = Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.01))
net.set_train()
net(batch[0])    # compiled for training
def modes():
    return [(dict(cell._func_graph_flags), cell.training, cell.phase) for _, cell in net.cells_and_names()]
before = modes()
landscape = model_of((model, net, [batch], {"Loss": Loss(), "error": MSE()}), Evaluation(8))
with landscape.restored():
    landscape.prepare()
    found = landscape.measure()
    assert landscape.measure() == found
    np.testing.assert_allclose(found["error"], found["Loss"], rtol=1e-5)
assert modes() == before
assert (net(batch[0]).asnumpy() != net(batch[0]).asnumpy()).any()    # it drops out again
"""

SMALL = """
import mindspore as ms
from mindspore import nn
from mindspore.train import Loss, Model
from summarykit.landscape import Evaluation
from summarykit.landscape.models import model_of
ms.set_device("CPU")
ms.set_context(mode=ms.PYNATIVE_MODE)
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layer, self.factor = nn.Dense(4, 1, weight_init=5e-4, bias_init=0.0), 1.0
    def construct(self, inputs):
        return self.layer(inputs) * self.factor
net, batch = Net(), (ms.ops.ones((8, 4)), ms.ops.zeros((8, 1)))
trained = Model(net, nn.MSELoss())
for net.factor in (1.0, 3.0):    # a number that a graph keeps
    model = model_of((trained, net, [batch], {"Loss": Loss()}), Evaluation(8))
    with model.restored():
        model.prepare()
        found = model.measure()["Loss"]
    assert abs(found / (2e-3 * net.factor) ** 2 - 1) < 1e-4, found
"""

ROUNDED = """
import mindspore as ms
from mindspore import nn
from summarykit.landscape.models.mindspore_graph import Graphs
ms.set_device("CPU")
ms.set_context(mode=ms.PYNATIVE_MODE)
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layer, self.factor = nn.Dense(4, 1, weight_init=0.5, bias_init=0.0), 1.0
    def construct(self, inputs):
        return self.layer(inputs) * self.factor
def fits(net, change):
    loss = nn.WithLossCell(net, nn.MSELoss())
    for net.factor in (1.0, 1.0 + change):    # a number that a graph keeps
        graphs = Graphs(loss)
        graphs.prepare((ms.ops.ones((8, 4)), ms.ops.zeros((8, 1))))
        compiled = graphs._compiled
        graphs.back()
    return compiled
assert not fits(Net(), 5e-4)
assert fits(Net().to_float(ms.float16), 5e-4)    # half a unit in the last place
assert not fits(Net().to_float(ms.float16), 0.05)
"""


def test_columns_stand_for_any_convolution(mindspore_python, run_script):
    run_script(COLUMNS, python=mindspore_python).expect_success()


@pytest.mark.parametrize("source", [CALLED, SMALL, ROUNDED], ids=["another", "another by small losses", "another by few bits"])
def test_a_cell_is_called_as_a_graph_if_that_gives_the_same(mindspore_python, run_script, tmp_path, source):
    program = tmp_path / "program.py"    # MindSpore compiles what is in files
    program.write_text(source)
    run_script(program, python=mindspore_python, cwd=tmp_path).expect_success()


def test_a_cell_that_was_compiled_for_training_is_evaluated(mindspore_python, run_script):
    run_script(TRAINED, python=mindspore_python).expect_success()
