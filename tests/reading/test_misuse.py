"""Wrong arguments of what reads: the message names the argument, what came, and what is there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from summarykit import LossSurface, Run, SummaryLandscape, SummaryRecord, convert, repair, runs, verify

PLACES = {
    "path": (Run, verify, lambda path: repair(path, "out"), lambda path: convert(path, "out")),
    "base_dir": (runs,),
    "out_dir": (lambda path: repair(".", path), lambda path: convert(".", path)),
    "summary_dir": (SummaryLandscape,),
}


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    with SummaryRecord(tmp_path / "run") as record:
        record.add_value("scalar", "loss", 1.0)
        record.add_value("tensor", "array", [1, 2])
        record.record(1)
    return tmp_path


NO_PATHS = [(path, TypeError, "must be a str or a path, got") for path in (None, 3, b"run", ["run"])]
NO_NAMES = [(path, ValueError, ".* is not a path") for path in ("", " ", "a\0b")]


@pytest.mark.parametrize(("path", "error", "message"), [*NO_PATHS, *NO_NAMES], ids=repr)
@pytest.mark.parametrize("argument", PLACES)
def test_what_is_no_path(argument: str, path: Any, error: type[Exception], message: str, directory: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(directory)
    for call in PLACES[argument]:
        with pytest.raises(error, match=f"{argument} {message}"):
            call(path)


def test_a_file_in_place_of_a_directory_of_runs_is_told_apart_from_nothing(directory: Path):
    file = next((directory / "run").iterdir())
    with pytest.raises(FileNotFoundError, match=r"is a file, which Run\(\) reads"):
        runs(file)


def test_a_run_that_is_not_there_is_told_with_those_that_are(directory: Path):
    found = runs(directory)
    with pytest.raises(KeyError, match=r"no run 'rum' below .*; there are 'run'"):
        found["rum"]
    assert "rum" not in found
    assert found.get("rum") is None


def test_tags_kinds_and_steps_that_are_not_there(directory: Path):
    run = Run(directory / "run")
    with pytest.raises(KeyError, match="no scalar with tag None; there are 'loss'"):
        run.scalars(None)
    with pytest.raises(KeyError, match="this run holds no scalars, but scalar, tensor"):
        run.points("scalars", "loss")
    for step in ("1", None, [1], True, 1j):
        with pytest.raises(TypeError, match="step must be an integer, got"):
            run.tensors("array").at(step)


@pytest.mark.parametrize("step", [1, 1.0, np.int32(1), np.float32(1), np.array(1)], ids=repr)
def test_a_step_is_found_by_a_number_of_any_type(step: Any, directory: Path):
    assert Run(directory / "run").scalars("loss").at(step).value.value == 1.0


def test_a_file_that_holds_no_landscape(tmp_path: Path):
    """NumPy would advise to load it unsafely."""
    for number, content in enumerate((b"", b"garbage" * 9, b"PK\x03\x04" + bytes(90))):
        (tmp_path / str(number)).write_bytes(content)
        with pytest.raises(ValueError, match="holds no landscape"):
            LossSurface.load(tmp_path / str(number))
    with pytest.raises(FileNotFoundError):
        LossSurface.load(tmp_path / "none")


@pytest.mark.parametrize("name", [["mindspore"], {}, 3, None], ids=repr)
def test_what_is_no_format(name: Any, directory: Path):
    with pytest.raises((TypeError, ValueError), match=r"formats: .* allowed: mindspore, tensorboard"):
        convert(directory / "run", directory / "out", name)


def test_g9_a_second_conversion_into_the_same_directory_would_double_every_point(directory: Path):
    convert(directory, directory.parent / f"{directory.name} out")
    with pytest.raises(FileExistsError, match="holds summary files already"):
        convert(directory, directory.parent / f"{directory.name} out")
