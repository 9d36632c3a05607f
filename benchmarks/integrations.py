"""What recording costs the training thread in each framework: our collector and the framework's own TensorBoard logger.

    .envs/peers/bin/python benchmarks/integrations.py [--only torch ...] [--rounds 3] [--scale 1]

What is not installed is left out: the environment of benchmarks/setup_peers.sh has the first four, that of development Keras, JAX, XGBoost,
LightGBM and scikit-learn (with them TensorFlow for Keras' logger, and TensorBoard), .envs/mindspore MindSpore.

The loop runs with each recorder and without one, in turn, in one process with one thread of PyTorch. One of the recorders does nothing: it
is there for what the framework itself takes to call a callback. Where all parameters are recorded, two merely copy the same values into
memory that they have: one in the call, which is the least a recorder takes whose copies do not wait; the other by a thread beside the next
step, which is the least of one whose copies wait, since both use the same memory. A step's figure is the CPU time of the training thread
from one forward pass to the next (of others than PyTorch's, from one beginning to the next). Where the loop's own time varies by more than
what is looked for, the time within the recorder's hooks says more: it leaves out what the framework does around them, and includes half a
microsecond a call for reading the clock. Of steps that do not record the lower quartile is compared with that of the loop without:
neighbours only add. Of a step that records, and of the next, which its copies may reach into, counts what they take more than the steps
after them (and more than the same steps of the loop without: Transformers logs by itself). The network has one parameter (for the steps
that do not record) or those of a ResNet-18, 11.7 M values in 62 parameters. Recorded are loss, learning rate and the histograms of the same
parameters and their gradients; with its defaults our collector records more (throughput, system, lineage, graph, norm of the gradients).
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import other_loops as others
from hook_clock import HookClock, watch_hooks, watch_methods
from other_loops import BESIDE, COPIERS, COPY, IDLE, OURS, THEIRS, Steps
from resnet18 import SIZES

CHECKOUT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Case:
    """What is recorded of which network.

    Attributes:
        claim: the table's words, with the unit.
        factor: from seconds to that unit.
        recording: whether the steps that record count, or the others.
        sizes: of the network's parameters.
        every: so many steps are from one that records to the next.
        steps: how many are run at a time; the first third is left out: a long training has it once.
        turns: how often each recorder is run.
        count: so many parameters are recorded.
        collected: the collector's arguments.
        hooks: what counts is the time in the recorder's hooks, not what the steps take longer.
    """

    claim: str
    factor: float = 1e3
    recording: bool = True
    sizes: Sequence[int] = tuple(SIZES)
    every: int = 10
    steps: int = 150
    turns: int = 2
    count: int = 5
    collected: Mapping[str, Any] = field(default_factory=dict)
    hooks: bool = False

    @classmethod
    def same(cls, claim: str, pattern: str | None = None, count: int = 5) -> Case:
        """The same values from both."""
        asked = {"collect_metric": True, "collect_learning_rate": True, "collect_gradient": True, "histogram_regular": pattern}
        return cls(claim, count=count, collected={"collect_specified_data": asked, "keep_default_action": False})

    def found(self, seconds: Sequence[float]) -> list[float]:
        """The figures of one run, from the seconds of its steps, of which the first is step 1."""
        begin = len(seconds) // 3
        if not self.recording:
            return [each for number, each in enumerate(seconds, 1) if number > begin and number % self.every]
        recorded = [step for step in range(self.every, len(seconds) - 1, self.every) if step > begin] or [self.every]
        return [seconds[at - 1] + seconds[at] - 2 * median(seconds[at + 2 : at + self.every - 1]) for at in recorded]

    def figure(self, found: Sequence[float]) -> float:
        """The one figure of all runs."""
        return median(found) if self.recording else quantiles(found, n=4)[0]


CASES = (
    Case("a step that records nothing, µs", 1e6, False, (8,), 100, 2000, 3),    # of steps so short most follow the start of the workers
    Case("a step that records nothing, in hooks only, µs", 1e6, False, (8,), 100, 600, 3, hooks=True),    # for the noise of loops
    Case("a step that records, ResNet-18: our defaults, ms"),
    Case.same("a step that records, ResNet-18: the same values, of five parameters, ms"),
    Case.same("a step that records, ResNet-18: the same values, of all parameters, ms", ".*", 62),
)
BY_HOOKS = CASES[1]
WITHOUT_HOOKS = tuple(case for case in CASES if not case.hooks)
"""For loops that are written by hand."""


def module(sizes: Sequence[int], clock: Callable[[], float], base: type[Any] | None = None) -> Any:
    """A module whose loss looks at one number of each parameter; every call is written down with what the clock says."""
    import torch

    class Net(base or torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weights = torch.nn.ParameterList(torch.full((size,), 0.1) for size in sizes)
            self.seen: list[float] = []
            self.clock = clock

        def forward(self, x: Any, labels: Any = None) -> Any:
            self.seen.append(self.clock())
            return {"loss": sum(weight[0] ** 2 for weight in self.weights) * x.mean()}

        def training_step(self, batch: Any, number: int) -> Any:
            loss = self(batch["x"])["loss"]
            self.log("loss", loss)
            return loss

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), 1e-3)

    return Net()


def lightning_module(sizes: Sequence[int], clock: Callable[[], float]) -> Any:
    """The same as a module of Lightning."""
    import lightning.pytorch as pl

    return module(sizes, clock, pl.LightningModule)


class Histograms:
    """The parameters and gradients that our collector records too, by a TensorBoard writer."""

    def __init__(self, model: Any, count: int) -> None:
        """Take the first of the model's."""
        self.named = list(model.named_parameters())[:count]

    def write(self, writer: Any, step: int) -> None:
        """Record them."""
        for name, parameter in self.named:
            writer.add_histogram(f"{name}/weight", parameter, step)
            writer.add_histogram(f"{name}/gradient", parameter.grad, step)


def data(steps: int) -> list[dict[str, Any]]:
    """One number a step."""
    import torch

    return [{"x": torch.ones(1), "labels": torch.zeros(1)} for _ in range(steps)]


@contextmanager
def idle_hooks(model: Any) -> Iterator[None]:
    """Hooks such as ``watch`` needs, which do nothing."""
    from torch.optim.optimizer import register_optimizer_step_post_hook

    hooks = [model.register_forward_pre_hook(lambda *_: None, with_kwargs=True), register_optimizer_step_post_hook(lambda *_: None)]
    yield
    for hook in hooks:
        hook.remove()


def torch_loop(recorder: str | None, directory: str, model: Any, steps: int, what: Case) -> None:
    """A loop written by hand: ``watch``, or torch's SummaryWriter called in it."""
    from torch.optim.optimizer import _global_optimizer_post_hooks

    optimizer = model.configure_optimizers()
    writer = watching = None
    if recorder == OURS:
        from summarykit.integrations.torch import SummaryCollector, watch

        watching = watch(model, optimizer, SummaryCollector(directory, what.every, **what.collected))
        watch_methods(model.clock, watching, "report")
    elif recorder == THEIRS:
        from torch.utils.tensorboard import SummaryWriter

        writer = SummaryWriter(directory)
    elif recorder in COPIERS:
        writer = COPIERS[recorder]()
    histograms = Histograms(model, what.count)
    watch_hooks(model.clock, model._forward_pre_hooks, _global_optimizer_post_hooks)
    for step, batch in enumerate(data(steps), 1):
        optimizer.zero_grad()
        loss = model(batch["x"])["loss"]
        loss.backward()
        if watching:
            watching.report(loss=loss)
        optimizer.step()
        if writer and step % what.every == 0:
            writer.add_scalar("loss", loss, step)
            writer.add_scalar("lr", optimizer.param_groups[0]["lr"], step)
            histograms.write(writer, step)
    for each in filter(None, (watching, writer)):
        each.close()


def lightning_loop(recorder: str | None, directory: str, model: Any, steps: int, what: Case) -> None:
    """Lightning: our callback, or its TensorBoardLogger with its LearningRateMonitor and a callback for the histograms."""
    import lightning.pytorch as pl
    from torch.utils.data import DataLoader

    class Parameters(pl.Callback):
        def __init__(self, writer: Any = None) -> None:
            self.writer = writer

        def on_train_batch_end(self, trainer: Any, module: Any, *_: Any) -> None:
            if trainer.global_step % what.every == 0:
                Histograms(module, what.count).write(self.writer or trainer.logger.experiment, trainer.global_step)

    logger, callbacks = False, [pl.Callback()] if recorder == IDLE else []
    if recorder == OURS:
        from summarykit.integrations.lightning import SummaryCollector

        callbacks = [SummaryCollector(directory, what.every, **what.collected)]
    elif recorder == THEIRS:
        logger, callbacks = pl.loggers.TensorBoardLogger(directory), [pl.callbacks.LearningRateMonitor("step"), Parameters()]
    elif recorder in COPIERS:
        callbacks = [Parameters(COPIERS[recorder]())]
    for callback in callbacks:
        watch_methods(model.clock, callback, "on_train_batch_start", "on_train_batch_end")
    trainer = pl.Trainer(
        max_epochs=1, accelerator="cpu", logger=logger, callbacks=callbacks, log_every_n_steps=what.every, enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False, default_root_dir=directory,
    )  # fmt: skip
    trainer.fit(model, DataLoader(data(steps), batch_size=None))


def transformers_loop(recorder: str | None, directory: str, model: Any, steps: int, what: Case) -> None:
    """Transformers' Trainer: our callback, or its TensorBoardCallback and one for the histograms. It logs by itself in any case."""
    from transformers import Trainer, TrainerCallback, TrainingArguments
    from transformers.integrations import TensorBoardCallback
    from transformers.trainer_callback import PrinterCallback

    class Parameters(TrainerCallback):
        def __init__(self, writer: Any) -> None:
            self.writer = writer

        def on_optimizer_step(self, args: Any, state: Any, control: Any, model: Any = None, **_: Any) -> None:
            if (state.global_step + 1) % what.every == 0:
                Histograms(model, what.count).write(self.writer, state.global_step + 1)

    class Clocked(TrainerCallback):
        def on_train_begin(self, args: Any, state: Any, control: Any, model: Any = None, **_: Any) -> None:
            watch_hooks(model.clock, model._forward_pre_hooks)    # by now ours is among them

    callbacks: list[Any] = [TrainerCallback()] if recorder == IDLE else []
    if recorder == OURS:
        from summarykit.integrations.transformers import SummaryCollector

        callbacks = [SummaryCollector(directory, what.every, **what.collected)]
    elif recorder == THEIRS:
        from torch.utils.tensorboard import SummaryWriter

        writer = SummaryWriter(directory)
        callbacks = [TensorBoardCallback(writer), Parameters(writer)]
    elif recorder in COPIERS:
        callbacks = [Parameters(COPIERS[recorder]())]
    arguments = TrainingArguments(
        f"{directory}/out", num_train_epochs=1, per_device_train_batch_size=1, logging_steps=what.every, save_strategy="no",
        report_to="none", disable_tqdm=True, use_cpu=True, optim="sgd",
    )  # fmt: skip
    for callback in callbacks:
        watch_methods(model.clock, callback, "on_step_begin", "on_pre_optimizer_step", "on_optimizer_step", "on_step_end")
    trainer = Trainer(model, arguments, train_dataset=data(steps), callbacks=[*callbacks, Clocked()])
    trainer.remove_callback(PrinterCallback)
    trainer.train()


def accelerate_loop(recorder: str | None, directory: str, model: Any, steps: int, what: Case) -> None:
    """Accelerate: our tracker with ``watch``, or its TensorBoardTracker and its writer for the histograms."""
    from accelerate import Accelerator
    from accelerate.tracking import TensorBoardTracker
    from torch.optim.optimizer import _global_optimizer_post_hooks

    trackers, watching, writer = [], None, None
    if recorder == OURS:
        from summarykit.integrations.accelerate import SummaryTracker

        trackers = [SummaryTracker("run", directory)]
    elif recorder == THEIRS:
        trackers = [TensorBoardTracker("run", directory)]
    accelerator = Accelerator(cpu=True, log_with=trackers)
    accelerator.init_trackers("run")
    optimizer = accelerator.prepare(model.configure_optimizers())
    histograms = Histograms(model, what.count)
    if recorder in COPIERS:
        writer = COPIERS[recorder]()
    elif recorder == THEIRS:
        writer = accelerator.get_tracker("tensorboard", unwrap=True)
    elif recorder == OURS:
        from summarykit.integrations.accelerate import SummaryCollector, watch

        watching = watch(model, optimizer, SummaryCollector(directory, what.every, **what.collected))
    watch_hooks(model.clock, model._forward_pre_hooks, _global_optimizer_post_hooks)
    for step, batch in enumerate(data(steps), 1):
        loss = model(batch["x"])["loss"]
        accelerator.backward(loss)
        optimizer.step()
        if step % what.every == 0:
            accelerator.log({"loss": loss.detach() if watching else loss.item(), "lr": optimizer.param_groups[0]["lr"]}, step=step)
            if writer:
                histograms.write(writer, step)
        optimizer.zero_grad()
    accelerator.end_training()
    if watching:
        watching.close()


@dataclass(frozen=True)
class Framework:
    """How one is measured.

    Attributes:
        loop: trains, with a recorder.
        package: that it needs.
        logger: the package that its own logger needs; "" where it has none.
        network: makes what the loop is handed, of sizes and a clock.
        cases: that make sense for it.
    """

    loop: Callable[..., None]
    package: str
    logger: str = "tensorboard"
    network: Callable[..., Any] = Steps
    cases: Sequence[Case] = CASES

    def recorders(self, what: Case) -> list[str]:
        """Those that it has here."""
        hand_written = self.network is Steps and BY_HOOKS not in self.cases
        theirs = bool(self.logger and importlib.util.find_spec(self.logger))
        return [OURS, *[IDLE] * (not hand_written), *[COPY, BESIDE] * (what.count == len(SIZES)), *[THEIRS] * theirs]


FRAMEWORKS = {
    "torch": Framework(torch_loop, "torch", network=module),
    "lightning": Framework(lightning_loop, "lightning", network=lightning_module),
    "transformers": Framework(transformers_loop, "transformers", network=module),
    "accelerate": Framework(accelerate_loop, "accelerate", network=module),
    "keras on torch": Framework(partial(others.keras_loop, "torch"), "keras", "tensorflow"),
    "keras on jax": Framework(partial(others.keras_loop, "jax"), "keras", "tensorflow"),
    "jax": Framework(others.jax_loop, "jax", cases=WITHOUT_HOOKS),
    "mindspore": Framework(partial(others.mindspore_loop, "graph"), "mindspore", "mindspore"),
    "mindspore, PyNative": Framework(partial(others.mindspore_loop, "pynative"), "mindspore", "mindspore"),
    "xgboost": Framework(others.xgboost_loop, "xgboost", "", cases=CASES[:3]),
    "lightgbm": Framework(others.lightgbm_loop, "lightgbm", "", cases=CASES[:3]),
    "scikit-learn": Framework(others.sklearn_loop, "sklearn", "", cases=CASES[:3]),
    "scikit-learn, partial_fit": Framework(others.partial_fit_loop, "sklearn", "", cases=WITHOUT_HOOKS[:2]),
}


def measure(framework: Framework, scale: float) -> list[dict[str, float]]:
    """CPU seconds that a step costs more with each recorder, case by case."""
    if importlib.util.find_spec("torch"):
        importlib.import_module("torch").set_num_threads(1)
    return [added(framework, what, scale) for what in framework.cases]


def added(framework: Framework, what: Case, scale: float) -> dict[str, float]:
    """By each recorder, to a step that records or to one that does not, as the case says."""
    steps = max(3 * what.every, round(what.steps * scale))
    sizes = [max(1, round(size * min(1.0, scale * 10))) for size in what.sizes]
    found: dict[str | None, list[float]] = {recorder: [] for recorder in (None, *framework.recorders(what))}
    for recorder in list(found) * max(1, round(what.turns * min(1.0, scale))):
        found[recorder] += what.found(spent(framework, recorder, sizes, steps, what))
    alone = what.figure(found.pop(None))
    return {recorder: what.figure(each) - alone for recorder, each in found.items()}


def spent(framework: Framework, recorder: str | None, sizes: list[int], steps: int, what: Case) -> list[float]:
    """CPU seconds of the training thread of each step but the last."""
    model = framework.network(sizes, HookClock() if what.hooks else time.thread_time)
    hooks = idle_hooks(model) if recorder == IDLE and framework.loop in (torch_loop, accelerate_loop) else nullcontext()
    with tempfile.TemporaryDirectory(prefix="benchmark-") as directory, hooks:
        framework.loop(recorder, directory, model, steps, what)
    return [after - before for before, after in pairwise(model.seen[-steps:])]


def alone(framework: str, scale: float) -> list[dict[str, float]]:
    """The same in a fresh process.

    Raises:
        RuntimeError: it failed; the message has what it said.
    """
    keep = {"MALLOC_MMAP_THRESHOLD_": str(2**32), "MALLOC_TRIM_THRESHOLD_": str(2**33)}    # else each step's gradients are new pages
    environment = {**os.environ, **keep, "PYTHONPATH": str(CHECKOUT), "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, __file__, "--one", framework, "--scale", str(scale)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=900, check=False)
    if done.returncode:
        raise RuntimeError(f"{framework}: exit {done.returncode}\n{done.stderr[-2000:]}")
    found: list[dict[str, float]] = json.loads(done.stdout.splitlines()[-1])
    return found


def table(frameworks: Iterable[str], rounds: int, scale: float) -> None:
    """Measure and print."""
    columns = "summarykit", "a callback that does nothing", "a copy of the same values", "… by another thread", "its own TensorBoard logger"
    print(f"| framework | CPU of the training thread added to | {' | '.join(columns)} |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for framework in frameworks:
        if importlib.util.find_spec(FRAMEWORKS[framework].package) is None:
            print(f"{framework} is left out: it is not installed (see the beginning of this file)", file=sys.stderr)
            continue
        rows = [alone(framework, scale) for _ in range(rounds)]
        for number, what in enumerate(FRAMEWORKS[framework].cases):
            found = {recorder: median(row[number][recorder] for row in rows) * what.factor for recorder in rows[0][number]}
            ours, theirs = found[OURS], found.get(THEIRS)
            told = f"{theirs:.3g} ({theirs / ours:.3g}×)" if theirs and ours > 0 else "–"
            others_told = (f"{found[each]:.3g}" if each in found else "–" for each in (IDLE, COPY, BESIDE))
            print(f"| {framework} | {what.claim} | {ours:.3g} | {' | '.join(others_told)} | {told} |", flush=True)


def main() -> None:
    """Read the command line."""
    found = argparse.ArgumentParser(description=__doc__)
    found.add_argument("--only", action="append", choices=list(FRAMEWORKS), help="this framework; may be repeated")
    found.add_argument("--rounds", type=int, default=3)
    found.add_argument("--scale", type=float, default=1.0, help="factor on all sizes")
    found.add_argument("--one", metavar="FRAMEWORK", help="one measurement, as JSON")
    arguments = found.parse_args()
    if arguments.one:
        print(f"\n{json.dumps(measure(FRAMEWORKS[arguments.one], arguments.scale))}", flush=True)
    else:
        table(arguments.only or FRAMEWORKS, arguments.rounds, arguments.scale)


if __name__ == "__main__":    # a worker process may import this file again
    main()
