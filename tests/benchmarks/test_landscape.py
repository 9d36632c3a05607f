"""The benchmark of landscapes runs with tiny sizes and prints its table. What it measures is not judged here."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize(("case", "needs", "figures"), [("dense", "torch", 2), ("pca", "numpy", 3), ("collecting", "torch", 10)])
def test_a_case_prints_its_figures(checkout, case, needs, figures):
    pytest.importorskip(needs)
    command = [sys.executable, checkout / "benchmarks/landscape.py", "--scale=0.001", "--only", case]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    header, rule, *rows = done.stdout.splitlines()
    assert (header, rule) == ("| case | what | figure |", "|---|---|---:|"), done.stderr
    assert len(rows) == figures, done.stderr
    for row in rows:
        assert float(row.split("|")[3].replace(",", "")) >= 0
