"""Real distributed runs (gloo): the rank that is slow somewhere in its step is named, and nobody in a run without one.

Ranks share a few cores with whatever else runs, so a run in which the machine itself delayed a rank is repeated.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow
RANKS, TRIES = 4, 5


def named(checkout, place: str, rank: int) -> list[int]:
    """Which ranks the report of such a run names."""
    options = f"--ranks={RANKS}", "--steps=15", f"--place={place}", f"--seed={rank}"
    command, environment = [sys.executable, checkout / "benchmarks/stragglers.py", *options], {**os.environ, "PYTHONPATH": str(checkout)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return ast.literal_eval(done.stdout.splitlines()[-1])


@pytest.mark.parametrize(("place", "rank"), [("input", 3), ("forward", 1), ("backward", 2), ("optimizer", 0), ("nowhere", None)])
def test_the_rank_that_is_slow_is_named(checkout, place, rank):
    pytest.importorskip("torch.distributed")
    wanted, found = [] if rank is None else [rank], []
    for _ in range(TRIES):
        found.append(named(checkout, place, rank or 0))
        if found[-1] == wanted:
            break
    assert wanted in found, found
