"""The benchmark of the profiler's cost runs with tiny sizes and prints its table. What it measures is not judged here."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("loop", "name", "needs"), [("bare", "steps", "numpy"), ("bare", "StopAtStep, far away", "numpy"), ("cnn", "torch phases", "torch")]
)
def test_a_contestant_gets_its_line(checkout, loop, name, needs):
    pytest.importorskip(needs)
    command = [sys.executable, checkout / "benchmarks/profiler_overhead.py", "--rounds=1", "--scale=0.05", "--loop", loop, "--name", name]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    header, rule, row = done.stdout.splitlines()
    assert (header, rule) == ("| loop | profiler | cost of a step | % |", "|---|---|---:|---:|"), done.stderr
    assert row.startswith(f"| {loop} | {name} | ")
    assert float(row.split("|")[3].split()[0].replace(",", "")) < 1e6


def test_a_contestant_without_its_package_is_left_out(checkout, tmp_path):
    """A package that cannot be found is what importlib says of one that is hidden by this path hook."""
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.util as u; f = u.find_spec; u.find_spec = lambda name, *a: None if name == 'viztracer' else f(name, *a)"
    )
    command = [sys.executable, checkout / "benchmarks/profiler_overhead.py", "--rounds=1", "--loop", "cnn", "--name", "viztracer"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False, env=environment)
    assert done.stdout.splitlines()[-1] == "| cnn | viztracer | – | – |", done.stderr
