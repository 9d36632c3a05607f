"""The benchmark of the advice runs with few steps and prints its table. What it measures is not judged here."""

from __future__ import annotations

import os
import subprocess
import sys


def test_a_draw_gets_its_line(checkout):
    command = [sys.executable, checkout / "benchmarks/advice.py", "--loop=numpy", "--draws=1", "--steps=10"]
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, env=environment)
    header, rule, row, healthy, _, verdict = done.stdout.splitlines()
    assert header.count("|") == rule.count("|") == row.count("|") == healthy.count("|") == 8, done.stderr
    assert row.startswith("| numpy | ")
    assert healthy.startswith("| numpy | none | ")
    assert verdict.endswith(" of 1 promises within 25 % of what was gained")
