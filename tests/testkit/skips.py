"""In CI a skip is a failure unless it stands on this list: what was not run was not tested.

``SUMMARYKIT_CI=1`` is the full environment; in ``SUMMARYKIT_CI=core`` no extra is installed, and tests that need one may skip.
"""

from __future__ import annotations

import os
import re

import pytest

from summarykit.errors import MissingExtraError

ALLOWED = {
    r"CUDA|accelerator|GPU": "no accelerator in CI",
    r"mounting needs root": "a container's root may not mount either; tests with a limit on the file size cover the same faults",
    r"no browser": "the page is looked at where a Chromium is installed; what is in it is tested everywhere",
    r"needs (Python|CPython) 3\.1[0-9]": "a feature of another interpreter",
}


FRAMEWORKS = "jax|optax|keras|torch|sklearn|xgboost|lightgbm|lightning|pytorch_lightning|transformers|accelerate|distributed"
PACKAGES = "av'|safetensors|ml_dtypes|pandas|pyarrow|polars|PIL|matplotlib|onnx|isal|google_crc32c"
EXTRAS = {
    r"mindspore not installed": "an environment of its own, which the full run has",
    rf"could not import '({PACKAGES}|{FRAMEWORKS})": "an extra of the full environment",
    r"grpcio-tools is not installed": "builds the descriptors, which are committed",
    r"needs \w[\w.]*: pip install 'summarykit\[": "what the package itself says where an extra is absent",
}


def allowed(reason: str, mode: str) -> bool:
    """Whether a skip may stand; without a mode, as on a user's machine, every one may."""
    if mode not in ("1", "core"):
        return True
    patterns = [*ALLOWED, *(EXTRAS if mode == "core" else ())]
    return any(re.search(pattern, reason) for pattern in patterns)


def where_an_extra_is_absent(failure: tuple[type[BaseException], BaseException, object] | None) -> None:
    """A test that came upon an absent extra is skipped, with the package's own message; the full environment refuses that below."""
    if failure is not None and issubclass(failure[0], MissingExtraError):
        pytest.skip(str(failure[1]))


def refuse(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Turn a skip that is not on the list into a failure."""
    if report.outcome != "skipped" or hasattr(report, "wasxfail"):
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    if not allowed(reason, os.environ.get("SUMMARYKIT_CI", "")):
        report.outcome = "failed"
        report.longrepr = f"skipped in CI, where everything must run: {reason}"
