"""What the README shows works as it is pasted."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def readme(checkout: Path) -> str:
    return (checkout / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def block(checkout: Path):
    return runpy.run_path(str(checkout / ".ci/readme.py"))["block"]


def test_the_example_runs_as_pasted(run_script, block, tmp_path):
    done = run_script(block("example"), cwd=tmp_path).expect_success()
    assert done.stdout.strip() == "0.01"
    assert done.stderr == ""


USERS_OWN = """
from summarykit.cli.demo_digits import Digits, network
digits, demo = Digits(), network()
net, opt, batches = demo.model, demo.optimizer, digits.training
def train_one(batch):
    return demo.update(*batch)[0]
"""
LOOK = """
import summarykit
tags = summarykit.Run("./summary").tags()
assert {"scalar", "histogram"} <= tags.keys(), tags
assert summarykit.Run("./summary").scalars("loss").value[-1] > 0
"""


def test_the_loop_example_runs_around_a_users_own_code(run_script, block, tmp_path):
    pytest.importorskip("sklearn")
    run_script(USERS_OWN + block("loop example") + LOOK, cwd=tmp_path).expect_success()


def test_the_writer_example_runs_as_pasted(run_script, block, tmp_path):
    look = """
import summarykit
run = summarykit.Run("./runs/first")
assert len(run.scalars("loss")) == len(run.scalars("accuracy/train")) == 100
"""
    assert run_script(block("writer example") + look, cwd=tmp_path).expect_success().stderr == ""


def test_the_profile_example_runs_around_a_users_own_code(run_script, block, tmp_path):
    pytest.importorskip("sklearn")
    done = run_script(USERS_OWN + block("profile example"), cwd=tmp_path).expect_success()
    assert "11 steps (10 to 20)" in done.stdout


WATCHED = """
import torch
model, criterion = torch.nn.Linear(3, 1), torch.nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
def train(model, optimizer, criterion):
    for _ in range(3):
        optimizer.zero_grad()
        criterion(model(torch.ones(2, 3)), torch.zeros(2, 1)).backward()
        optimizer.step()
"""


def test_the_watch_example_runs_around_a_users_own_loop(run_script, block, tmp_path):
    pytest.importorskip("torch")
    look = LOOK.replace("tags = ", "assert len(summarykit.Run('./summary').scalars('loss')) == 2\ntags = ")    # the first step and the last
    run_script(WATCHED + block("watch example") + look, cwd=tmp_path).expect_success()


def test_every_method_in_the_table_of_kinds_exists(readme):
    import summarykit

    table = readme.partition("## In place of")[2].partition("## ")[0]
    methods = set(re.findall(r"`(add_\w+)`", table))
    assert len(methods) >= 20
    assert [name for name in sorted(methods) if not hasattr(summarykit.SummaryWriter, name)] == []


LANDSCAPE = """
import summarykit
surfaces = summarykit.Run("./summary").landscapes()
assert [surface.z.shape for surface in surfaces] == [(20, 20), (20, 20)]
assert path.path.z[-1] < path.path.z[0] and path.path.steps.tolist() == [1, 2, 3, 4, 5]
"""


def test_the_landscape_example_runs_around_a_users_own_code(run_script, block, tmp_path):
    pytest.importorskip("sklearn")
    pytest.importorskip("torch")
    own = USERS_OWN + "import torch\nloss_fn = torch.nn.CrossEntropyLoss()\n"
    run_script(own + block("landscape example") + LANDSCAPE, cwd=tmp_path).expect_success()


def test_the_example_is_short(block):
    assert len([line for line in block("example").splitlines() if line.strip()]) <= 10


@pytest.mark.parametrize("name", ["demo command", "test command"])
def test_each_command_is_one_line(block, name):
    assert len(block(name).splitlines()) == 1


def test_an_unknown_block_is_an_error(block):
    with pytest.raises(SystemExit, match="0 blocks"):
        block("no such marker")


def test_every_name_of_the_first_column_exists(readme):
    import summarykit

    table = readme.partition("## Python")[2].partition("## ")[0]
    names = {name for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE) for name in re.findall(r"`(\w+)", row)}
    assert len(names) >= 8
    assert [name for name in sorted(names) if not hasattr(summarykit, name)] == []


def test_every_command_exists(readme, run_script):
    table = readme.partition("## Command line")[2].partition("## ")[0]
    for command in re.findall(r"^\| `summarykit (\w+)", table, re.MULTILINE):
        run_script(f"from summarykit.cli import main; main([{command!r}, '--help'])").expect_success()


def test_every_extra_exists(readme, checkout):
    declared = (checkout / "pyproject.toml").read_text(encoding="utf-8")
    for extra in {name for group in re.findall(r"\.\[([\w,-]+)\]", readme) for name in group.split(",")}:
        assert re.search(rf"^{extra} = \[", declared, re.MULTILINE), extra


def test_every_file_named_is_there(readme, checkout):
    for name in re.findall(r"`(\.meta/\w+(?:\.\w+)?)`", readme):
        assert (checkout / name).is_file(), name
