"""What a profiler costs a step: off, waiting and on, collector by collector, beside other profilers.

    .envs/peers/bin/python benchmarks/profiler_overhead.py            # with PYTHONPATH=. ; what is not installed is left out

Two loops. *bare*: steps that do nothing, so that what a mark costs is seen; ns of the clock, the best of many blocks, since a
machine that is busy only adds. *cnn*: a LeNet-like network, batch 16, one thread; CPU of the process, each block between two blocks
without a profiler, and so a control ("nothing") that shows how far off the figures may be. *idle*: a process that sleeps, so that
what runs beside the training is seen. Every contestant is measured in a fresh process, in turn.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import logging
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

HERE = Path(__file__).resolve()
BLOCKS = {"bare": 30, "cnn": 7, "idle": 1}
STEPS = {"bare": 2000, "cnn": 60, "idle": 1}
OURS: dict[str, list[str] | str] = {
    "steps": [],
    "steps + input": ["input"],
    "steps + input + system": ["input", "system"],
    "system": ["system"],
    "stacks": ["stacks"],
    "gc": ["gc"],
    "logging": ["logging"],
    "torch phases": ["torch"],
    "kineto": ["kineto"],
    "auto": "auto",
}
NEEDS = {"torch.profiler": "torch", "viztracer": "viztracer", "pyinstrument": "pyinstrument", "cnn": "torch"}
LOOPS = {
    "bare": ("nothing", "nothing again", "off", "StopAtStep, far away", "waiting", "steps", "steps + input", "steps + input + system"),
    "cnn": ("nothing", "nothing again", "off", "waiting", *OURS, "torch.profiler", "viztracer", "pyinstrument"),
    "idle": ("nothing", "system", "stacks", "steps + input + system", "auto", "pyinstrument"),
}
Step = Callable[[], object]


def nothing() -> None:
    """The step of a loop without a profiler."""


@contextlib.contextmanager
def contestant(name: str, directory: str) -> Iterator[Step]:
    """A profiler that is on within the block; gives what the loop calls after each step."""
    if name.startswith("nothing"):
        yield nothing
    elif name in ("torch.profiler", "viztracer", "pyinstrument"):
        with _peer(name, directory) as step:
            yield step
    else:
        with _ours(name, directory) as step:
            yield step


@contextlib.contextmanager
def _ours(name: str, directory: str) -> Iterator[Step]:
    from summarykit import Profiler, schedule

    if name == "off":
        yield Profiler(directory, start_profile=False).step
        return
    waiting = schedule(wait=10**9) if name == "waiting" else None
    profiler = Profiler(directory, collectors=OURS.get(name, []), schedule=waiting)
    try:
        yield lambda: profiler.step()    # the method is another one when a window opens
    finally:
        profiler.stop()


@contextlib.contextmanager
def _peer(name: str, directory: str) -> Iterator[Step]:
    if name == "torch.profiler":
        import torch

        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profiler:
            yield profiler.step
    elif name == "viztracer":
        from viztracer import VizTracer

        with VizTracer(output_file=os.path.join(directory, "trace.json"), verbose=0):
            yield nothing
    else:
        from pyinstrument import Profiler

        with Profiler(interval=0.01):
            yield nothing


def bare(name: str, directory: str, steps: int, blocks: int) -> dict[str, float]:
    """Best ns of a step that does nothing but go round, in the loop of this library: it waits for a batch and calls callbacks."""
    from summarykit import Callback, Loop, Profiler, StopAtStep

    def best(callbacks: list[Any], step: Step) -> float:
        taken = []
        for _ in range(blocks):
            loop = Loop(train_dataset=range(steps), callbacks=callbacks)
            begun = time.perf_counter_ns()
            for _ in loop.steps():
                step()
            taken.append((time.perf_counter_ns() - begun) / steps)
        return min(taken)

    logging.disable()    # that a window was not reached is said at the end of every block
    if name == "StopAtStep, far away":
        far = StopAtStep(10**9, 10**9, profiler=Profiler(directory, start_profile=False))
        return {"ns": best([far], nothing) - best([Callback()], nothing)}
    alone = best([], nothing)
    with contestant(name, directory) as step:
        return {"ns": best([], step) - alone}


def cnn(name: str, directory: str, steps: int, blocks: int) -> dict[str, float]:
    """CPU of a step with a profiler, as a difference to the blocks before and after it."""
    train = _training()
    train(steps, nothing)
    base, on = [_cpu(lambda: train(steps, nothing))], []
    for _ in range(blocks):
        with contestant(name, tempfile.mkdtemp(dir=directory)) as step:
            train(2, step)    # what starting costs is not the cost of a step
            on.append(_cpu(lambda step=step: train(steps, step)))
        base.append(_cpu(lambda: train(steps, nothing)))
    pairs = [(mine, (before + after) / 2) for mine, before, after in zip(on, base, base[1:], strict=False)]
    return {
        "us": median(mine - other for mine, other in pairs) / steps * 1e6,
        "percent": median(mine / other - 1 for mine, other in pairs) * 100,
        "step_us": median(base) / steps * 1e6,
    }


def idle(name: str, directory: str, steps: int, blocks: int) -> dict[str, float]:
    """CPU that is used while the program sleeps, in per cent of a core."""
    seconds = 4.0 * steps
    with contestant(name, directory):
        time.sleep(0.3)
        return {"percent": _cpu(lambda: time.sleep(seconds)) / seconds * 100}


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


def measured(loop: str, name: str, scale: float) -> dict[str, float] | None:
    """Measure one contestant in a process of its own; None where it cannot run."""
    if importlib.util.find_spec(NEEDS.get(loop, "json")) is None or importlib.util.find_spec(NEEDS.get(name, "json")) is None:
        return None
    command = [sys.executable, str(HERE), "--one", loop, "--name", name, "--scale", str(scale)]
    environment = {**os.environ, "PYTHONPATH": str(HERE.parents[1])}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600, check=False)
    if done.returncode:
        raise RuntimeError(f"{loop}, {name}: exit {done.returncode}\n{done.stderr[-2000:]}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def one(loop: str, name: str, scale: float) -> None:
    """Measure here, and print it."""
    steps, blocks = max(1, round(STEPS[loop] * scale)), max(1, round(BLOCKS[loop] * min(1.0, scale * 4)))
    with tempfile.TemporaryDirectory(prefix="benchmark-") as directory:
        print(json.dumps({"bare": bare, "cnn": cnn, "idle": idle}[loop](name, directory, steps, blocks)))


def main() -> None:
    """Measure what was asked for, and print a table of Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--loop", action="append", choices=list(LOOPS), help="run this loop only; may be repeated")
    parser.add_argument("--name", help="run this contestant only")
    parser.add_argument("--rounds", type=int, default=3, help="how often each is measured; the median counts")
    parser.add_argument("--scale", type=float, default=1.0, help="factor on all sizes")
    parser.add_argument("--one", choices=list(LOOPS), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        one(given.one, given.name, given.scale)
        return
    print("| loop | profiler | cost of a step | % |\n|---|---|---:|---:|")
    for loop in given.loop or LOOPS:
        names = [name for name in LOOPS[loop] if given.name in (None, name)]
        rounds = [{name: measured(loop, name, given.scale) for name in names} for _ in range(given.rounds)]
        for name in names:
            print(row(loop, name, [found for each in rounds if (found := each[name]) is not None]))


def row(loop: str, name: str, found: list[dict[str, float]]) -> str:
    """A line of the table: medians of the rounds."""
    middle = {key: median(each[key] for each in found) for key in (found[0] if found else ())}
    cost = f"{middle['ns']:,.0f} ns" if "ns" in middle else f"{middle['us']:,.1f} µs" if "us" in middle else "–"
    percent = f"{middle['percent']:.2f}" if "percent" in middle else "–"
    return f"| {loop} | {name} | {cost} | {percent} |"


if __name__ == "__main__":
    main()
