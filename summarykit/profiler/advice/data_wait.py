"""Training waits for its input: from 5 % of the step time on (where torch-tb-profiler begins, too)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from summarykit.profiler.advice import waiting
from summarykit.profiler.advice.advice import Advice
from summarykit.profiler.advice.evidence import cause, gain, step_time
from summarykit.profiler.analysis.input import BOTTLENECK
from summarykit.profiler.analysis.report import Report


def check(report: Report) -> Iterator[Advice]:
    """Say so for the rank that waits most."""
    worst = waiting.waits(report)
    if worst is None or waiting.loader(worst).get("num_workers") == 0:    # said by ``single_threaded``
        return
    share, workers = cause(worst, "data wait") / step_time(worst), waiting.loader(worst).get("num_workers")
    yield Advice(
        rule="data_wait",
        title=f"training waits for its input: {share:.1%} of the step time",
        evidence=waiting.told(worst),
        change=f"{_change(workers, waiting.needed(worst))}; decode and augment less, or once and keep it",
        check="share of data wait below 5 %",
        **gain(worst, waiting.gained(worst, np.inf if workers else waiting.needed(worst))),
        confidence="high" if share > BOTTLENECK else "medium",
    )


def _change(workers: int | None, needed: int) -> str:
    if workers:
        return f"more workers than num_workers={workers}, a larger prefetch_factor"
    ahead = f"load ahead beside the training: DataLoader(num_workers={max(needed, 2)}, persistent_workers=True, pin_memory=True)"
    return f"{ahead}, or summarykit.profiler.pipeline.buffered(...) around any iterable" if needed == 1 else ahead
