"""Lightning's Trainer with our callbacks and our logger: both packages, a tiny module, six samples."""

from __future__ import annotations

import copy
import pickle
from argparse import Namespace
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest
from testkit.training import Journal, scalars, steps

pytest.importorskip("torch")
pytest.importorskip("lightning")
import lightning.pytorch as lightning
import torch
from torch.utils.data import DataLoader, TensorDataset

from summarykit import Run
from summarykit.integrations.lightning import Callbacks, SummaryCollector, SummaryLogger

pytestmark = pytest.mark.filterwarnings("ignore")
SAMPLES = 6
PACKAGES = {"lightning": "lightning.pytorch", "pytorch_lightning": "pytorch_lightning"}
QUIET = {"accelerator": "cpu", "enable_progress_bar": False, "enable_model_summary": False, "num_sanity_val_steps": 2}


def net(package=lightning, *, fail_at=0, error=ValueError, manual=0):
    """A module of the given package; it raises in the given batch, or optimizes by itself with so many optimizers."""

    class Net(package.LightningModule):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(4, 1)
            self.batches, self.automatic_optimization = 0, not manual

        def loss(self, batch):
            return torch.nn.functional.mse_loss(self.linear(batch[0]), batch[1])

        def training_step(self, batch, number):
            self.batches += 1
            if self.batches == fail_at:
                raise error("boom")
            loss = self.loss(batch)
            self.log("both", loss, on_step=True, on_epoch=True)
            self.log("epoch_only", loss, on_step=False, on_epoch=True)
            if number % 2 == 0:
                self.log("now_and_then", float(number))
            for optimizer in self.optimizers() if manual > 1 else [self.optimizers()] * manual:
                optimizer.zero_grad()
                self.manual_backward(loss, retain_graph=True)
                optimizer.step()
            return loss

        def validation_step(self, batch, number):
            self.log("val_loss", self.loss(batch))

        def test_step(self, batch, number):
            self.log("test_loss", self.loss(batch))

        def configure_optimizers(self):
            made = [torch.optim.SGD(self.parameters(), lr=0.1) for _ in range(max(1, manual))]
            return made if manual > 1 else made[0]

    torch.manual_seed(0)
    return Net()


def data():
    generator = torch.Generator().manual_seed(0)
    tensors = [torch.randn(SAMPLES, width, generator=generator) for width in (4, 1)]
    return DataLoader(TensorDataset(*tensors), batch_size=1)


def trainer(folder, *callbacks, package=lightning, **arguments):
    defaults = {"max_epochs": 1, "logger": False, "enable_checkpointing": False, "default_root_dir": folder}
    return package.Trainer(callbacks=list(callbacks), **{**QUIET, **defaults, **arguments})


@pytest.mark.parametrize("package", PACKAGES)
def test_a_training_is_recorded_and_evaluation_is_apart(tmp_path, package):
    pytest.importorskip(PACKAGES[package])
    theirs, ours = import_module(PACKAGES[package]), import_module(f"summarykit.integrations.{package}")
    collector, logger = ours.SummaryCollector(tmp_path / "summary", 1), ours.SummaryLogger(tmp_path)
    one = trainer(tmp_path, collector, package=theirs, max_epochs=2, logger=logger, log_every_n_steps=1)
    module = net(theirs)
    one.fit(module, data(), data())
    found = scalars(tmp_path / "summary")
    every = list(range(1, 13))
    assert list(found["loss"]) == list(found["both"]) == list(found["learning_rate"]) == every
    assert found["loss"] == found["both"]
    assert list(found["both_epoch"]) == list(found["epoch_only"]) == list(found["eval/val_loss"]) == [6, 12]
    assert list(found["now_and_then"]) == [1, 3, 5, 7, 9, 11]
    assert "both_step" not in found
    assert "val_loss" not in found
    assert steps(tmp_path / "summary", "histogram", "linear.weight/auto") == every
    assert steps(tmp_path / "summary", "histogram", "linear.weight/gradient") == every
    logged = scalars(logger.log_dir)
    assert logged["both_step"] == found["both"]
    assert logged["val_loss"] == found["eval/val_loss"]
    assert logged["epoch_only"] == found["epoch_only"]
    one.test(module, data(), verbose=False)
    assert list(scalars(tmp_path / "summary")["eval/test_loss"]) == [12]


def test_hyper_parameters_are_told_of_the_run(tmp_path):
    module = net()
    module.save_hyperparameters({"hidden": 7})
    trainer(tmp_path, SummaryCollector(tmp_path / "summary")).fit(module, data())
    run = Run(tmp_path / "summary")
    assert (run.hparams()["hidden"], run.lineage().custom, run.status) == (7, {"hidden": 7}, "FINISHED")


def test_the_order_of_hooks(tmp_path):
    journal = Journal()
    trainer(tmp_path, Callbacks(journal), limit_train_batches=2, limit_val_batches=1).fit(net(), data(), data())
    assert journal.text() == (
        "train_begin 0, train_epoch_begin 0, train_step_begin 1, train_step_end 1, train_step_begin 2, train_step_end 2, "
        "eval_begin 0, eval_epoch_begin 0, eval_step_begin 1, eval_step_end 1, eval_epoch_end 1, eval_end 1, "
        "train_epoch_end 2, train_end 2"
    )
    assert journal.fields["epoch_num"] == 1
    assert journal.fields["batch_num"] == journal.fields["last_step_num"] == 2


def test_lightning_calls_its_own_hooks_in_the_order_that_is_counted_on(tmp_path):
    calls = []

    class Told(lightning.Callback):
        pass

    for name in [name for name in dir(lightning.Callback) if name.startswith("on_")]:
        setattr(Told, name, lambda self, *args, name=name: calls.append(name.removeprefix("on_")))
    trainer(tmp_path, Told(), limit_train_batches=1, limit_val_batches=1, num_sanity_val_steps=0).fit(net(), data(), data())
    validation = ["validation_start", "validation_epoch_start", "validation_batch_start", "validation_batch_end", "validation_epoch_end"]
    assert calls == [
        "fit_start", "train_start", "train_epoch_start", "train_batch_start", "before_zero_grad", "before_backward", "after_backward",
        "before_optimizer_step", "train_batch_end", *validation, "validation_end", "train_epoch_end", "train_end", "fit_end",
    ]  # fmt: skip


def test_the_training_is_the_same_bit_for_bit(tmp_path):
    weights = []
    collector = SummaryCollector(tmp_path / "summary", 1, collect_specified_data={"histogram_regular": ".*"})
    for callbacks in ([], [collector]):
        module = net()
        trainer(tmp_path, *callbacks, max_epochs=2).fit(module, data(), data())
        weights.append({name: value.numpy().tobytes() for name, value in module.state_dict().items()})
    assert weights[0] == weights[1]


def test_accumulation_makes_one_step_of_two_batches(tmp_path):
    journal = Journal()
    one = trainer(
        tmp_path, SummaryCollector(tmp_path / "summary", 1), Callbacks(journal), accumulate_grad_batches=2, val_check_interval=3
    )
    one.fit(net(), data(), data())
    found = scalars(tmp_path / "summary")
    assert list(found["loss"]) == [1, 2, 3]
    assert found["loss"] == pytest.approx(found["both"])    # not divided by the number of batches
    assert list(found["eval/val_loss"]) == [1, 3]    # the first one within the second step
    assert steps(tmp_path / "summary", "histogram", "linear.weight/gradient") == [1, 2, 3]
    assert journal.fields["micro_step"] == SAMPLES


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_exception_at_step_2_and_the_same_collector_again(tmp_path, error):
    collector, journal = SummaryCollector(tmp_path / "summary", 1), Journal()
    with pytest.raises((ValueError, SystemExit, KeyboardInterrupt)):
        trainer(tmp_path, collector, Callbacks(journal)).fit(net(fail_at=2, error=error), data())
    assert journal.left == [error]
    assert Run(tmp_path / "summary").status == ("FAILED" if error is ValueError else "INTERRUPTED")
    assert list(scalars(tmp_path / "summary")["loss"]) == [1]
    trainer(tmp_path, collector).fit(net(), data())
    assert Run(tmp_path / "summary", raw=True).scalars("loss").step.tolist() == [1, 1, 2, 3, 4, 5, 6]


def test_a_run_is_continued_from_lightnings_checkpoint(tmp_path):
    checkpoints = lightning.callbacks.ModelCheckpoint(tmp_path / "checkpoints", every_n_train_steps=2, save_top_k=-1, filename="{step}")
    first, second = (SummaryCollector(tmp_path / "summary", 1) for _ in "12")
    with pytest.raises(ValueError, match="boom"):
        trainer(tmp_path, first, checkpoints, enable_checkpointing=True).fit(net(fail_at=4), data())
    assert list(scalars(tmp_path / "summary")["loss"]) == [1, 2, 3]
    trainer(tmp_path, second).fit(net(), data(), ckpt_path=tmp_path / "checkpoints/step=2.ckpt")
    assert Run(tmp_path / "summary").scalars("loss").step.tolist() == [1, 2, 3, 4, 5, 6]
    assert steps(tmp_path / "summary", "histogram", "linear.weight/auto") == [1, 2, 3, 3, 4, 5, 6]


def test_a_validation_without_a_training(tmp_path):
    (metrics,) = trainer(tmp_path, SummaryCollector(tmp_path / "summary")).validate(net(), data(), verbose=False)
    assert scalars(tmp_path / "summary")["eval/val_loss"] == {0: pytest.approx(metrics["val_loss"])}


def test_a_wish_to_stop_ends_the_training(tmp_path):
    one = trainer(tmp_path, Callbacks(Journal(stop_at=2)))
    one.fit(net(), data())
    assert one.global_step == 2


@pytest.mark.parametrize("optimizers", [1, 2])
def test_a_module_that_optimizes_by_itself(tmp_path, optimizers):
    trainer(tmp_path, SummaryCollector(tmp_path / "summary", 1)).fit(net(manual=optimizers), data())
    found = scalars(tmp_path / "summary")
    assert list(found["loss"]) == [optimizers * batch for batch in range(1, 7)]
    assert len([tag for tag in found if tag.startswith("learning_rate")]) == optimizers


def test_making_and_copying_opens_no_file(tmp_path):
    collector, logger = SummaryCollector(tmp_path / "summary"), SummaryLogger(tmp_path / "logs")
    copied, pickled = copy.deepcopy(collector), pickle.loads(pickle.dumps(collector))
    logger = pickle.loads(pickle.dumps(copy.deepcopy(logger)))
    assert not list((tmp_path / "summary").iterdir())
    assert not (tmp_path / "logs").exists()
    trainer(tmp_path, copied, logger=logger, log_every_n_steps=1).fit(net(), data())
    trainer(tmp_path, pickled).fit(net(), data())
    assert Run(tmp_path / "summary", raw=True).scalars("loss").step.tolist() == [1, 6, 1, 6]
    pickle.loads(pickle.dumps(logger)).log_metrics({"more": 1.0}, 1)


def test_cb9_other_ranks_record_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(lightning.Trainer, "global_rank", 1)
    monkeypatch.setattr(lightning.utilities.rank_zero_only, "rank", 1)
    logger = SummaryLogger(tmp_path / "logs")
    trainer(tmp_path, SummaryCollector(tmp_path / "summary"), logger=logger, log_every_n_steps=1).fit(net(), data())
    logger.log_hyperparams({"lr": 0.1})
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_the_logger_has_the_directories_of_lightnings_own(tmp_path):
    theirs = lightning.loggers.CSVLogger(tmp_path, "digits", version=3)
    ours = SummaryLogger(tmp_path, "digits", version=3)
    for name in ("name", "version", "save_dir", "root_dir", "log_dir"):
        assert str(getattr(ours, name)) == str(getattr(theirs, name))
    SummaryLogger(tmp_path).log_metrics({"loss": 1.0}, 1)
    assert SummaryLogger(tmp_path).version == 1
    assert SummaryLogger(tmp_path, name=None, version="mine").log_dir == str(tmp_path / "mine")


def test_what_the_logger_is_given(tmp_path):
    logger = SummaryLogger(tmp_path)
    logger.log_hyperparams(Namespace(lr=0.1, layers=[1, 2]))
    logger.log_metrics({"loss": 0.5, "epoch": 0}, 0)    # as Lightning counts
    logger.log_metrics({"own": 0.5}, 7)
    logger.log_graph(SimpleNamespace(example_input_array=None))    # cannot be drawn: told, not raised
    logger.finalize("success")
    assert scalars(logger.log_dir) == {"loss": {1: 0.5}, "epoch": {1: 0.0}, "own": {7: 0.5}}
    assert Run(logger.log_dir).hparams()["lr"] == 0.1
    logger.log_metrics({"later": 1.0}, 8)
    logger.finalize("failed")
    assert scalars(logger.log_dir)["later"] == {8: 1.0}


def test_the_logger_finds_its_earlier_runs_at_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    SummaryLogger("~/runs").log_metrics({"loss": 1.0}, 1)
    again = SummaryLogger("~/runs")
    assert (again.version, Path(again.save_dir)) == (1, tmp_path / "runs")


def test_the_logger_has_the_arguments_of_lightnings_own(tmp_path):
    logger = SummaryLogger(tmp_path, "digits", 3, False, True, "mine", "below")
    assert logger.log_dir == str(tmp_path / "digits/version_3/below")
    logger.log_graph(torch.nn.Linear(4, 1), torch.ones(1, 4))
    logger.log_hyperparams({"lr": 0.1})
    logger.log_metrics({"loss": 0.5}, 7)
    logger.finalize("success")
    assert scalars(logger.log_dir) == {"mine-hp_metric": {0: -1.0}, "mine-loss": {7: 0.5}}
    assert len(Run(logger.log_dir).graph()) == 0
    drawn = SummaryLogger(tmp_path, "drawn")
    drawn.log_graph(torch.nn.Linear(4, 1), torch.ones(1, 4))
    drawn.finalize("success")
    assert len(Run(drawn.log_dir).graph()) == 1


def test_metrics_that_come_with_settings_are_recorded(tmp_path):
    logger = SummaryLogger(tmp_path)
    logger.log_hyperparams({"lr": 0.1}, {"accuracy": 0.5}, step=4)
    logger.log_hyperparams({"lr": 0.1}, 0.25)
    logger.log_hyperparams({}, {"alone": 1.0})
    logger.finalize("success")
    assert scalars(logger.log_dir) == {"accuracy": {4: 0.5}, "hp_metric": {0: 0.25}, "alone": {0: 1.0}}
    assert Run(logger.log_dir).hparams()["lr"] == 0.1


def test_a_wrong_option_of_the_logger_is_told_before_the_training(tmp_path):
    with pytest.raises(TypeError, match="unknown"):
        SummaryLogger(tmp_path / "logs", unknown=1)
    with pytest.raises(ValueError, match="formats"):
        SummaryLogger(tmp_path / "logs", formats=("csv",))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("package", PACKAGES)
def test_hooks_that_do_nothing_are_not_called_and_those_of_a_subclass_are(tmp_path, package):
    pytest.importorskip(PACKAGES[package])
    theirs, ours = import_module(PACKAGES[package]), import_module(f"summarykit.integrations.{package}")
    seen = []

    class Looking(ours.SummaryCollector):
        def on_after_backward(self, trainer, pl_module):
            super().on_after_backward(trainer, pl_module)
            seen.append(trainer.global_step)

    collector = Looking(tmp_path / "summary", 1)
    trainer(tmp_path, collector, package=theirs).fit(net(theirs), data())
    assert seen == [*range(SAMPLES)]
    assert collector.on_before_zero_grad is collector.on_before_backward is collector.on_before_optimizer_step is None
    assert steps(tmp_path / "summary", "scalar", "loss") == [*range(1, SAMPLES + 1)]


def test_a_hook_is_left_alone_wherever_the_users_class_or_function_is(tmp_path):
    """Also in a module that is called as Lightning's is."""
    seen = []

    class Looking(SummaryCollector):
        def on_after_backward(self, trainer, pl_module):
            seen.append("class")

    Looking.on_after_backward.__module__ = "project.callbacks.callback"
    collector = Looking(tmp_path / "summary")
    collector.on_before_backward = lambda *_: seen.append("object")
    trainer(tmp_path, collector).fit(net(), data())
    assert seen == ["object", "class"] * SAMPLES


def test_a_callback_that_calls_ours_may_call_all_hooks(tmp_path):
    collector = SummaryCollector(tmp_path / "summary", 1)
    hooks = [name for name in dir(lightning.Callback) if name.startswith("on_")]
    forwarding = type("Forwarding", (lightning.Callback,), {name: staticmethod(getattr(collector, name)) for name in hooks})
    trainer(tmp_path, forwarding()).fit(net(), data())
    assert [getattr(collector, name) for name in hooks if not callable(getattr(collector, name))] == []
    assert steps(tmp_path / "summary", "scalar", "loss") == [*range(1, SAMPLES + 1)]
