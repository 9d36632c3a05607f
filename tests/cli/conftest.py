"""Runs to look at, and the command line called in this process."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from testkit import building
from testkit.browser import find_browser
from testkit.commands import Answer

from summarykit import SummaryRecord
from summarykit.cli import main

STEPS = 200


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Callable[..., Answer]:
    """``cli("ls", directory)``: a command, run in this process."""

    def run(*arguments: object) -> Answer:
        capsys.readouterr()
        code = main([str(each) for each in arguments])
        return Answer(code, *capsys.readouterr())

    return run


@pytest.fixture(scope="session")
def browser() -> str:
    """A browser's path; the test is skipped where none is installed."""
    return find_browser() or pytest.skip("no browser is installed")


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three runs of 200 steps, not to be written to.

    ``loss`` is ``(run + 1) / step``, NaN in steps 50 to 59 of the second; every tenth step of the first has a histogram, an image and a
    tensor.
    """
    directory = tmp_path_factory.mktemp("cli") / "runs"
    random = np.random.default_rng(0)
    for run, name in enumerate(("baseline", "lr-2", "lr-10")):
        with SummaryRecord(directory / name) as record:
            for step in range(1, STEPS + 1):
                record.add_value("scalar", "loss", math.nan if run == 1 and 50 <= step < 60 else (run + 1) / step)
                record.add_value("scalar", "learning_rate", 0.1 * (run + 1))
                if run == 0 and step % 10 == 0:
                    record.add_value("histogram", "weight", random.normal(size=500) * step)
                    record.add_value("image", "input", np.full((5, 7, 3), step, np.uint8))
                    record.add_value("tensor", "logits", np.arange(6, dtype=np.float64).reshape(2, 3) + step)
                record.record(step)
    return directory


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    """A run with one file, for tests that damage it: ``loss`` in 100 steps."""
    building.file(tmp_path / "run", "tensorboard", [building.scalar("loss", step, step / 3) for step in range(100)], session="a" * 32)
    return tmp_path / "run"
