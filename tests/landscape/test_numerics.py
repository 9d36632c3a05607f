"""Directions, planes and surfaces against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from testkit import surfaces

from summarykit import Run
from summarykit.landscape import MindSporeRecipe, Recipe, SummaryLandscape, directions, metadata
from summarykit.landscape.checkpoint import open_weights
from summarykit.landscape.grid import Grid, around
from summarykit.landscape.plane import Plane
from summarykit.landscape.trajectory import Trajectory

PRECISION = {"float32": 1e-5, "float64": 1e-10}
RECIPES = {
    "plain": Recipe(),
    "filter": Recipe(path="filter"),
    "layer": Recipe(path="layer", random="layer", vectors="layer"),
    "mindspore": MindSporeRecipe(),
}


def trajectory(run, numbers):
    return Trajectory(numbers, [run / metadata.DIRECTORY / f"Net_{number}_step.safetensors" for number in numbers])


def flat(arrays):
    return np.concatenate([np.asarray(each, np.float64).ravel() for each in arrays.values()])


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("dtype", PRECISION)
def test_surface_and_path_of_a_quadratic_are_the_closed_form(tmp_path, dtype, recipe):
    run = surfaces.store(tmp_path, dtype=dtype, landscape_size=9)
    make = {"float32": surfaces.single, "float64": surfaces.double}[dtype]
    found = SummaryLandscape(run).gen_landscapes_with_multi_process(make, recipe=RECIPES[recipe])
    planes = [
        directions.along_path(trajectory(run, range(1, 7)), RECIPES[recipe], tmp_path / "path"),
        directions.at_random(trajectory(run, [6]).last, RECIPES[recipe], tmp_path / "random"),
    ]
    assert [each.decomposition for each in found] == ["PCA", "Random"]
    for surface, laid, name in zip(found, planes, ("path", "random"), strict=True):
        plane = Plane(tmp_path / name)
        exact = {name: np.float64(value) for name, value in plane.centre.items()}
        first, second = ({name: np.float64(value) for name, value in each.items()} for each in plane.directions)

        def loss(x, y, exact=exact, first=first, second=second):
            return surfaces.quadratic({name: value + x * first.get(name, 0) + y * second.get(name, 0) for name, value in exact.items()})

        wanted = [[loss(x, y) for x in surface.x] for y in surface.y]
        np.testing.assert_allclose(surface.z, wanted, rtol=PRECISION[dtype])
        assert surface.convergence == (0, 0, pytest.approx(loss(0, 0), rel=PRECISION[dtype]))
        if surface.path is not None:
            np.testing.assert_allclose(surface.path.z, [loss(*point) for point in laid.path], rtol=PRECISION[dtype])
    assert len(Run(run).landscapes()) == 2


def test_the_path_lies_where_least_squares_puts_it(tmp_path):
    run = surfaces.store(tmp_path)
    moves = np.stack([flat(surfaces.state(run, number)) for number in range(1, 7)])
    moves -= moves[-1].copy()
    for recipe in RECIPES.values():
        laid = directions.along_path(trajectory(run, range(1, 7)), recipe, tmp_path / "plane")
        basis = np.zeros((2, moves.shape[1]))
        for row, direction in zip(basis, Plane(tmp_path / "plane").directions, strict=True):
            row[:] = flat({name: direction.get(name, np.zeros(shape)) for name, shape in surfaces.SHAPES.items()})
        known = set(recipe.parameters(trajectory(run, [6]).last))
        taken = np.repeat([name in known for name in surfaces.SHAPES], [int(np.prod(shape)) for shape in surfaces.SHAPES.values()])
        wanted = np.linalg.lstsq(basis[:, taken].T, moves[:, taken].T, rcond=None)[0].T
        np.testing.assert_allclose(laid.path, wanted, atol=1e-10)


def test_principal_directions_are_those_of_scikit_learn(tmp_path):
    decomposition = pytest.importorskip("sklearn.decomposition")
    run = surfaces.store(tmp_path)
    points = np.stack([flat(surfaces.state(run, number)) for number in range(1, 7)])
    oracle = decomposition.PCA(2).fit(points)
    laid = directions.along_path(trajectory(run, range(1, 7)), Recipe(), tmp_path / "plane")
    np.testing.assert_allclose(laid.shares, oracle.explained_variance_ratio_, rtol=1e-9)
    for direction, component in zip(Plane(tmp_path / "plane").directions, oracle.components_, strict=True):
        assert abs(flat(direction) @ component) == pytest.approx(1, abs=1e-9)
    assert (laid.path[0] < 0).all()
    np.testing.assert_array_equal(laid.path[-1], 0)


@given(seed=st.integers(0, 1000), rows=st.integers(1, 6), columns=st.integers(1, 40))
@settings(max_examples=20)
def test_ll3_filters_of_a_direction_get_the_norms_of_the_weights(seed, rows, columns):
    random = np.random.default_rng(seed)
    for axis in (0, -1):
        weights, direction = random.normal(size=(rows, 2, columns)), random.normal(size=(rows, 2, columns))
        weights[-1 if axis == 0 else (..., -1)] = 0
        scaled = direction * Recipe().scale("filter", direction, weights, axis)
        over = (1, 2) if axis == 0 else (0, 1)
        np.testing.assert_allclose(np.sqrt((scaled**2).sum(over)), np.sqrt((weights**2).sum(over)), rtol=1e-9)


def test_ll3_vectors_stay_unless_asked_for(tmp_path):
    run = surfaces.store(tmp_path)
    centre = trajectory(run, [6]).last
    for vectors, wanted in (("zero", 0), ("layer", np.linalg.norm(centre.array("dense.bias")))):
        directions.at_random(centre, Recipe(vectors=vectors), tmp_path / "plane")
        first, second = Plane(tmp_path / "plane").directions
        assert np.linalg.norm(first["dense.bias"]) == pytest.approx(wanted)
        for filters in (first["conv.weight"], second["conv.weight"]):
            norms = [np.linalg.norm(each) for each in centre.array("conv.weight")]
            np.testing.assert_allclose([np.linalg.norm(each) for each in filters], norms, rtol=1e-9)


def test_integers_and_running_statistics_never_move(tmp_path):
    centre = {"w": np.ones((2, 2), "f4"), "bn.running_mean": np.ones(2, "f4"), "steps": np.array(7), "half": np.ones(3, "f2")}
    from summarykit.landscape import weights

    weights.save(tmp_path / "a", centre, {"parameters": ["w", "half"]})
    weights.save(tmp_path / "b", centre, {})
    for name in "ab":
        directions.at_random(open_weights(tmp_path / name), Recipe(path="none", random="none"), tmp_path / "plane")
        plane = Plane(tmp_path / "plane")
        assert set(plane.directions[0]) == {"w", "half"}
        moved = dict(plane.at(0.5, -2))
        assert moved["steps"] == 7
        assert moved["bn.running_mean"].tolist() == [1, 1]
        assert (moved["w"] != 1).all()


def test_bfloat16_is_computed_in_float32(tmp_path):
    from summarykit.landscape.weights import Place, Weights

    (tmp_path / "raw").write_bytes(np.array([0x3F80, 0xC000], "<u2").tobytes())    # 1 and -2
    centre = Weights(tmp_path / "raw", {"w": Place(0, "bfloat16", (2, 1))}, {})
    directions.at_random(centre, Recipe(), tmp_path / "plane")
    found = dict(Plane(tmp_path / "plane").at(0, 0))["w"]
    assert (found.dtype, found.ravel().tolist()) == (np.float32, [1, -2])


@pytest.mark.parametrize(("factors", "spanned"), [((1, 0.5, 0), 1), ((0, 0, 0), 0)])
def test_a_path_on_a_line_or_in_a_point_gets_directions_across(tmp_path, factors, spanned):
    from summarykit.landscape import weights

    start = surfaces.parameters(3)
    for number, factor in enumerate(factors):
        weights.save(tmp_path / str(number), {name: 1 + factor * each for name, each in start.items()}, {})
    path = Trajectory((1, 2, 3), [tmp_path / str(number) for number in range(3)])
    laid = directions.along_path(path, Recipe(), tmp_path / "plane")
    first, second = map(flat, Plane(tmp_path / "plane").directions)
    np.testing.assert_allclose([first @ first, first @ second, second @ second], [1, 0, 1], atol=1e-12)
    assert len(laid.shares) == spanned
    np.testing.assert_allclose(laid.path[:, 1], 0, atol=1e-12)
    x, y = around(laid.path, 5)
    assert (np.diff(x) > 0).all()
    assert (np.diff(y) > 0).all()


def test_a_grid_is_surveyed_from_coarse_to_fine():
    plan = Grid(np.arange(9.0), np.arange(9.0), np.zeros((0, 2)))
    assert sorted(map(tuple, plan.cells.tolist())) == [(row, column) for row in range(9) for column in range(9)]
    assert {tuple(each) for each in plan.cells[:9].tolist()} == {(row, column) for row in (0, 4, 8) for column in (0, 4, 8)}
    assert {tuple(each) for each in plan.cells[:25].tolist()} == {(row, column) for row in range(0, 9, 2) for column in range(0, 9, 2)}
    np.testing.assert_array_equal(plan.laid(np.arange(81.0)).ravel()[plan.cells @ [9, 1]], np.arange(81))


def test_mindspores_margin():
    x, y = around(np.array([[-1.0, 4], [0, 0]]), 5)
    np.testing.assert_allclose(x, np.linspace(-1.2, 0.2, 5))
    np.testing.assert_allclose(y, np.linspace(-0.8, 4.8, 5))


@pytest.mark.shared
def test_mindspores_axes_and_path_of_its_own_checkpoints(shared, tmp_path):
    """What it computed from the same files: axes and coordinates within rounding of float32."""
    folder = shared / "data/mindspore/graph_mode/ckpt_dir"
    told = metadata.read(folder)
    for steps, seen in zip(told.settings.intervals, Run(shared / "data/mindspore/landscape_1dev").landscapes(), strict=False):
        path = Trajectory(steps, [folder / told.files[step] for step in steps])
        laid = directions.along_path(path, MindSporeRecipe(), tmp_path / "plane")
        np.testing.assert_allclose(laid.path, np.stack([seen.path.x, seen.path.y], 1), atol=1e-7)
        np.testing.assert_allclose(around(laid.path, 5), (seen.x, seen.y), atol=1e-7)
