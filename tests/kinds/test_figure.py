"""Figures of matplotlib: what it draws is what is recorded, and nothing of the user's is changed."""

from __future__ import annotations

import io

import numpy as np
import pytest

from summarykit.errors import RefusedValueError
from summarykit.kinds.figure import FIGURE

matplotlib = pytest.importorskip("matplotlib")
pillow = pytest.importorskip("PIL.Image")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def no_figures():
    plt.close("all")
    yield
    plt.close("all")


def figure(width=2, height=1, **options):
    made, axes = plt.subplots(figsize=(width, height), dpi=50, **options)
    axes.plot([1, 3, 2])
    return made


def shown(value, **options):
    shape = FIGURE.reduce(FIGURE.snapshot(value, **options))
    picture = np.asarray(pillow.open(io.BytesIO(shape.encoded)))
    assert picture.shape == (shape.height, shape.width, shape.channels)
    return picture


def test_the_pixels_are_matplotlibs_own():
    made = figure()
    file = io.BytesIO()
    made.savefig(file, format="png", dpi=50)
    assert np.array_equal(shown(made), np.asarray(pillow.open(file).convert("RGB")))


def test_transparency_is_kept():
    made = figure()
    made.patch.set_alpha(0)
    picture = shown(made)
    assert picture.shape[2] == 4
    assert (picture[..., 3] == 0).any()


def test_it_is_closed_when_that_is_asked():
    kept, closed = figure(), figure()
    shown(kept)
    shown(closed, close=True)
    assert plt.get_fignums() == [kept.number]


def test_canvas_and_current_figure_stay():
    first, current = figure(), figure()
    canvas = first.canvas
    shown(first)
    assert first.canvas is canvas
    assert plt.gcf() is current


def test_it_is_drawn_in_the_call():
    made = figure()
    kept = FIGURE.snapshot(made)
    before = FIGURE.reduce(kept)
    made.axes[0].clear()
    assert FIGURE.reduce(kept) == before
    assert FIGURE.reduce(FIGURE.snapshot(made)) != before


def test_several_are_a_grid_on_white():
    small, large = figure(1, 1), figure(2, 1)
    picture = shown([small, large])
    assert picture.shape == (50, 200, 3)
    assert np.array_equal(picture[:, 100:], shown(large))
    assert np.array_equal(picture[:, :50], shown(small))
    assert (picture[:, 50:100] == 255).all()


def test_a_figure_without_pyplot_is_one():
    from matplotlib.figure import Figure

    assert shown(Figure(figsize=(1, 1), dpi=30), close=True).shape == (30, 30, 3)


@pytest.mark.parametrize("value", [None, [], [None], "figure", np.zeros((3, 3))])
def test_nothing_else_is_taken(value):
    with pytest.raises(RefusedValueError, match="Figure"):
        FIGURE.snapshot(value)


def test_one_that_cannot_be_drawn_costs_itself():
    class Broken(plt.Figure):
        def draw(self, renderer):
            raise RuntimeError("no")

    with pytest.raises(RefusedValueError, match="RuntimeError"):
        FIGURE.snapshot(Broken())


def test_matplotlib_is_never_imported(run_script):
    code = """
import sys
from summarykit.kinds.figure import FIGURE
try: FIGURE.snapshot(1)
except ValueError: assert "matplotlib" not in sys.modules
"""
    run_script(code).expect_success()
