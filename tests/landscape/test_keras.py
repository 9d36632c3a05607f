"""Models of Keras, on the backends that are installed; each in a process of its own, since one process has one backend."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

if not find_spec("keras"):    # importing it would choose the backend of this process
    pytest.skip("could not import 'keras'", allow_module_level=True)

DRAWN = """
import sys, numpy as np, keras
from summarykit import Loop
from summarykit.collectors.landscape import LandscapeCollector
from summarykit.landscape import SummaryLandscape
keras.utils.set_random_seed(0)
random = np.random.default_rng(0)
data = [(random.normal(size=(8, 6, 6, 1)).astype("f4"), random.integers(0, 3, 8)) for _ in range(3)]
net = keras.Sequential([
    keras.Input((6, 6, 1)), keras.layers.Conv2D(4, 3), keras.layers.BatchNormalization(), keras.layers.ReLU(), keras.layers.Flatten(),
    keras.layers.Dropout(0.5), keras.layers.Dense(3),
])
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
net.compile("sgd", loss)
with Loop(net, None, data, 1, LandscapeCollector(sys.argv[1], [[1, 2, 3]], landscape_size=3, num_samples=20)) as loop:
    for images, labels in loop.steps():
        net.train_on_batch(images, labels)
before = [np.array(keras.ops.convert_to_numpy(each)) for each in net.variables]
path, result = SummaryLandscape(sys.argv[1]).gen_landscapes_with_multi_process(lambda: (net, net, data, {"Loss": loss}))
images, labels = (np.concatenate(parts)[:20] for parts in zip(*data))
wanted = float(loss(labels, net(images, training=False)))
np.testing.assert_allclose([path.path.z[-1], result.convergence[2], result.z[1, 1]], wanted, rtol=1e-5)
assert all((np.array(keras.ops.convert_to_numpy(now)) == then).all() for now, then in zip(net.variables, before))
assert np.isfinite(path.z).all() and np.ptp(path.z) > 0
from summarykit.landscape import weights, metadata
from pathlib import Path
told = weights.open_safetensors(Path(sys.argv[1]) / metadata.DIRECTORY / "Sequential_3_step.safetensors")
assert told.told["filter_axis"] == -1
assert len(told.told["parameters"]) == 6, told.told
"""


@pytest.mark.parametrize("backend", ["torch", "jax"])
def test_a_keras_model_is_measured_and_comes_back_as_it_was(tmp_path, run_script, backend):
    if not find_spec(backend):
        pytest.skip(f"could not import '{backend}'")
    run_script(DRAWN, tmp_path, env={"KERAS_BACKEND": backend}).expect_success()
