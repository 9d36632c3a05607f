"""The benchmark of the integrations runs with tiny sizes and prints its table. What it measures is not judged here."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


def test_a_framework_gives_a_figure_for_each_claim(checkout):
    pytest.importorskip("torch")
    command = [sys.executable, checkout / "benchmarks/integrations.py", "--scale=0.001", "--rounds=1", "--only=torch"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, env={**os.environ, "OMP_NUM_THREADS": "1"})
    header, rule, *rows = done.stdout.splitlines()
    assert rule == "|---|---|---:|---:|---:|---:|---:|", done.stderr
    assert header.count("|") == 8
    assert len(rows) == 5, done.stderr
    assert all(row.startswith("| torch | a step that records") for row in rows)
    ours, idle = zip(*(map(float, row.split("|")[3:5]) for row in rows), strict=True)
    assert ours != idle    # two of so short a run may well be alike
    for column in (5, 6):
        copies = [row.split("|")[column].strip() for row in rows]
        assert copies[:-1] == ["–"] * 4
        assert float(copies[-1])
