"""The thread that trains loads the data itself, and it is that what it waits for."""

from __future__ import annotations

from collections.abc import Iterator

from summarykit.profiler.advice import waiting
from summarykit.profiler.advice.advice import Advice
from summarykit.profiler.advice.evidence import cause, gain, step_time
from summarykit.profiler.analysis.report import Report


def check(report: Report) -> Iterator[Advice]:
    """Say so where a data loader without workers is used, with the number of workers that it takes."""
    worst = waiting.waits(report)
    loader = {} if worst is None else waiting.loader(worst)
    if worst is None or loader.get("num_workers") != 0:
        return
    workers = max(waiting.needed(worst), 2)
    yield Advice(
        rule="single_threaded",
        title=f"the thread that trains loads the data itself: {cause(worst, 'data wait') / step_time(worst):.1%} of the step time",
        evidence=f"{loader.get('dataset', 'the data set')} without workers: {waiting.told(worst)}",
        change=f"DataLoader(num_workers={workers}, persistent_workers=True); decode and augment less, or once and keep it",
        check="share of data wait below 5 %",
        **gain(worst, waiting.gained(worst, workers)),
        confidence="high",
    )
