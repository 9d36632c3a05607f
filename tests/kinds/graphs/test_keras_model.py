"""Models of Keras, on both backends: layers, edges, shapes."""

from __future__ import annotations

import json
from importlib.util import find_spec

import pytest

if not find_spec("keras"):    # importing it here would choose its backend
    pytest.skip("could not import 'keras'", allow_module_level=True)

PROGRAM = """
import json, logging, sys
import keras
from summarykit.kinds.graph import GRAPH

logging.basicConfig(stream=sys.stderr, format="%(message)s")

def told(model):
    graph = GRAPH.reduce(GRAPH.snapshot(model))
    return {node.name: [node.op, node.inputs, [[kind.dtype, kind.shape] for kind in node.outputs]] for node in graph.nodes}

image = keras.Input((8, 8, 3), name="image")
hidden = keras.layers.Conv2D(4, 3, name="conv")(image)
total = keras.layers.Add(name="sum")([hidden, keras.layers.ReLU(name="relu")(hidden)])
head = keras.Sequential([keras.Input((144,)), keras.layers.Dense(2, name="dense")], name="head")
shared = keras.layers.Dense(2, name="shared")
scores = head(keras.layers.Flatten(name="flat")(total))
functional = keras.Model(image, shared(shared(scores)))

class Sub(keras.Model):
    def __init__(self):
        super().__init__()
        self.inner = keras.layers.Dense(3, name="inner")
        self.last = head

    def call(self, x):
        return self.last(self.inner(x))

found = {"functional": told(functional), "sequential": told(head), "subclassed": [told(Sub()), told(Sub())][0]}
found["attributes"] = dict(next(node for node in GRAPH.snapshot(functional).graph.nodes if node.op == "Conv2D").attributes)
print("FOUND" + json.dumps(found))
"""


@pytest.fixture(scope="module", params=["torch", "jax"])
def done(request):
    pytest.importorskip(request.param)
    from testkit.scripts import Script

    return Script(PROGRAM, (), {"KERAS_BACKEND": request.param}).run().expect_success()


@pytest.fixture
def found(done):
    return json.loads(next(line for line in done.stdout.splitlines() if line.startswith("FOUND"))[5:])


def test_a_functional_model(found):
    nodes = found["functional"]
    assert {name: op for name, (op, _, _) in nodes.items()} == {
        "image": "Input", "conv/kernel": "Parameter", "conv/bias": "Parameter", "conv/Conv2D": "Conv2D", "relu/ReLU": "ReLU",
        "sum/Add": "Add", "flat/Flatten": "Flatten", "head/dense/kernel": "Parameter", "head/dense/bias": "Parameter",
        "head/dense/Dense": "Dense", "shared/kernel": "Parameter", "shared/bias": "Parameter", "shared/Dense": "Dense",
        "shared/Dense_1": "Dense", "output": "Output",
    }  # fmt: skip
    assert nodes["sum/Add"][1] == ["conv/Conv2D", "relu/ReLU"]
    assert nodes["head/dense/Dense"][1] == ["flat/Flatten", "head/dense/kernel", "head/dense/bias"]
    assert nodes["shared/Dense_1"][1][0] == "shared/Dense"
    assert nodes["conv/Conv2D"][2] == [["float32", [-1, 6, 6, 4]]]
    assert found["attributes"]["kernel_size"] == [3, 3]
    assert found["attributes"]["padding"] == "valid"


def test_a_sequential_model(found):
    assert [op for op, _, _ in found["sequential"].values()] == ["Input", "Parameter", "Parameter", "Dense", "Output"]


def test_of_a_subclassed_model_the_layers_are_shown_with_one_warning(done, found):
    assert [name for name, (op, _, _) in found["subclassed"].items() if op == "Dense"] == ["inner/Dense", "head/dense/Dense"]
    assert done.stderr.count("its layers are shown without what flows between them") == 1
