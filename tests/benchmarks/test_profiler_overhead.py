"""The benchmark of the profiler's cost runs with tiny sizes and prints its table. What it measures is not judged here."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

HEADER = "| profiler | off, ns | waiting, ns | on, ns | CNN, µs | CNN, % | asleep, % of a core |"


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("marks of Loop", {1}),
        ("StopAtStep, far away", {1}),
        ("a thread that only sleeps", {6}),
        ("steps", {1, 2, 3, 4, 5}),
        ("torch.profiler", {2, 3, 4, 5}),
    ],
)
def test_a_profiler_gets_its_line(checkout, name, known):
    if max(known) == 5:
        pytest.importorskip("torch")
    command = [sys.executable, checkout / "benchmarks/profiler_overhead.py", "--scale=0.05", "--name", name]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    header, rule, row = done.stdout.splitlines()
    assert (header, rule.count("|")) == (HEADER, header.count("|"))
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[0] == name
    assert {place for place, cell in enumerate(cells[1:], 1) if cell != "–"} == known
    assert all(abs(float(cells[place].replace(",", ""))) < 1e6 for place in known)


def test_a_profiler_without_its_package_is_left_out(checkout, tmp_path):
    """A package that cannot be found is what importlib says of one that is hidden by this path hook."""
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.util as u; f = u.find_spec; u.find_spec = lambda name, *a: None if name == 'viztracer' else f(name, *a)"
    )
    command = [sys.executable, checkout / "benchmarks/profiler_overhead.py", "--name", "viztracer"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, env=environment)
    assert done.stdout.splitlines()[-1] == "| viztracer | – | – | – | – | – | – |", done.stderr
