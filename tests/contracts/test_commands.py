"""What every command must be: one module with help, arguments and a way to run; told in the README; answers for people and for programs."""

from __future__ import annotations

import argparse
import inspect
import re
from pathlib import Path

import pytest

from summarykit.cli import COMMANDS
from summarykit.cli.parser import for_command, help_of

NO_ANSWER = {"demo"}    # a training that tells a person what it does; its data are read with the other commands
OURS = [name for name in COMMANDS.names() if COMMANDS.get(name).__name__.startswith("summarykit.")]


@pytest.fixture(params=COMMANDS.names())
def name(request) -> str:
    return request.param


def parser_of(name: str) -> argparse.ArgumentParser:
    return for_command(name, COMMANDS.get(name))


def test_it_has_help_that_fits_a_line(name):
    told = help_of(COMMANDS.get(name))
    assert 10 <= len(told) <= 90
    assert told.endswith(".")


def test_it_has_the_two_functions(name):
    command = COMMANDS.get(name)
    assert list(inspect.signature(command.add_arguments).parameters) == ["parser"]
    assert list(inspect.signature(command.run).parameters) == ["args"]


def test_every_argument_is_explained(name):
    for action in parser_of(name)._actions:
        assert action.help, action


def test_help_tells_the_exit_codes(name):
    assert "exit codes:" in parser_of(name).format_help()


@pytest.mark.parametrize("name", OURS)
def test_it_can_answer_in_json(name):
    options = {option for action in parser_of(name)._actions for option in action.option_strings}
    assert ("--json" in options) == (name not in NO_ANSWER)


@pytest.mark.parametrize("name", OURS)
def test_it_is_a_file_of_its_own_and_in_the_readme(name, checkout: Path):
    assert Path(inspect.getfile(COMMANDS.get(name))).name == f"{name}.py"
    table = (checkout / "README.md").read_text(encoding="utf-8").partition("## Command line")[2].partition("## ")[0]
    assert re.search(rf"^\| `summarykit {name} ", table, re.MULTILINE)


def test_the_readme_tells_of_no_other_command(checkout: Path):
    table = (checkout / "README.md").read_text(encoding="utf-8").partition("## Command line")[2].partition("## ")[0]
    assert set(re.findall(r"^\| `summarykit (\w+)", table, re.MULTILINE)) == set(OURS)


def test_long_options_may_be_abbreviated_by_nobody(name):
    """A script that says --ver for --verbose breaks with the next option: a full name only."""
    assert parser_of(name).allow_abbrev is False
