"""What the profiler's advice promises, and what comes: faults put into real loops, at strengths drawn at random, one and two at once.

    PYTHONPATH=. python benchmarks/advice.py [--loop torch] [--draws 20] [--seed 1]

Each fault is put into a loop that is healthy without it; the loop is recorded, the advice is followed, and the loop is recorded again, in
turn. Faults are sleeps where a real program would wait (for a disk, a device, a slow terminal), real collections of real garbage, and small
batches, so that the machine's own noise is small beside them. Columns: what the advice promised and what was gained, in ms a step, and
what the training waited for a processor meanwhile, since other programs had them (on Linux).
"""

from __future__ import annotations

import argparse
import gc
import logging
import random
import re
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean, median
from typing import Any, ClassVar

from summarykit import Loop, Profiler
from summarykit.profiler.analysis import Report

RULES = {"load": ("single_threaded", "data_wait"), "sync": ("sync",), "logging": ("logging",), "pause": ("gc",), "batch": ("tiny_batches",)}
CAUSES = {"sync": "sync", "logging": "logging", "pause": "gc"}
SLEEPS = ("load", "sync", "logging")
LARGER = 8
ROUNDS, STEPS, MORE = 3, 30, 8
"""Windows of each kind, steps of a window, and how many times as many a window of a small model has."""


@dataclass(frozen=True)
class Setting:
    """How a loop is written; seconds.

    Attributes:
        load: for a batch.
        workers: that load it.
        sync: that the loop waits for a device in each step.
        logging: of one message in each step.
        pause: number of objects that the garbage collector looks at in each step.
        batch: samples of a step.
        small: whether the model is, too.
    """

    load: float = 0.0
    workers: int = 0
    sync: float = 0.0
    logging: float = 0.0
    pause: int = 0
    batch: int = 16
    small: bool = False


@dataclass(frozen=True)
class Window:
    """A recording.

    Attributes:
        report: of the profiler.
        slept: ms that loading a batch slept.
        waited: ms a step that the training waited for a processor.
    """

    report: Report
    slept: float
    waited: float


class SlowTerminal(logging.Handler):
    """Takes a while for each message."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds

    def emit(self, record: logging.LogRecord) -> None:
        """Wait."""
        time.sleep(self.seconds)


class Sleepy:
    """A data set of which some samples take a while."""

    slept: ClassVar[list[float]] = []
    """Seconds that each batch of the last window took it in fact."""

    def __init__(self, samples: list[Any], seconds: float, every: int) -> None:
        self.samples, self.seconds, self.every = samples, seconds, every
        self.slept.clear()

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, place: int) -> Any:
        if self.seconds and place % self.every == 0:
            begun = time.perf_counter()
            time.sleep(self.seconds)
            self.slept.append(time.perf_counter() - begun)
        return self.samples[place]


def synchronize(seconds: float) -> None:
    """Stands for a call that waits for a device; only samples of the stacks see it."""
    time.sleep(seconds)


def torch_loop(setting: Setting, directory: str, steps: int) -> Window:
    """A small network of convolutions, or two layers, and a DataLoader."""
    import torch

    torch.manual_seed(0)
    torch.set_num_threads(1)
    side = 4 if setting.small else 24
    parts = [torch.nn.Linear(16, 32), torch.nn.Linear(32, 4)] if setting.small else [torch.nn.LazyLinear(4)]
    convolutions = [torch.nn.Conv2d(1, 8, 3), torch.nn.ReLU(), torch.nn.Conv2d(8, 8, 3), torch.nn.Conv2d(8, 8, 3)]
    model = torch.nn.Sequential(*(() if setting.small else convolutions), torch.nn.Flatten(), *parts)
    model(torch.zeros(1, 1, side, side))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    samples = [(torch.randn(1, side, side), place % 4) for place in range(256)] * (steps * setting.batch // 256 + 1)
    data: Any = Sleepy(samples[: steps * setting.batch], setting.load, setting.batch)
    batches = torch.utils.data.DataLoader(data, batch_size=setting.batch, num_workers=setting.workers)
    lost = torch.nn.CrossEntropyLoss()

    def train(batch: Any) -> None:
        optimizer.zero_grad()
        lost(model(batch[0]), batch[1]).backward()
        optimizer.step()
        if setting.sync:
            torch.cuda.synchronize()

    original, torch.cuda.synchronize = torch.cuda.synchronize, lambda device=None: time.sleep(setting.sync)
    try:
        return recorded(setting, directory, batches, train)
    finally:
        torch.cuda.synchronize = original


def numpy_loop(setting: Setting, directory: str, steps: int) -> Window:
    """A regression whose data come from a generator."""
    import numpy as np

    features, target, weights = np.random.default_rng(0).normal(size=(2048, 256)), np.ones(2048), np.zeros(256)

    def load(step: int) -> Any:
        if setting.load:
            time.sleep(setting.load)
        rows = slice(step * 64 % 1984, step * 64 % 1984 + 64)
        return features[rows], target[rows]

    def train(batch: Any) -> None:
        for _ in range(20):
            weights[:] -= 1e-4 * batch[0].T @ (batch[0] @ weights - batch[1])
        if setting.sync:
            synchronize(setting.sync)

    with ThreadPoolExecutor(max(setting.workers, 1)) as ahead:
        return recorded(setting, directory, (ahead.map if setting.workers else map)(load, range(steps)), train)


def recorded(setting: Setting, directory: str, batches: Iterable[Any], train: Callable[[Any], None]) -> Window:
    """Train with a profiler."""
    logger, handler = logging.getLogger("a training"), SlowTerminal(setting.logging)
    logger.propagate, logger.handlers, logger.level = False, [handler], logging.INFO
    gc.collect()
    gc.freeze()
    kept = [[place] for place in range(setting.pause)]
    profiler = Profiler(directory, start_profile=False)
    with profiler, Loop(train_dataset=batches) as loop:
        waited = waited_for_processor()
        for batch in loop.steps():
            train(batch)
            if setting.logging:
                logger.info("step %d", loop.step)
            if kept:
                gc.collect()
        waited = waited_for_processor() - waited
    gc.unfreeze()
    return Window(profiler.analyse(), median(Sleepy.slept or [0.0]) * 1e3, waited / loop.step * 1e3)


def waited_for_processor() -> float:
    """Seconds that this thread could have run and did not, since others did; 0 where the system does not tell."""
    try:
        return int(Path("/proc/thread-self/schedstat").read_text().split()[1]) / 1e9
    except OSError:
        return 0.0


Train = Callable[[Setting, str, int], Window]
LOOPS: dict[str, Train] = {"torch": torch_loop, "numpy": numpy_loop}


def drawn(names: Iterable[str], draw: random.Random) -> Setting:
    """A loop with these faults."""
    small = "batch" in names
    most = 0.002 if small else 0.03
    sizes: dict[str, Any] = {name: draw.uniform(most / 4, most) for name in SLEEPS}
    sizes |= {"pause": draw.randint(30_000, 60_000) * (1 if small else 4), "batch": draw.choice((1, 2, 4))}
    return Setting(**{name: sizes[name] for name in names}, small=small)


def followed(setting: Setting, fault: str, advice: Any) -> Setting:
    """What the advice on a fault says is done."""
    if fault == "load":    # where no number is named, one thread is enough
        workers = re.search(r"num_workers=(\d+)", advice.change)
        return replace(setting, workers=int(workers[1]) if workers else 1)
    if fault == "batch":
        return replace(setting, batch=setting.batch * LARGER)
    return replace(setting, **{fault: 0})


@dataclass(frozen=True)
class Outcome:
    """What came of one fault; ms a step, ``promised`` is NaN where the advice did not speak; ``waited`` is the most of its windows."""

    fault: str
    promised: float
    gained: float
    waited: float


def outcomes(loop: str, faults: Sequence[str], setting: Setting, rounds: int = ROUNDS, steps: int = STEPS) -> Iterator[Outcome]:
    """Record the loop, follow its advice on each fault, record it again, all that in turn; the medians of the rounds count.

    The machine does other things, too, and now more, now less: so windows are short and alternate, and what is compared are neighbours.
    """
    train, steps = LOOPS[loop], steps * (MORE if setting.small else 1)
    found = [list(_round(train, faults, setting, steps)) for _ in range(rounds)]
    for fault, pairs in zip(faults, zip(*found, strict=True), strict=True):
        promised, gained = (median(getattr(pair, name) for pair in pairs) for name in ("promised", "gained"))
        yield Outcome(fault, promised, gained, max(pair.waited for pair in pairs))


def _round(train: Train, faults: Iterable[str], setting: Setting, steps: int) -> Iterator[Outcome]:
    before = _window(train, setting, steps)
    for fault in faults:
        found = next((advice for advice in before.report.advice if advice.rule in RULES[fault]), None)
        if found is None:
            yield Outcome(fault, float("nan"), float("nan"), before.waited)
            continue
        after = _window(train, followed(setting, fault, found), steps)
        gained = _tiny(setting, before, after) if fault == "batch" else _mean(before, fault) - _mean(after, fault)
        yield Outcome(fault, found.gain_ms, gained, max(before.waited, after.waited))


def _window(train: Train, setting: Setting, steps: int) -> Window:
    with tempfile.TemporaryDirectory() as directory:
        return train(setting, directory, steps)


def _mean(window: Window, fault: str) -> float:
    """Milliseconds of a usual step, as the advice has them; not the median: some faults are not in every step.

    A training that sleeps is given a processor at once, one that computes must share it: so where a fault is a sleep, what is waited for a
    processor is not counted. What computes, as collecting garbage does, takes the longer with it as without.
    """
    return mean(window.report.profiles[0].usual["duration"].tolist()) - (window.waited if fault in SLEEPS else 0.0)


def _tiny(setting: Setting, before: Window, after: Window) -> float:
    """Larger batches share other faults, too: what is gained by that was not promised."""
    others = [cause for name, cause in CAUSES.items() if getattr(setting, name)]
    return _without(before, others) - _without(after, others) / LARGER


def _without(window: Window, causes: list[str]) -> float:
    """The median of the usual steps without what is due to other faults, in ms."""
    found = window.report.profiles[0].causes
    return median((found["total"] - sum(found[name] for name in causes)).tolist()) - window.slept


def false_alarms(loop: str, steps: int = 2 * STEPS) -> list[str]:
    """What the advice says of the healthy loop, but for what it says of a machine that others use, too."""
    with tempfile.TemporaryDirectory() as directory:
        return [advice.rule for advice in LOOPS[loop](Setting(), directory, steps).report.advice if advice.rule != "host_saturated"]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--loop", choices=LOOPS, action="append")
    parser.add_argument("--draws", type=int, default=10, help="of each loop, half of them with two faults")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    draw, close, told = random.Random(options.seed), 0, 0
    print("| loop | faults | followed | promised, ms | gained, ms | promised / gained | waited, ms |")
    print("|---|---|---|---:|---:|---:|---:|")
    for loop in options.loop or LOOPS:
        known = [name for name in RULES if loop == "torch" or name != "batch"]
        for number in range(options.draws):
            faults = draw.sample(known, 1 + number % 2)
            for found in outcomes(loop, faults, drawn(faults, draw), options.rounds, options.steps):
                ratio = found.promised / found.gained
                told, close = told + 1, close + (abs(ratio - 1) <= 0.25)
                figures = f"{found.promised:.2f} | {found.gained:.2f} | {ratio:.2f} | {found.waited:.1f}"
                print(f"| {loop} | {' + '.join(faults)} | {found.fault} | {figures} |", flush=True)
        print(f"| {loop} | none | | {', '.join(false_alarms(loop, 2 * options.steps)) or 'nothing to gain'} | | | |", flush=True)
    print(f"\n{close} of {told} promises within 25 % of what was gained")


if __name__ == "__main__":
    main()
