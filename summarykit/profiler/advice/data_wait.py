"""Training waits for its input: from 5 % of the step time on (where torch-tb-profiler begins, too)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from summarykit.profiler.advice import waiting
from summarykit.profiler.advice.advice import Advice
from summarykit.profiler.advice.evidence import cause, gain, step_time
from summarykit.profiler.analysis.input import BOTTLENECK
from summarykit.profiler.analysis.profile import Profile
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
        change=f"{_change(worst, waiting.needed(worst))}; decode and augment less, or once and keep it",
        check="share of data wait below 5 %",
        **gain(worst, waiting.gained(worst, np.inf if workers else waiting.needed(worst))),
        confidence="high" if share > BOTTLENECK else "medium",
    )


def _change(profile: Profile, needed: int) -> str:
    recording, workers = profile.recording, waiting.loader(profile).get("num_workers")
    if workers:
        return f"more workers than num_workers={workers}, a larger prefetch_factor"
    if recording.source in ("ascend", "mindspore"):
        return "more num_parallel_workers for the stages of the dataset, a larger mindspore.dataset.config.set_prefetch_size(...)"
    if waiting.by_processes(profile):
        return f"load ahead beside the training: DataLoader(num_workers={max(needed, 2)}, persistent_workers=True, pin_memory=True)"
    one = "load ahead beside the training: a thread, by summarykit.profiler.pipeline.buffered(...) around the iterable"
    return one if needed == 1 else f"{one}, or {needed} processes, by PyTorch's DataLoader(num_workers={needed})"
