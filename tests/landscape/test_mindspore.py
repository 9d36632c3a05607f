"""MindSpore's own landscapes are the measure: same checkpoints, same network, same samples, in MindSpore's environment."""

from __future__ import annotations

import numpy as np
import pytest

from summarykit import Run

OURS = """
import logging, shutil, sys
import mindspore as ms
from mindspore.train import Loss
sys.path.insert(0, sys.argv[1] + "/made_with")
import tinynet
from summarykit.landscape import MindSporeRecipe, SummaryLandscape
ms.set_context(mode=ms.GRAPH_MODE)
ms.set_device("CPU")
shutil.copytree(sys.argv[1] + "/graph_mode/ckpt_dir", sys.argv[2] + "/ckpt_dir")
metrics = {"Loss": Loss()}
net, model = tinynet.build(metrics, with_opt=True)    # with an optimizer, whose step must not run
def state():
    return {name: value.asnumpy().tobytes() for name, value in net.parameters_dict().items()}
before, modes = state(), [cell.training for _, cell in net.cells_and_names()]
SummaryLandscape(sys.argv[2]).gen_landscapes_with_multi_process(
    lambda: (model, net, tinynet.dataset(16, 8), metrics), recipe=MindSporeRecipe())
assert state() == before
assert [cell.training for _, cell in net.cells_and_names()] == modes
SummaryLandscape(sys.argv[2]).gen_landscapes_with_multi_process(
    lambda: (model, net, tinynet.dataset(16, 8), metrics), output=sys.argv[2] + "/plain")
assert state() == before
"""


@pytest.mark.slow
@pytest.mark.shared
def test_its_numbers_are_reproduced(mindspore_python, shared, tmp_path, run_script):
    """Axes and path within rounding of float32, losses within 1e-6: training mode, layer-wise directions, margin of 20 %."""
    folder = tmp_path / "run"
    folder.mkdir()
    run_script(OURS, shared / "data/mindspore", folder, python=mindspore_python).expect_success()
    theirs, ours = Run(shared / "data/mindspore/landscape_1dev").landscapes(), Run(folder).landscapes()
    for seen, found in zip(theirs[:2], ours[:2], strict=True):
        for axis in "xyz":
            np.testing.assert_allclose(getattr(found, axis), getattr(seen, axis), atol=1e-6)
            np.testing.assert_allclose(getattr(found.path, axis), getattr(seen.path, axis), atol=1e-6)
        assert found.path.steps.tolist() == seen.path.steps.tolist()
        np.testing.assert_allclose(found.convergence, seen.convergence, atol=1e-6)
    np.testing.assert_allclose(ours[2].convergence, theirs[2].convergence, atol=1e-6)    # the directions there are random
    plain = Run(folder / "plain").landscapes()
    assert all(np.isfinite(each.z).all() for each in plain)
    assert plain[1].convergence[2] != pytest.approx(ours[1].convergence[2], rel=1e-3)    # by stored statistics


@pytest.mark.slow
def test_the_example_runs(mindspore_python, checkout, tmp_path, run_script):
    program = checkout / "examples/landscape_lenet_mindspore.py"
    run_script(program, ".", "5", python=mindspore_python, cwd=tmp_path).expect_success()
    path, result = Run(tmp_path).landscapes()
    assert path.path.steps.tolist() == [1, 2, 3, 4, 5, 6]
    assert path.path.z[-1] == pytest.approx(result.convergence[2], rel=1e-6)
    assert path.path.z[-1] < path.path.z[0]


SEEDS = """
import random, numpy as np, mindspore as ms
from mindspore import nn, ops
from mindspore.train import Loss, Model
from summarykit.landscape import Evaluation
from summarykit.landscape.evaluating import Guest, Maker, Task
ms.set_device("CPU")
ms.set_context(mode=ms.PYNATIVE_MODE)
net = nn.SequentialCell(nn.Dense(4, 3), nn.Dropout(p=0.5))
model = Model(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"))
batch = ms.ops.ones((8, 4)), ms.Tensor(np.zeros(8, "i4"))
def measured():
    guest = Guest()
    found = guest.make(Task(Maker(lambda: (model, net, [batch], {"Loss": Loss()})), "", Evaluation(8, training=True))).measure()
    ops.uniform((3,), ms.Tensor(0.0), ms.Tensor(1.0))    # as a network may
    guest.close()
    return found
def drawn():
    data = ms.dataset.GeneratorDataset(list(range(20)), ["number"], shuffle=True)
    return [
        ops.uniform((3,), ms.Tensor(0.0), ms.Tensor(1.0)).asnumpy().tolist(), ops.rand(3).asnumpy().tolist(), np.random.rand(),
        random.random(), ms.get_seed(),
        ms.dataset.config.get_seed(), [int(number) for number, in data.create_tuple_iterator(output_numpy=True)],
    ]
def series(between):
    ms.set_seed(77)
    ms.manual_seed(5)
    first = drawn()
    between()
    return first, drawn()
alone = series(lambda: None)
assert alone[0] != alone[1]
assert series(measured) == alone, (series(measured), alone)
"""


@pytest.mark.slow
def test_ll1_random_generators_go_on_as_if_nothing_had_been_measured(mindspore_python, run_script):
    run_script(SEEDS, python=mindspore_python).expect_success()


OTHERS = """
import random, sys, mindspore as ms
from summarykit.landscape.evaluating import _random_state_kept, _seed

def measure():
    before = random.getstate(), ms.get_seed()
    with _random_state_kept():
        _seed(3)
    assert (random.getstate(), ms.get_seed()) == before

measure()    # without any seed
ms.set_seed(77)
del ms.get_rng_state, ms.set_rng_state    # as before MindSpore 2.3
measure()
del sys.modules["mindspore.common.seed"]    # as one that counts elsewhere
measure()
"""


@pytest.mark.slow
def test_a_mindspore_that_cannot_be_asked_for_all_its_seeds(mindspore_python, run_script):
    run_script(OTHERS, python=mindspore_python).expect_success()
