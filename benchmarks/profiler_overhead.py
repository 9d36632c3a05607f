"""What a profiler costs a step: off, waiting and on, collector by collector, beside other profilers. It takes about two minutes.

    PYTHONPATH=. .envs/peers/bin/python benchmarks/profiler_overhead.py    # benchmarks/setup_peers.sh makes that environment

*off*, *waiting* (for a schedule), *on*: ns of a step that does nothing but go round in a ``Loop``, so that what a mark costs is seen. They
are over the same loop that calls an empty function; the best of many blocks, since a machine that is busy only adds.
*CNN*: what a step of a LeNet-like network takes more, batch 16, one thread, about 2 ms; CPU of the whole process, each block between two
blocks without a profiler. *asleep*: CPU of a process that sleeps, so that what runs beside the training is seen.
The rows "nothing" are controls: how far off the figures may be. Every profiler is measured in a fresh process; what is not installed is
left out.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import importlib.util
import inspect
import json
import logging
import os
import subprocess
import sys
import tempfile
import threading
import time
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

HERE = Path(__file__).resolve()
OURS: dict[str, list[str] | str] = {
    "steps": [],
    "steps + input": ["input"],
    "steps + input + system": ["input", "system"],
    "system": ["system"],
    "stacks": ["stacks"],
    "gc": ["gc"],
    "logging": ["logging"],
    "sync": ["sync"],
    "communication": ["communication"],
    "torch": ["torch"],
    "kineto": ["kineto"],
    "auto": "auto",
}
PEERS = ("torch.profiler", "viztracer", "pyinstrument")
ASLEEP = {"nothing", "a thread that only sleeps", "steps + input + system", "system", "stacks", "auto", "pyinstrument"}
SMALL = {"marks of Loop": "marks", "marks of Loop, control": "marks", "StopAtStep, far away": "far", "a thread that only sleeps": "asleep"}
NAMES = ("nothing", "nothing again", *SMALL, *OURS, *PEERS)
COLUMNS = {"off": "{:,.0f}", "waiting": "{:,.0f}", "on": "{:,.0f}", "us": "{:,.1f}", "percent": "{:+.1f}", "asleep": "{:.2f}"}
Step = Callable[[], object]
Figures = dict[str, float]


def nothing() -> None:
    """The step of a loop without a profiler."""


@contextlib.contextmanager
def contestant(name: str, mode: str, directory: str) -> Iterator[Step]:
    """A profiler within the block, ``"off"``, ``"waiting"`` or ``"on"``; gives what the loop calls after each step."""
    if name in OURS:
        with _ours(OURS[name], mode, directory) as step:
            yield step
    elif name == "torch.profiler":
        import torch

        waiting = torch.profiler.schedule(wait=10**9, warmup=0, active=1) if mode == "waiting" else None
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], schedule=waiting) as profiler:
            yield profiler.step
    else:
        with _around(name, directory):
            yield nothing


@contextlib.contextmanager
def _ours(collectors: list[str] | str, mode: str, directory: str) -> Iterator[Step]:
    from summarykit import Profiler, schedule

    waiting = schedule(wait=10**9) if mode == "waiting" else None
    profiler = Profiler(directory, mode != "off", collectors=collectors, schedule=waiting)
    try:
        yield profiler.step if mode == "off" else lambda: profiler.step()    # the method is another one when a window opens
    finally:
        if mode != "off":
            profiler.stop()


def _around(name: str, directory: str) -> contextlib.AbstractContextManager[Any]:
    """What is on around the loop, and not told of steps."""
    if name == "viztracer":
        from viztracer import VizTracer

        return VizTracer(output_file=os.path.join(directory, "trace.json"), verbose=0)
    if name == "pyinstrument":
        from pyinstrument import Profiler

        return Profiler(interval=0.01)
    return _Sleeper() if name == "a thread that only sleeps" else contextlib.nullcontext()


class _Sleeper:
    """A thread that wakes a hundred times a second, which is what a sampler costs at least on this machine."""

    def __enter__(self) -> None:
        self._end = False
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        while not self._end:
            time.sleep(0.01)

    def __exit__(self, *_: object) -> None:
        self._end = True


def bare(name: str, mode: str, directory: str, blocks: int) -> float:
    """Best ns of a step that does nothing but go round, over those without a profiler."""
    if mode == "on":    # what is recorded costs every loop, so the one without is measured before and after
        around = [_best(blocks // 2, ([], nothing))[0]]
        with contestant(name, mode, directory) as step:
            (taken,) = _best(blocks, ([], step))
        return taken - min(*around, *_best(blocks // 2, ([], nothing)))
    with contestant(name, mode, directory) as step:
        taken, without = _best(blocks, ([], step), ([], nothing))
    return taken - without


def far(blocks: int) -> float:
    """What a window of ``StopAtStep`` costs that is far away: over a callback that does nothing."""
    from summarykit import Callback, Profiler, StopAtStep

    callback = StopAtStep(10**9, 10**9, profiler=Profiler("never", start_profile=False))
    taken, without = _best(blocks, ([callback], nothing), ([Callback()], nothing))
    return taken - without


def marks(name: str, blocks: int) -> float:
    """What the marks of ``Loop`` cost that nobody watches: over the same loop, made of its source without them.

    Where code lies in memory makes tens of ns of difference: so both are made anew several times, and the median counts.
    """
    import summarykit.training.loop as loop
    import summarykit.training.training as training

    source = inspect.getsource(training)
    without = source.replace("fetch = MARKS.next", "fetch = next")
    assert without.count("MARKS") == source.count("MARKS") - 1
    pair, found = (without if "control" in name else source, without), []
    for _ in range(7):
        made = [_module(text).Training for text in pair]
        best = [float("inf")] * 2
        for _ in range(blocks):
            for place, loop.Training in enumerate(made):    # type: ignore[misc]
                best[place] = min(best[place], *_best(1, ([], nothing)))
        found.append(best[0] - best[1])
    loop.Training = training.Training    # type: ignore[misc]
    return median(found)


def _module(source: str) -> Any:
    made = types.ModuleType("phase")
    exec(compile(source, "phase", "exec"), made.__dict__)
    return made


def _best(blocks: int, *loops: tuple[list[Any], Step], steps: int = 300) -> list[float]:
    """The best ns of a step of each loop (its callbacks, what it calls), in turn; blocks are so short that nothing comes between."""
    from summarykit import Loop

    best = [float("inf")] * len(loops)
    for _ in range(max(blocks, 1)):
        for place, (callbacks, step) in enumerate(loops):
            loop = Loop(train_dataset=range(steps), callbacks=callbacks)
            begun = time.perf_counter_ns()
            for _ in loop.steps():
                step()
            best[place] = min(best[place], (time.perf_counter_ns() - begun) / steps)
    return best


def cnn(name: str, directory: str, seconds: float, steps: int = 16) -> Figures:
    """CPU of a step with a profiler, as a difference to the blocks before and after it. A trace by PyTorch ends after 20 steps."""
    train = _training()
    train(steps, nothing)
    base, on, until = [_cpu(lambda: train(steps, nothing))], list[float](), time.monotonic() + seconds
    while len(on) < 2 or time.monotonic() < until:
        with contestant(name, "on", tempfile.mkdtemp(dir=directory)) as step:
            train(2, step)    # what starting costs is not the cost of a step
            on.append(_cpu(lambda step=step: train(steps, step)))
        base.append(_cpu(lambda: train(steps, nothing)))
    pairs = [(mine, (before + after) / 2) for mine, before, after in zip(on, base, base[1:], strict=False)]
    return {
        "us": median(mine - other for mine, other in pairs) / steps * 1e6,
        "percent": median(mine / other - 1 for mine, other in pairs) * 100,
    }


def asleep(name: str, directory: str, seconds: float) -> float:
    """CPU that is used while the program sleeps, in per cent of a core."""
    with contestant(name, "on", directory):
        time.sleep(0.3)
        return _cpu(lambda: time.sleep(seconds)) / seconds * 100


def _training() -> Callable[[int, Step], None]:
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    layers = (
        *(torch.nn.Conv2d(1, 6, 5, padding=2), torch.nn.ReLU(), torch.nn.MaxPool2d(2)),
        *(torch.nn.Conv2d(6, 16, 5), torch.nn.ReLU(), torch.nn.MaxPool2d(2)),
        *(torch.nn.Flatten(), torch.nn.Linear(400, 120), torch.nn.ReLU()),
        *(torch.nn.Linear(120, 84), torch.nn.ReLU(), torch.nn.Linear(84, 10)),
    )
    model, loss_fn = torch.nn.Sequential(*layers), torch.nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    data = torch.utils.data.TensorDataset(torch.randn(1600, 1, 28, 28), torch.randint(0, 10, (1600,)))
    batches = torch.utils.data.DataLoader(data, batch_size=16)

    def train(steps: int, step: Step) -> None:
        done = 0
        while done < steps:
            for images, labels in batches:
                optimizer.zero_grad()
                loss_fn(model(images), labels).backward()
                optimizer.step()
                step()
                done += 1
                if done == steps:
                    break

    return train


def _cpu(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def one(name: str, what: str, scale: float) -> Figures:
    """Measure a profiler here: all that is awake, or its sleep."""
    logging.disable()    # that a window was not reached is said at the end of every block
    blocks = max(1, round(400 * scale))
    with tempfile.TemporaryDirectory(prefix="benchmark-") as directory:
        if what == "asleep":
            return {"asleep": asleep(name, directory, 6 * scale)}
        if name in SMALL:
            return {"off": far(blocks) if SMALL[name] == "far" else marks(name, blocks)}
        if _there("torch"):    # some collectors look into what is loaded
            importlib.import_module("torch")
        modes = ("off", "waiting", "on") if name in OURS else ("waiting", "on") if name == "torch.profiler" else ("on",)
        found = {mode: bare(name, mode, tempfile.mkdtemp(dir=directory), blocks) for mode in modes}
        return {**found, **(cnn(name, directory, 3 * scale) if _there("torch") else {})}


def measured(name: str, what: str, scale: float) -> Callable[[], Figures]:
    """Measure a profiler in a process of its own, from now on; gives what waits for it."""
    if not _there(name):
        return dict
    command = [sys.executable, str(HERE), "--one", what, "--name", name, "--scale", str(scale)]
    environment = {**os.environ, "PYTHONPATH": str(HERE.parents[1])}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    return functools.partial(_told, process)


def _told(process: subprocess.Popen[str]) -> Figures:
    output, errors = process.communicate(timeout=600)
    if process.returncode:
        raise RuntimeError(f"{process.args}: exit {process.returncode}\n{errors[-2000:]}")
    found: Figures = json.loads(output.splitlines()[-1])
    return found


@functools.cache
def _there(name: str) -> bool:
    package = name.partition(".")[0]
    return name not in (*PEERS, "torch") or importlib.util.find_spec(package) is not None


def measured_all(names: list[str], scale: float) -> dict[str, Figures]:
    """Measure these in turn; those that sleep, all at once."""
    sleeping = {name: measured(name, "asleep", scale) for name in names if name in ASLEEP}
    found = {name: told() for name, told in sleeping.items()}
    awake = {name: measured(name, "awake", scale)() for name in names if SMALL.get(name) != "asleep"}
    return {name: awake.get(name, {}) | found.get(name, {}) for name in names}


def main() -> None:
    """Measure what was asked for, and print a table of Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--name", action="append", choices=NAMES, help="measure this one only; may be repeated")
    parser.add_argument("--rounds", type=int, default=1, help="how often each is measured; the median counts")
    parser.add_argument("--scale", type=float, default=1.0, help="factor on all sizes")
    parser.add_argument("--one", choices=("awake", "asleep"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(one(given.name[0], given.one, given.scale)))
        return
    rounds = [measured_all(given.name or list(NAMES), given.scale) for _ in range(given.rounds)]
    print("| profiler | off, ns | waiting, ns | on, ns | CNN, µs | CNN, % | asleep, % of a core |\n|---|---:|---:|---:|---:|---:|---:|")
    for name in rounds[0]:
        print(row(name, [each[name] for each in rounds]))


def row(name: str, found: list[Figures]) -> str:
    """A line of the table: medians of the rounds."""
    cells = [form.format(median(each[key] for each in found)) if key in found[0] else "–" for key, form in COLUMNS.items()]
    return f"| {name} | {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
