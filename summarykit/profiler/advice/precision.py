"""Numbers are wider than training needs: float64 anywhere, float32 where a GPU has tensor cores that nothing uses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from summarykit.profiler.advice.advice import Advice
from summarykit.profiler.advice.evidence import collected, gain, worth
from summarykit.profiler.advice.fixed_costs import computing, fixed_costs
from summarykit.profiler.analysis.choosing import covered, matching, on_devices
from summarykit.profiler.analysis.profile import Profile
from summarykit.profiler.analysis.report import Report
from summarykit.profiler.recording import Category
from summarykit.profiler.sheet import number

_DOUBLE = re.compile(r".*(\bdouble\b|dgemm|ddot|dgrad_double|d884|float64)")
_MATRIX = re.compile(r".*(gemm|conv|cudnn|wgrad|dgrad|fprop|cutlass)", re.IGNORECASE)
_TENSOR_CORES = re.compile(r".*(tensorop|hmma|imma|wgmma|tf32|bf16|fp16|[his]?(884|1688|16816)|_h\d+)", re.IGNORECASE)
_VOLTA = 7


def check(report: Report) -> Iterator[Advice]:
    """Say so for the first rank."""
    for profile in report.last[:1]:
        yield from _wide(profile)
        yield from _tensor_cores(profile)


def _wide(profile: Profile) -> Iterator[Advice]:
    parameters = collected(profile, "torch").get("parameters", {})
    double = int(parameters.get("torch.float64", 0)) if isinstance(parameters, dict) else 0
    device = _kernels(profile, _DOUBLE)
    fixed, _ = fixed_costs(profile)
    half = device / 2 if device else (computing(profile) - fixed) / 2 if double else 0.0
    if worth(profile, half):
        yield Advice(
            rule="float64",
            title="the model computes in float64",
            evidence=f"{number(device)} ms a step in kernels for double" if device else f"{double:,} parameters of float64",
            change="model.float() and inputs as float32 (NumPy gives float64: array.astype(np.float32)); half the memory to move, and on "
            "GPUs many times the speed",
            check="no parameter of float64 and no kernel for double",
            **gain(profile, half),
        )


def _tensor_cores(profile: Profile) -> Iterator[Advice]:
    eligible, used = _kernels(profile, _MATRIX), _kernels(profile, _TENSOR_CORES)
    if used or not worth(profile, eligible) or not _has_tensor_cores(profile.recording.meta):
        return
    yield Advice(
        rule="amp",
        title="the GPU has tensor cores, and nothing uses them",
        evidence=f"{number(eligible)} ms a step in kernels for matrices and convolutions, all in float32",
        change="torch.autocast('cuda', dtype=torch.bfloat16), float16 with GradScaler, or torch.set_float32_matmul_precision('high')",
        check="kernels of tensor cores among those of the device",
        **gain(profile, eligible / 2),
        confidence="low",
    )


def _kernels(profile: Profile, pattern: re.Pattern[str]) -> float:
    """Milliseconds of a usual step in which such a kernel runs."""
    spans, steps = profile.recording.spans, profile.usual
    chosen = on_devices(spans) & spans.of(Category.KERNEL) & matching(spans, pattern)
    return float(covered(spans, chosen).within(steps["start"], steps["end"]).mean()) / 1e6 if steps.rows and chosen.any() else 0.0


def _has_tensor_cores(meta: dict[str, Any]) -> bool:
    found = meta.get("deviceProperties") or []
    majors = [each.get("computeMajor", 0) for each in found if isinstance(each, dict)] if isinstance(found, list) else []
    return any(isinstance(major, int) and major >= _VOLTA for major in majors)
