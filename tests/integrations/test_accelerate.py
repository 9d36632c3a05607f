"""Accelerate's tracker, and ``watch`` beside it: a tiny model, six samples."""

from __future__ import annotations

import io
import pickle

import numpy as np
import pytest
from testkit.training import Journal, scalars, steps

pytest.importorskip("torch")
pytest.importorskip("accelerate")
import torch
from accelerate import Accelerator
from accelerate.state import AcceleratorState, GradientState, PartialState
from torch.utils.data import DataLoader, TensorDataset

from summarykit import Run
from summarykit.integrations.accelerate import SummaryCollector, SummaryTracker, register, watch

SAMPLES = 6


@pytest.fixture(autouse=True)
def fresh_state():
    """Accelerate keeps one state for a process."""
    yield
    AcceleratorState._reset_state(reset_partial_state=True)
    GradientState._reset_state()


def train(accelerator, *callbacks, fail_at=0, initial_step=0):
    """Train for an epoch; the weights."""
    torch.manual_seed(0)
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    samples = DataLoader(TensorDataset(torch.randn(SAMPLES, 4), torch.randn(SAMPLES, 1)), batch_size=1)
    model, optimizer, samples = accelerator.prepare(model, optimizer, samples)
    with watch(model, optimizer, callbacks, initial_step=initial_step) as watching:
        for number, (inputs, targets) in enumerate(samples, 1):
            if number == fail_at:
                raise ValueError("boom")
            with accelerator.accumulate(model):
                loss = torch.nn.functional.mse_loss(model(inputs), targets)
                accelerator.backward(loss)
                if accelerator.sync_gradients:
                    watching.report(loss=loss)
                optimizer.step()
                optimizer.zero_grad()
            if accelerator.sync_gradients:
                accelerator.log({"loss": loss, "rate": 0.1}, step=watching.step)
    return [parameter.detach().numpy().tobytes() for parameter in model.parameters()]


def tracked(folder, **options):
    accelerator = Accelerator(cpu=True, log_with=SummaryTracker("digits", folder), **options)
    accelerator.init_trackers("digits", config={"lr": 0.1, "layers": [1, 2]})
    return accelerator


def test_a_training_is_recorded(tmp_path):
    accelerator = tracked(tmp_path)
    train(accelerator, SummaryCollector(tmp_path / "summary", 1))
    accelerator.end_training()
    every = [1, 2, 3, 4, 5, 6]
    logged, watched = scalars(tmp_path / "digits"), scalars(tmp_path / "summary")
    assert list(logged["loss"]) == list(logged["rate"]) == list(watched["loss"]) == list(watched["learning_rate"]) == every
    assert logged["loss"] == watched["loss"]
    assert steps(tmp_path / "summary", "histogram", "weight/auto") == every
    assert Run(tmp_path / "digits").hparams()["lr"] == 0.1


def test_accumulation_makes_one_step_of_two_batches(tmp_path):
    accelerator = tracked(tmp_path, gradient_accumulation_steps=2)
    train(accelerator, SummaryCollector(tmp_path / "summary", 1), journal := Journal())
    accelerator.end_training()
    assert list(scalars(tmp_path / "digits")["loss"]) == list(scalars(tmp_path / "summary")["loss"]) == [1, 2, 3]
    assert journal.fields["micro_step"] == SAMPLES


def test_an_exception_loses_nothing(tmp_path):
    accelerator = tracked(tmp_path)
    with pytest.raises(ValueError, match="boom"):
        train(accelerator, SummaryCollector(tmp_path / "summary", 1), fail_at=3)
    accelerator.get_tracker("summarykit", unwrap=True).flush()    # or a moment later: nothing has to be closed
    assert list(scalars(tmp_path / "digits")["loss"]) == list(scalars(tmp_path / "summary")["loss"]) == [1, 2]


def test_a_run_is_continued(tmp_path):
    train(Accelerator(cpu=True), SummaryCollector(tmp_path, 1))
    train(Accelerator(cpu=True), SummaryCollector(tmp_path, 1), initial_step=4)
    assert Run(tmp_path).scalars("loss").step.tolist() == list(range(1, 11))


def test_the_training_is_the_same_bit_for_bit(tmp_path):
    watched = train(tracked(tmp_path), SummaryCollector(tmp_path / "summary", 1))
    assert watched == train(Accelerator(cpu=True))


def test_values_of_every_sort(tmp_path):
    accelerator = tracked(tmp_path)
    loss = torch.ones((), requires_grad=True, dtype=torch.bfloat16) * 2
    values = {"loss": loss, "nested": {"deep": np.float32(3)}, "note": "a text", "array": torch.arange(3), "flag": True}
    accelerator.log(values, step=1, log_kwargs={"summarykit": {"walltime": 100.0}})
    accelerator.log({"loss": float("nan")}, step=2)
    accelerator.log({"wrong": object()})    # told, not raised
    accelerator.end_training()
    found = scalars(tmp_path / "digits")
    assert found["loss"][1] == 2.0
    assert np.isnan(found["loss"][2])
    assert found["nested/deep"] == {1: 3.0}
    assert steps(tmp_path / "digits", "text", "note") == [1]
    assert Run(tmp_path / "digits").tensors("array").at(1)[:].tolist() == [0, 1, 2]
    assert Run(tmp_path / "digits").scalars("loss").wall_time[0] == 100.0


def test_pictures_lie_as_their_shape_tells_or_as_is_said(tmp_path):
    pillow = pytest.importorskip("PIL.Image")
    batch = np.random.default_rng(0).integers(0, 256, (2, 5, 8, 3), "uint8")
    accelerator = tracked(tmp_path)
    tracker = accelerator.get_tracker("summarykit")
    tracker.log_images({"array": batch, "pillow": [pillow.fromarray(each) for each in batch]}, step=3)
    tracker.log_images({"tensors": [torch.from_numpy(each).permute(2, 0, 1) for each in batch]}, step=3, walltime=100.0)
    tracker.log_images({"turned": batch.transpose(0, 2, 1, 3)}, step=3, dataformats="NWHC")
    accelerator.end_training()
    run = Run(tmp_path / "digits")
    found = [run.images(tag) for tag in ("array", "pillow", "tensors", "turned")]
    assert [images.step.tolist() for images in found] == [[3]] * 4
    side_by_side = np.concatenate(list(batch), axis=1)
    drawn = [np.asarray(pillow.open(io.BytesIO(images.at(3).value.encoded)).convert("RGB")) for images in found]
    assert all(np.array_equal(one, side_by_side) for one in drawn)
    assert found[2].wall_time[0] == 100.0


def test_a_wrong_option_is_told_before_the_training(tmp_path):
    with pytest.raises(TypeError, match="unknown"):
        SummaryTracker("digits", tmp_path, unknown=1)
    with pytest.raises(ValueError, match="formats"):
        SummaryTracker("digits", tmp_path, formats=("csv",))
    assert not list(tmp_path.iterdir())


def test_a_tracker_may_write_nothing(tmp_path):
    tracker = SummaryTracker("digits", tmp_path, write_to_disk=False)
    tracker.start()
    tracker.log({"loss": 0.5}, 1)
    tracker.finish()
    assert not list(tmp_path.iterdir())


def test_log_with_summarykit(tmp_path):
    register()
    register()
    accelerator = Accelerator(cpu=True, log_with="summarykit", project_dir=str(tmp_path))
    accelerator.init_trackers("digits", config={"lr": 0.1}, init_kwargs={"summarykit": {"formats": ("tensorboard",)}})
    accelerator.log({"loss": 0.5}, step=1)
    accelerator.end_training()
    assert scalars(tmp_path / "digits") == {"loss": {1: 0.5}}
    assert len([path for path in (tmp_path / "digits").iterdir() if path.is_file()]) == 1


def test_other_ranks_record_nothing(tmp_path, monkeypatch):
    accelerator = Accelerator(cpu=True, log_with=SummaryTracker("digits", tmp_path))
    monkeypatch.setattr(PartialState, "is_main_process", False)
    monkeypatch.setattr(PartialState, "use_distributed", True)
    accelerator.init_trackers("digits", config={"lr": 0.1})
    accelerator.log({"loss": 0.5}, step=1)
    accelerator.end_training()
    assert not list(tmp_path.iterdir())


def test_a_tracker_that_was_not_started_says_what_is_missing(tmp_path):
    tracker = pickle.loads(pickle.dumps(SummaryTracker("digits", tmp_path)))
    assert not list(tmp_path.iterdir())
    Accelerator(cpu=True)
    with pytest.raises(RuntimeError, match="init_trackers"):
        tracker.log({"loss": 1.0}, 1)
