"""In CI (``SUMMARYKIT_CI=1``) a skip is a failure unless it stands on this list: what was not run was not tested."""

from __future__ import annotations

import os
import re

import pytest

ALLOWED = {
    r"jax": "not installed in CI: the values of jax are covered through __array__ and DLPack",
    r"mindspore (is )?not installed": "its wheel pins packages that the development environment needs newer",
    r"CUDA|accelerator|GPU": "no accelerator in CI",
    r"needs (Python|CPython) 3\.1[0-9]": "a feature of another interpreter",
}


def enforced() -> bool:
    return os.environ.get("SUMMARYKIT_CI") == "1"


def allowed(reason: str) -> bool:
    return any(re.search(pattern, reason) for pattern in ALLOWED)


def refuse(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Turn a skip that is not on the list into a failure."""
    if not enforced() or report.outcome != "skipped" or hasattr(report, "wasxfail"):
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    if not allowed(reason):
        report.outcome = "failed"
        report.longrepr = f"skipped in CI, where everything must run: {reason}"
