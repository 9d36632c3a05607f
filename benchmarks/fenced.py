"""Parameters of a PyTorch model in every step: copied in the call, or fenced (beside the next forward and backward pass)."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
from contestants import OURS
from harness import Options, Row, main, run
from mixed_step import BEGINNING, SCALARS, SIDE, STEPS, WORK_SECS, calibrated, loop
from resnet18 import SIZES


def measure(contestant: Any, directory: str, steps: int, values: float, fence: bool) -> dict[str, Any]:
    """Steps of a model whose parameters, scalars and one image are recorded; what the optimizer's hook does is told apart."""
    import torch

    from summarykit.kinds.fence import FENCE

    parameters = [torch.nn.Parameter(torch.randn(max(1, round(size * values)))) for size in SIZES]
    for parameter in parameters:
        parameter.grad = torch.zeros_like(parameter)
    optimizer = torch.optim.SGD(parameters, lr=0.0)
    picture = np.zeros((SIDE, SIDE, 3), np.uint8)
    work = calibrated()
    contestant.Writer.options = {**contestant.Writer.options, "fence": fence}
    writer = contestant.Writer(directory)
    model = [(f"layer{place}/weight", each) for place, each in enumerate(parameters)]
    scalars = [(f"loss{place}", place / 7) for place in range(SCALARS)]
    fence_seconds = []

    def train() -> None:
        work()
        fence_seconds.append(cpu_seconds(FENCE.settle))    # what the hook does; it then finds nothing left to do
        optimizer.step()

    late = slice(min(BEGINNING, steps - 1), None)
    alone = loop(train, lambda step: None, steps)
    fence_seconds.clear()
    taken = loop(train, lambda step: writer.model_step(model, scalars, picture, step), steps)
    writer.close()
    pace, base = (median(step for step, _ in each[late]) for each in (taken, alone))
    thread = median(thread for _, thread in taken[late])
    return {"thread": thread, "hook": median(fence_seconds[late]), "slower": max(0.0, pace / base - 1)}


def cpu_seconds(action: Callable[[], object]) -> float:
    """CPU seconds that it takes this thread."""
    begun = time.thread_time()
    action()
    return time.thread_time() - begun


def rows(options: Options) -> tuple[list[Row], list[str]]:
    """Copying and fenced, side by side."""
    if importlib.util.find_spec("torch") is None:
        return [], ["fenced.py is left out: it needs torch in the interpreter that runs it"]
    values, steps = min(1.0, options.scale * 10), max(2, round(STEPS * min(1.0, options.scale * 5)))
    found = []
    for fence, how in ((False, "copied in the call"), (True, "fenced")):
        results = run("fenced", {OURS: {"steps": steps, "values": values, "fence": fence}}, options)
        what = f"{len(SIZES)} parameters of PyTorch ({sum(SIZES) * values / 1e6:.3g} M values) a step of {WORK_SECS * 1e3:g} ms, {how}"
        found += [
            Row(f"{what}: training thread, CPU ms a step", results.figures("thread", 1e3), "fenced.py"),
            Row(f"{what}: in the optimizer's hook, CPU ms a step", results.figures("hook", 1e3), "fenced.py"),
            Row(f"{what}: how much slower a step becomes, %", results.figures("slower", 100), "fenced.py"),
        ]
    return found, []


if __name__ == "__main__":
    main(rows, __doc__)
