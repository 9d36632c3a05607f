"""What SummaryCollector costs the training thread a step: the same loop with it and without, in turn, in one process.

PYTHONPATH=. python benchmarks/collector.py [--rounds 7]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any

from resnet18 import SIZES

from summarykit import Loop, SummaryCollector
from summarykit.kinds.fence import FENCE

UNCOLLECTED, COLLECTED, BEGINNING = 20_000, 25, 5
BATCH = [0.0]

Run = Callable[[list[Any]], float]


def uncollected(callbacks: list[Any]) -> float:
    """CPU seconds of a step of a loop that does nothing but report a number."""
    with Loop({"weight": BATCH}, {"lr": 0.1}, [BATCH] * UNCOLLECTED, 1, callbacks) as loop:
        steps = loop.steps()
        for _ in range(BEGINNING):
            next(steps)
        begun = time.thread_time()
        for _ in range(UNCOLLECTED - 2 * BEGINNING):
            next(steps)
            loop.report(loss=0.5)
        spent = time.thread_time() - begun
        list(steps)
    return spent / (UNCOLLECTED - 2 * BEGINNING)


def resnet_sized(callbacks: list[Any]) -> float:
    """CPU seconds that a step of 62 parameters spends between the end of its body and the next, and in the optimizer's hooks."""
    import torch

    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weights = torch.nn.ParameterList(torch.randn(size) for size in SIZES)

    net = Net()
    for parameter in net.parameters():
        parameter.grad = torch.randn_like(parameter)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.0, momentum=0.9)
    spent = []
    with Loop(net, optimizer, [torch.zeros(8, 3, 8, 8)] * COLLECTED, 1, callbacks) as loop:
        steps = loop.steps()
        next(steps)
        for _ in range(COLLECTED - 1):
            loop.report(loss=0.5)
            with clocked(spent):
                next(steps)
                FENCE.settle()    # what the update calls first, and last; it then finds both done
                for hook in list(optimizer._optimizer_step_post_hooks.values()):
                    hook(optimizer, (), {})
            optimizer.step()
            for parameter in net.parameters():
                parameter.grad = parameter.grad.detach()    # another object, as zero_grad() and backward() would give
            time.sleep(0.03)    # of training, which runs beside the copies
        list(steps)
    return median(spent[BEGINNING:])


@contextmanager
def clocked(spent: list[float]) -> Iterator[None]:
    """Append the CPU seconds that this thread spends in the block."""
    begun = time.thread_time()
    yield
    spent.append(time.thread_time() - begun)


def added(run: Run, rounds: int, **arguments: Any) -> float:
    """Median over the rounds of what a collector adds, in seconds a step."""
    return median(run([SummaryCollector(tempfile.mkdtemp(), **arguments)]) - run([]) for _ in range(rounds))


def main() -> None:
    """Print a table of Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    print("| thread CPU added a step | |\n|---|---|")
    print(f"| not collected, all default parts | {added(uncollected, rounds, collect_freq=10**9) * 1e6:.1f} µs |")
    for fence in (False, True):
        cost = added(resnet_sized, rounds, collect_freq=1, fence=fence)
        print(f"| collected, ResNet-18-sized, all default parts, {'fenced' if fence else 'copied'} | {cost * 1e3:.2f} ms |")
        bare = added(resnet_sized, rounds, collect_freq=1, fence=fence, collect_specified_data={"collect_gradient_norm": False})
        print(f"| the same without the norm of the gradients | {bare * 1e3:.2f} ms |")


if __name__ == "__main__":
    main()
