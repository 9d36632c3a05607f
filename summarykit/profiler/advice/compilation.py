"""Steps are compiled again: time goes into a compiler in the middle of the training, while host and device do no work of the model."""

from __future__ import annotations

import re
from collections.abc import Iterator

from summarykit.profiler.advice.advice import Advice
from summarykit.profiler.advice.evidence import gain, sampled, step_time, worth
from summarykit.profiler.analysis.choosing import covered, matching, on_devices
from summarykit.profiler.analysis.profile import Profile
from summarykit.profiler.analysis.report import Report
from summarykit.profiler.sheet import number

_SPANS = re.compile(r".*(Xla|Pjit|backend_?)compil|.*(compile_inner|entire_frame_compile|inductor_compile|CompileFx)", re.IGNORECASE)
_FRAMES = re.compile(r".*[\\/](torch[\\/]_(dynamo[\\/](convert_frame|symbolic_convert)|inductor)|jax[\\/]_src[\\/](compiler|pjit_compile))")


def check(report: Report) -> Iterator[Advice]:
    """Say so where usual steps compile."""
    for profile in report.last[:1]:
        traced = _traced(profile)
        lost, line = (traced, "") if traced else sampled(profile, _FRAMES)
        if worth(profile, lost):
            yield Advice(
                rule="compilation",
                title=f"steps are compiled again: {lost / step_time(profile):.1%} of the step time",
                evidence=f"{number(lost)} ms a step in compilers, after the first steps{f', called in {line}' if line else ''}",
                change="keep shapes and types the same (drop_last=True, padding to a few lengths), torch.compile(dynamic=True), arguments "
                "that change as arrays instead of Python numbers; TORCH_LOGS=recompiles or jax_log_compiles names what changed",
                check="no compilation after the first steps",
                **gain(profile, lost),
                confidence="high" if traced else "medium",
            )


def _traced(profile: Profile) -> float:
    spans, steps = profile.recording.spans, profile.usual
    if not steps.rows:
        return 0.0
    found = covered(spans, matching(spans, _SPANS) & ~on_devices(spans))
    return float(found.within(steps["start"], steps["end"]).mean()) / 1e6
