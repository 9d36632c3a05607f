"""Every benchmark runs, with this library alone and tiny sizes, and prints its table. What it measures is not judged here."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPTS = {
    "scalars": 8, "short": 8, "start": 6, "idle": 1, "memory": 1, "histograms": 11, "images": 10, "tensors": 8, "mixed_step": 6,
    "fenced": 6, "collector": 9, "pauses": 2, "writer": 5, "reading": 3,
}  # fmt: skip


def run(checkout, script, *options):
    command = [sys.executable, checkout / f"benchmarks/{script}.py", "--rounds=1", "--scale=0.002", "--only=summarykit", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(("script", "claims"), SCRIPTS.items())
def test_a_script_prints_a_figure_for_each_claim(script, claims, checkout):
    if script in ("fenced", "collector"):
        pytest.importorskip("torch")
    header, rule, *rows = [line for line in run(checkout, script).splitlines() if line.startswith("|")]
    assert header == "| what | summarykit | script |"
    assert rule == "|---|---:|---|"
    assert len(rows) == claims
    for row in rows:
        assert float(row.split("|")[2].replace(",", "")) >= 0


def test_a_peer_that_is_not_installed_is_left_out(checkout, tmp_path, monkeypatch):
    monkeypatch.setenv("SUMMARYKIT_ENVS", str(tmp_path))
    assert "torch" not in run(checkout, "idle", "--only=torch").splitlines()[0]


def test_the_readme_gets_the_table_between_its_markers(checkout, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(checkout / "benchmarks"))
    import run_all

    readme = tmp_path / "README.md"
    readme.write_text("before\n<!-- benchmarks -->\nafter\n")
    run_all.update(readme, "first")
    run_all.update(readme, "second")
    assert readme.read_text() == "before\n<!-- benchmarks -->\nsecond\n<!-- benchmarks -->\nafter\n"


def test_the_sizes_that_stand_for_a_network_are_its_parameters(checkout, monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.syspath_prepend(str(checkout / "benchmarks"))
    import resnet18

    assert [parameter.numel() for parameter in resnet18.network().parameters()] == resnet18.SIZES


def test_every_script_is_in_the_whole(checkout, monkeypatch):
    monkeypatch.syspath_prepend(str(checkout / "benchmarks"))
    import run_all

    assert sorted(run_all.WORKLOADS) == sorted(SCRIPTS)
