"""What recording costs the training of a real ResNet-18: our collector in a loop of PyTorch, and TensorBoard writers called in it."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import pairwise
from statistics import median
from typing import Any

import resnet18
from contestants import OURS
from harness import Options, Row, main, run
from hook_clock import HookClock, watch_hooks

EVERY = 10
STEPS = 90
BATCH = 2
SIDE = 32

After = Callable[[int, Any], Any]
"""Called at a step's end with its number and its loss."""
Recorder = Callable[[Any, Any, Any, HookClock], AbstractContextManager[After]]
"""Given network, optimizer, criterion and the clock of its hooks."""


def measure(contestant: Any, directory: str, steps: int, collected: dict[str, Any] | None, count: int) -> dict[str, float]:
    """Train without a recorder and with one: ours with these arguments, or a writer that is given ``count`` parameters.

    A step goes from one forward pass to the next. Of one that records, and of the next, which copies may reach into, counts what they
    take more than those behind them.
    """
    import torch

    torch.set_num_threads(1)
    alone = train(steps, nobody)
    recorder = writing(contestant.Writer(directory), count) if collected is None else watching(directory, collected)
    taken = train(steps, recorder)
    recorded, before = (median(map(more, around([whole for whole, _ in each]))) for each in (taken, alone))
    calls = around([hooks for _, hooks in taken])
    asleep = median(hooks for each in calls for hooks in each[2:])
    return {"whole": max(0.0, recorded - before), "calls": max(0.0, median(map(more, calls))), "asleep": asleep}


def around(seconds: list[float]) -> list[list[float]]:
    """The steps from one that records to the next, for each of them but those of the first third."""
    first = max(EVERY, len(seconds) // 3 // EVERY * EVERY)
    return [seconds[at - 1 : at + EVERY - 2] for at in range(first, len(seconds) - EVERY, EVERY)]


def more(seconds: list[float]) -> float:
    """What the first two steps take more than the others."""
    return seconds[0] + seconds[1] - 2 * median(seconds[3:])


def train(steps: int, recorder: Recorder) -> list[tuple[float, float]]:
    """CPU seconds of the training thread of each step, and of them those in the recorder's hooks."""
    import torch

    torch.manual_seed(0)
    network, criterion = resnet18.network(), torch.nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(network.parameters(), 1e-3, momentum=0.9)
    images, labels = torch.randn(BATCH, 3, SIDE, SIDE), torch.zeros(BATCH, dtype=torch.long)
    clock = HookClock()
    seen: list[tuple[float, float]] = []
    with recorder(network, optimizer, criterion, clock) as after:
        for step in range(1, steps + 2):
            seen.append((time.thread_time(), clock()))
            optimizer.zero_grad()
            loss = criterion(network(images), labels)
            loss.backward()
            optimizer.step()
            after(step, loss)
    return [(later - earlier, longer - shorter) for (earlier, shorter), (later, longer) in pairwise(seen)]


@contextmanager
def nobody(*_: Any) -> Iterator[After]:
    """No recorder."""
    yield lambda step, loss: None


def watching(directory: str, collected: dict[str, Any]) -> Recorder:
    """Our collector with these arguments; the loop says nothing to it."""

    @contextmanager
    def recorder(network: Any, optimizer: Any, criterion: Any, clock: HookClock) -> Iterator[After]:
        from torch.optim.optimizer import _global_optimizer_post_hooks, _global_optimizer_pre_hooks

        from summarykit.integrations.torch import SummaryCollector, watch

        def after(step: int, loss: Any) -> None:
            if step == EVERY - 1:    # by now there is the fence's
                watch_hooks(clock, _global_optimizer_pre_hooks)

        with watch(network, optimizer, SummaryCollector(directory, EVERY, **collected), loss=criterion):
            watch_hooks(clock, network._forward_pre_hooks, criterion._forward_hooks, _global_optimizer_post_hooks)
            yield after

    return recorder


def writing(writer: Any, count: int) -> Recorder:
    """A writer of TensorBoard files, given loss, learning rate, and so many parameters with their gradients."""

    @contextmanager
    def recorder(network: Any, optimizer: Any, criterion: Any, clock: HookClock) -> Iterator[After]:
        parameters = list(network.named_parameters())[:count]

        @clock.around
        def record(step: int, loss: Any) -> None:
            writer.log([("loss", loss.item()), ("learning_rate", optimizer.param_groups[0]["lr"])], step)
            for name, parameter in parameters:
                writer.histogram(f"{name}/auto", writer.array(parameter.detach().numpy()), step)
                writer.histogram(f"{name}/gradient", writer.array(parameter.grad.numpy()), step)

        yield lambda step, loss: step % EVERY or record(step, loss)
        writer.close()

    return recorder


def same(pattern: str | None) -> dict[str, Any]:
    """What makes our collector record what the writers are given."""
    asked = {"collect_metric": True, "collect_learning_rate": True, "collect_gradient": True, "histogram_regular": pattern}
    return {"collect_specified_data": asked, "keep_default_action": False}


CASES = {
    "all that is recorded by default": ({}, None),
    "the same, copied in the call (fence=False)": ({"fence": False}, None),
    "loss, learning rate, five parameters and their gradients": (same(None), 5),
    "loss, learning rate, all 62 parameters and their gradients": (same(".*"), len(resnet18.SIZES)),
}


def rows(options: Options) -> tuple[list[Row], list[str]]:
    """What is recorded every ten steps, in the calls and in all."""
    if importlib.util.find_spec("torch") is None:
        return [], ["collector.py is left out: it needs torch in the interpreter that runs it"]
    steps = max(3 * EVERY, min(STEPS, options.count(5 * STEPS, EVERY)))
    found = []
    for number, (case, (collected, count)) in enumerate(CASES.items()):
        peer = {} if count is None else {"torch": {"steps": steps, "collected": None, "count": count}}
        results = run("collector", {OURS: {"steps": steps, "collected": collected, "count": 0}, **peer}, options)
        if number == 0:
            what = "a step of a ResNet-18 in PyTorch that records nothing: training thread, in our hooks, CPU µs"
            found.append(Row(what, results.figures("asleep", 1e6), "collector.py"))
        found += [
            Row(f"one that records {case}: training thread, in the calls, CPU ms", results.figures("calls", 1e3), "collector.py"),
            Row("… what it and the next take longer, CPU ms", results.figures("whole", 1e3), "collector.py"),
        ]
    note = f"collector.py trains on {BATCH} images of {SIDE} x {SIDE} with one thread of PyTorch, and records every {EVERY} steps"
    return found, [note]


if __name__ == "__main__":
    main(rows, __doc__)
