"""The README's first command: what it records opens in every viewer, and they show what our reader gives back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from testkit import records, scripts, views

from summarykit import Run

pytestmark = [pytest.mark.viewers, pytest.mark.shared]
DEMO = "import sys; from summarykit.cli import main; sys.exit(main(['demo', sys.argv[1]]))"
WITHOUT_TORCH = """
from importlib.machinery import PathFinder
find = PathFinder.find_spec
PathFinder.find_spec = classmethod(lambda cls, name, *rest: None if name == "torch" else find(name, *rest))
"""
WAYS = ["mindinsight python", "tensorboard python", "tensorboard rust"]


@pytest.fixture(scope="module", params=["NumPy", "PyTorch"])
def demo(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, scripts.Finished]:
    pytest.importorskip("sklearn")
    if request.param == "PyTorch":
        pytest.importorskip("torch")
    directory = tmp_path_factory.mktemp("demo") / "summary"
    code = DEMO if request.param == "PyTorch" else WITHOUT_TORCH + DEMO
    done = scripts.Script(code, (str(directory),)).run().expect_success()
    assert request.param in done.stdout
    return directory, done


@pytest.fixture(scope="module")
def seen(demo: tuple[Path, Any], mindinsight_client: Callable[..., Any], tensorboard_client: Callable[..., Any]) -> dict[str, views.View]:
    directory = demo[0]
    return {
        "mindinsight python": views.mindinsight(mindinsight_client(directory).expect_sound()),
        "tensorboard python": views.tensorboard(tensorboard_client(directory, "python").expect_sound()),
        "tensorboard rust": views.tensorboard(tensorboard_client(directory, "rust").expect_sound()),
    }


def test_every_file_passes_an_independent_walk(demo):
    assert len(records.check_directory(demo[0])) >= 2


def test_it_says_where_the_files_are_and_how_to_open_them(demo):
    directory, done = demo
    assert str(directory) in done.stdout
    assert "tensorboard --logdir" in done.stdout
    assert "mindinsight start" in done.stdout
    done.expect_nothing_left()


@pytest.mark.parametrize("way", WAYS)
def test_every_kind_is_shown(seen, way):
    assert {kind for kind, _ in seen[way]} == {"scalar", "histogram", "image", "tensor"}


def test_the_viewers_show_the_same_series(seen):
    left, right, third = (views.steps(seen[way]) for way in WAYS)
    assert left.keys() == right.keys() == third.keys()
    assert right == third
    for series, steps in left.items():    # MindInsight keeps fewer points of images, tensors and histograms, chosen at random
        assert set(steps) <= set(right[series])
        if series[0] == "scalar":
            assert steps == right[series]


@pytest.mark.parametrize("way", WAYS)
def test_the_scalars_shown_are_those_read_back(demo, seen, way):
    views.expect_scalars(Run(str(demo[0])), seen[way])


def test_the_training_went_well(demo):
    """The demonstration is a real training: the loss falls."""
    run = Run(str(demo[0]))
    (loss, *_) = (tag for tag in run.tags()["scalar"] if "loss" in tag)
    value = run.scalars(loss).value
    assert np.mean(value[-3:]) < np.mean(value[:3]) / 2
