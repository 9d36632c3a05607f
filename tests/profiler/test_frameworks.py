"""StopAtStep and StopAtEpoch in trainings that a framework runs, through the adapters."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from summarykit.profiler.parsers import read
from summarykit.profiler.recording import Category

LIGHTNING = """
import logging, sys, torch
from lightning.pytorch import LightningModule, Trainer
from summarykit import Profiler, StopAtStep
from summarykit.integrations.lightning import Callbacks
torch.set_num_threads(1)
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)

class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)
    def training_step(self, batch, _):
        return self.layer(batch).sum()
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)

profiler = Profiler(sys.argv[1], start_profile=False, collectors=["input", "torch"])
trainer = Trainer(max_epochs=2, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
                  enable_model_summary=False, callbacks=[Callbacks(StopAtStep(2, 5, profiler=profiler))])
trainer.fit(Model(), torch.utils.data.DataLoader(torch.ones(16, 4), batch_size=4))
assert not profiler.recording
"""

KERAS = """
import os, sys
os.environ["KERAS_BACKEND"] = sys.argv[2]
import keras, numpy as np
from summarykit import Profiler, StopAtEpoch
from summarykit.integrations.keras import Callbacks
model = keras.Sequential([keras.layers.Dense(1)])
model.compile(optimizer="sgd", loss="mse")
profiler = Profiler(sys.argv[1], start_profile=False, collectors=["torch"] if sys.argv[2] == "torch" else [])
callback = Callbacks(StopAtEpoch(2, 2, profiler=profiler))
model.fit(np.ones((16, 4)), np.ones((16, 1)), batch_size=4, epochs=3, verbose=0, callbacks=[callback])
assert not profiler.recording
"""

WATCH = """
import sys, torch
from summarykit import Profiler, StopAtStep
from summarykit.integrations.torch import watch
torch.set_num_threads(1)
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
profiler = Profiler(sys.argv[1], start_profile=False, collectors=["input", "torch"])
with watch(model, optimizer, StopAtStep(2, 3, profiler=profiler)):
    for batch in torch.utils.data.DataLoader(torch.ones(24, 4), batch_size=4):
        optimizer.zero_grad()
        model(batch).sum().backward()
        optimizer.step()
"""


def steps_and_phases(path):
    (recording,) = read(path)
    assert not recording.skipped
    chosen = recording.spans.of(Category.PHASE)
    found = [recording.spans.names[number] for number in recording.spans.name[chosen].tolist()]
    return recording.tables["steps"]["step"].tolist(), {name: found.count(name) for name in found}


def test_lightning(run_script, tmp_path):
    pytest.importorskip("lightning")
    run_script(LIGHTNING, tmp_path).expect_success()
    steps, phases = steps_and_phases(tmp_path)
    assert steps == [2, 3, 4, 5]
    assert phases["backward"] == 4
    assert phases["forward"] >= 4
    assert phases["data wait"] >= 4


@pytest.mark.parametrize("backend", ["torch", "jax"])
def test_keras(run_script, tmp_path, backend):
    for name in ("keras", backend):
        if not find_spec(name):    # importing it would choose the backend of this process
            pytest.skip(f"could not import '{name}'")
    run_script(KERAS, tmp_path, backend).expect_success()
    steps, phases = steps_and_phases(tmp_path)
    assert steps == [5, 6, 7, 8]
    assert phases.get("backward", 0) == (4 if backend == "torch" else 0)


def test_watched_pytorch(run_script, tmp_path):
    pytest.importorskip("torch")
    run_script(WATCH, tmp_path).expect_success()
    steps, phases = steps_and_phases(tmp_path)
    assert steps == [2, 3]
    assert phases["backward"] == 2
