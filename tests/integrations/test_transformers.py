"""Transformers' Trainer with our callbacks: a tiny model, six samples, no download."""

from __future__ import annotations

import copy
import itertools
import pickle

import numpy as np
import pytest
from testkit.training import Journal, scalars, steps

pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("accelerate")
import torch
import transformers

from summarykit import Run
from summarykit.integrations.transformers import Callbacks, SummaryCollector, register

SAMPLES = 6


class Net(torch.nn.Module):
    """One layer, over an image of 8 x 8."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(64, 1)

    def forward(self, pixel_values, labels=None):
        output = self.linear(pixel_values.flatten(1))
        return {"loss": ((output - labels) ** 2).mean(), "logits": output}


class Trainer(transformers.Trainer):
    """Raises in the given batch."""

    fail_at, error, batches = 0, ValueError, 0

    def training_step(self, *args, **kwargs):
        self.batches += 1
        if self.batches == self.fail_at:
            raise self.error("boom")
        return super().training_step(*args, **kwargs)


class Endless(torch.utils.data.IterableDataset):
    def __init__(self, data):
        self.data = data

    def __iter__(self):
        return itertools.cycle(self.data)


def trainer(folder, *callbacks, samples=SAMPLES, poison=None, fail_at=0, error=ValueError, **arguments):
    generator = np.random.default_rng(0)
    data = [{"pixel_values": generator.random((1, 8, 8), "float32"), "labels": generator.random(1, "float32")} for _ in range(samples)]
    if poison is not None:
        data[poison]["labels"][:] = np.nan
    torch.manual_seed(0)
    defaults = {
        "num_train_epochs": 1, "per_device_train_batch_size": 1, "logging_steps": 2, "save_strategy": "no", "report_to": "none",
        "disable_tqdm": True, "use_cpu": True, "learning_rate": 0.01, "seed": 0,
    }  # fmt: skip
    args = transformers.TrainingArguments(str(folder / "out"), **{**defaults, **arguments})
    made = Trainer(Net(), args, train_dataset=data, eval_dataset=data[:2], callbacks=list(callbacks))
    made.fail_at, made.error = fail_at, error
    return made


def test_a_training_is_recorded(tmp_path):
    trainer(tmp_path, SummaryCollector(tmp_path / "summary", 1), num_train_epochs=2).train()
    found = scalars(tmp_path / "summary")
    assert list(found["loss"]) == list(found["grad_norm"]) == [2, 4, 6, 8, 10, 12]
    assert list(found["train_loss"]) == [12]
    assert "epoch" not in found
    (rates, *_) = [values for tag, values in found.items() if tag.startswith("learning_rate")]
    assert list(rates) == list(range(1, 13))
    assert rates[1] == pytest.approx(0.01)
    assert steps(tmp_path / "summary", "histogram", "linear.weight/auto") == list(range(1, 13))
    assert steps(tmp_path / "summary", "histogram", "linear.weight/gradient") == list(range(1, 13))
    assert steps(tmp_path / "summary", "image", "input_data/auto") == list(range(1, 13))


def test_what_was_chosen_is_told_of_the_run(tmp_path):
    trainer(tmp_path, SummaryCollector(tmp_path / "summary"), warmup_steps=2, hub_token="hf_secret").train()
    run = Run(tmp_path / "summary")
    assert (run.hparams()["warmup_steps"], run.hparams()["hub_token"], run.lineage().custom["warmup_steps"]) == (2, "***", 2)
    assert (run.status, run.lineage().loss_kind) == ("FINISHED", "window_mean")


def test_data_without_a_length_have_no_number_of_epochs(tmp_path):
    made = trainer(tmp_path, SummaryCollector(tmp_path / "summary", 2), max_steps=3)
    made.train_dataset = Endless(made.train_dataset)
    made.train()
    run = Run(tmp_path / "summary")
    assert run.scalars("gradient_norm").step.tolist() == [1, 2, 3]
    assert "epoch" not in run.lineage().hyper_parameters
    assert "epoch" not in run.hparams()


def test_by_default_the_first_tenth_and_last_step_are_whole(tmp_path):
    made = trainer(tmp_path, SummaryCollector(tmp_path / "summary"), num_train_epochs=2)
    made.train()
    for kind, tag in (("histogram", "linear.weight/gradient"), ("image", "input_data/auto"), ("scalar", "throughput/samples_per_second")):
        assert steps(tmp_path / "summary", kind, tag) == [1, 10, 12]
    assert not made.model._forward_pre_hooks


def test_the_order_of_hooks(tmp_path):
    journal = Journal()
    trainer(tmp_path, Callbacks(journal), eval_strategy="epoch", max_steps=2).train()
    assert journal.text() == (
        "train_begin 0, train_epoch_begin 0, train_step_begin 1, train_step_end 1, train_step_begin 2, train_step_end 2, "
        "train_epoch_end 2, eval_begin 0, eval_epoch_begin 0, eval_step_begin 1, eval_step_end 1, eval_epoch_end 1, eval_end 1, "
        "train_end 2"
    )
    assert (journal.fields["last_step_num"], journal.fields["loss_kind"]) == (2, "window_mean")


def test_the_trainer_calls_its_own_hooks_in_the_order_that_is_counted_on(tmp_path):
    calls = []

    class Told(transformers.TrainerCallback):
        def __getattribute__(self, name):
            if name.startswith("on_"):
                calls.append(name.removeprefix("on_"))
            return super().__getattribute__(name)

    trainer(tmp_path, Told(), gradient_accumulation_steps=2, max_steps=1, logging_steps=1, eval_strategy="steps", eval_steps=1).train()
    assert calls == [
        "init_end", "train_begin", "epoch_begin", "step_begin", "substep_end", "pre_optimizer_step", "optimizer_step", "step_end", "log",
        "prediction_step", "log", "evaluate", "epoch_end", "log", "train_end",
    ]  # fmt: skip


def test_the_training_is_the_same_bit_for_bit(tmp_path):
    weights = []
    for callbacks in ([], [SummaryCollector(tmp_path / "summary", 1, collect_specified_data={"histogram_regular": ".*"})]):
        one = trainer(tmp_path, *callbacks, num_train_epochs=2)
        one.train()
        weights.append({name: value.numpy().tobytes() for name, value in one.model.state_dict().items()})
        assert not one.model._forward_pre_hooks
    assert weights[0] == weights[1]


def test_accumulation_makes_one_step_of_two_batches(tmp_path):
    journal = Journal()
    one = trainer(
        tmp_path, SummaryCollector(tmp_path / "summary", 1), Callbacks(journal), gradient_accumulation_steps=2, logging_steps=1
    )
    one.train()
    assert list(scalars(tmp_path / "summary")["loss"]) == [1, 2, 3]
    assert steps(tmp_path / "summary", "histogram", "linear.weight/gradient") == [1, 2, 3]
    assert journal.fields["micro_step"] == SAMPLES


def test_an_exception_at_step_2_and_the_same_collector_again(tmp_path):
    collector, journal = SummaryCollector(tmp_path / "summary", 1), Journal()
    with pytest.raises(ValueError, match="boom"):
        trainer(tmp_path, collector, Callbacks(journal), fail_at=2, logging_steps=1).train()
    assert journal.left == []    # the Trainer tells nobody
    trainer(tmp_path, collector).train()
    assert Run(tmp_path / "summary", raw=True).scalars("loss").step.tolist() == [1, 2, 4, 6]
    assert steps(tmp_path / "summary", "histogram", "linear.weight/auto") == [1, 1, 2, 3, 4, 5, 6]


def test_ctrl_c_inside_the_trainer(tmp_path):
    collector = SummaryCollector(tmp_path / "summary", 1)
    with pytest.raises(KeyboardInterrupt):
        trainer(tmp_path, collector, fail_at=3, error=KeyboardInterrupt, logging_steps=1).train()
    collector.driver.close()
    assert list(scalars(tmp_path / "summary")["loss"]) == [1, 2]


def test_a_run_is_continued_from_the_trainers_checkpoint(tmp_path):
    arguments = {"save_strategy": "steps", "save_steps": 2, "logging_steps": 1, "save_only_model": False}
    first, second = (SummaryCollector(tmp_path / "summary", 1) for _ in "12")
    with pytest.raises(ValueError, match="boom"):
        trainer(tmp_path, first, fail_at=4, **arguments).train()
    first.driver.close()    # as the end of the program does
    assert list(scalars(tmp_path / "summary")["loss"]) == [1, 2, 3]
    trainer(tmp_path, second, **arguments).train(resume_from_checkpoint=str(tmp_path / "out/checkpoint-2"))
    run = Run(tmp_path / "summary")
    assert run.scalars("loss").step.tolist() == [1, 2, 3, 4, 5, 6]
    assert run.histograms("linear.weight/auto").step.tolist() == [1, 2, 3, 4, 5, 6]
    assert steps(tmp_path / "summary", "histogram", "linear.weight/auto") == [1, 2, 3, 3, 4, 5, 6]    # the third one twice


def test_evaluation_is_apart_and_at_the_step_of_training(tmp_path):
    one = trainer(tmp_path, SummaryCollector(tmp_path / "summary", 1), eval_strategy="steps", eval_steps=3, logging_steps=1)
    one.train()
    found = scalars(tmp_path / "summary")
    assert list(found["eval/loss"]) == list(found["eval/runtime"]) == [3, 6]
    assert list(found["loss"]) == [1, 2, 3, 4, 5, 6]
    assert not any(tag.startswith("eval_") for tag in found)
    metrics = one.predict(one.eval_dataset).metrics
    assert scalars(tmp_path / "summary")["eval/test_loss"] == {6: pytest.approx(metrics["test_loss"])}


def test_an_evaluation_without_a_training(tmp_path):
    metrics = trainer(tmp_path, SummaryCollector(tmp_path / "summary")).evaluate()
    assert scalars(tmp_path / "summary")["eval/loss"] == {0: pytest.approx(metrics["eval_loss"])}


def test_a_wish_to_stop_ends_the_training(tmp_path):
    one = trainer(tmp_path, Callbacks(Journal(stop_at=2)))
    one.train()
    assert one.state.global_step == 2


@pytest.mark.parametrize(("filtered", "expected"), [(True, False), (False, True)])
def test_a_loss_that_is_nan_is_seen_unless_the_trainer_filters_it(tmp_path, filtered, expected):
    collector = SummaryCollector(tmp_path / "summary", 1)
    trainer(tmp_path, collector, poison=1, logging_steps=1, logging_nan_inf_filter=filtered, max_grad_norm=0.0).train()
    assert any(np.isnan(value) for value in scalars(tmp_path / "summary")["loss"].values()) is expected


def test_cb5_what_the_model_logs_itself_belongs_to_its_step(tmp_path):
    class Logs(transformers.Trainer):
        def compute_loss(self, model, inputs, *args, **kwargs):
            self.log({"own": 1.0, "tensor": torch.tensor(2.0), "note": "a text", "nested": {"a": 3}})
            return super().compute_loss(model, inputs, *args, **kwargs)

    one = trainer(tmp_path, SummaryCollector(tmp_path / "summary", 3))
    one.__class__ = Logs
    one.train()
    found = scalars(tmp_path / "summary")
    assert [found[tag] for tag in ("own", "tensor", "nested/a")] == [{1: value, 3: value, 6: value} for value in (1.0, 2.0, 3.0)]
    assert steps(tmp_path / "summary", "text", "note") == [1, 3, 6]


def test_report_to_summarykit(tmp_path, monkeypatch):
    register()
    one = trainer(tmp_path, report_to="summarykit")
    one.train()
    one.evaluate()
    found = scalars(tmp_path / "out/summary")
    assert list(found["loss"]) == [2, 4, 6]
    assert list(found["eval/loss"]) == [6]
    monkeypatch.setenv("SUMMARYKIT_DIR", str(tmp_path / "elsewhere"))
    trainer(tmp_path, report_to="summarykit").train()
    assert list(scalars(tmp_path / "elsewhere")["loss"]) == [2, 4, 6]


def test_making_and_copying_opens_no_file(tmp_path):
    collector = SummaryCollector(tmp_path / "summary")
    one = trainer(tmp_path, collector)
    copy.deepcopy(collector)
    again = pickle.loads(pickle.dumps(collector))
    assert not list((tmp_path / "summary").iterdir())
    one.remove_callback(collector)
    one.add_callback(again)
    one.train()
    assert list(scalars(tmp_path / "summary")["loss"]) == [2, 4, 6]


def test_cb9_other_ranks_record_nothing(tmp_path, monkeypatch):
    one = trainer(tmp_path, SummaryCollector(tmp_path / "summary"))
    monkeypatch.setattr(type(one.args), "process_index", 1)
    one.train()
    assert not (tmp_path / "summary").exists() or not list((tmp_path / "summary").iterdir())
