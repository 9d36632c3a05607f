"""Loss surfaces: files, tables, pictures, and those that MindSpore recorded."""

from __future__ import annotations

import numpy as np
import pytest

from summarykit import RefusedValueError, Run, SummaryRecord
from summarykit.reading.plotting import clipped
from summarykit.reading.surface import LossSurface
from summarykit.shapes import LossPath


def surface(**fields) -> LossSurface:
    y, x = np.meshgrid(np.linspace(-1, 1, 4), np.linspace(-2, 2, 5), indexing="ij")
    path = LossPath(np.array([1, 2, 3]), np.array([-1, -0.5, 0]), np.array([0.1, 0.2, 0]), np.array([2, 1.5, 1 / 3]))
    return LossSurface(**{
        "x": x[0], "y": y[:, 0], "z": x**2 + y / 3, "path": path, "convergence": (0.0, 0.0, 1 / 3), "decomposition": "PCA",
        "unit": "epoch", "step_per_epoch": 7, "explained_variance": (0.9, 0.05), "metrics": {"Accuracy": x * 0.1},
        "notes": {"seed": 0, "normalise": "filter"}, **fields,
    })  # fmt: skip


def assert_same(found, wanted) -> None:
    def flat(each):
        return vars(each) | {"path": each.path and vars(each.path)}
    np.testing.assert_equal(flat(found), flat(wanted))


@pytest.mark.parametrize("fields", [{}, {"path": None, "convergence": None, "metrics": {}, "explained_variance": ()}])
def test_a_saved_surface_comes_back_whole(tmp_path, fields):
    given = surface(**fields)
    assert_same(LossSurface.load(given.save(tmp_path / "surface.npz")), given)


@pytest.mark.parametrize("formats", [("mindspore", "tensorboard"), ("tensorboard",)])
def test_a_recorded_surface_comes_back_whole(tmp_path, formats):
    given = surface(z=np.array([[np.nan, np.inf, -np.inf, 1e300, 1 / 3]] * 4))
    with SummaryRecord(tmp_path, formats=formats) as record:
        record.add_value("landscape", "landscape_[1, 3]", given)
        assert record.record(0)
    (found,) = Run(tmp_path).landscapes()
    assert isinstance(found, LossSurface)
    assert_same(found, given)
    assert found.name == "landscape_[1, 3]"


def test_a_mapping_can_be_recorded(tmp_path):
    with SummaryRecord(tmp_path) as record:
        record.add_value("landscape", "mine", {"x": [0, 1], "y": [5], "z": [[1, 2]]})
        record.record(0)
    assert Run(tmp_path).landscapes()[0].z.tolist() == [[1, 2]]


@pytest.mark.parametrize(("value", "message"), [
    ({"x": [0, 1], "y": [5], "z": [[1], [2]]}, r"z has shape \(2, 1\); x and y ask for \(1, 2\)"),
    ({"x": [[0, 1]], "y": [5], "z": [[1, 2]]}, "x must have one axis"),
    ({"x": [0], "y": [5], "z": [[1]], "w": 3}, r"unexpected keyword argument 'w'; allowed: x, y, z, "),
    ({"x": [0], "y": [5]}, "must be a LossLandscape or a mapping with x, y and z"),
])  # fmt: skip
def test_what_is_no_landscape_is_refused(tmp_path, value, message):
    with SummaryRecord(tmp_path, raise_exception=True) as record, pytest.raises(RefusedValueError, match=message):
        record.add_value("landscape", "l", value)


def test_a_table_has_a_row_per_cell():
    pytest.importorskip("pandas")
    table = surface().to_pandas()
    assert list(table) == ["x", "y", "loss", "Accuracy"]
    assert len(table) == 20
    np.testing.assert_allclose(table.loss, table.x**2 + table.y / 3)


def test_ll7_a_picture_is_clipped_and_the_data_are_not():
    z = np.linspace(1, 2, 20).reshape(4, 5)
    z[0, 0], z[1, 1], z[2, 2] = np.nan, np.inf, 1e30
    drawn, (low, high) = clipped(z)
    assert (low, drawn.mask.sum()) == (z[0, 1], 2)
    assert 2 <= high < 10
    assert drawn.max() == high


@pytest.mark.parametrize("z", [np.full((3, 3), np.nan), np.ones((3, 3)), np.array([[np.nan, 1.0]])])
def test_a_picture_of_nearly_nothing_can_be_drawn(z):
    pytest.importorskip("matplotlib")
    plain = LossSurface(np.arange(z.shape[1]), np.arange(z.shape[0]), z)
    assert plain.plot().figure is not None


def test_a_picture_shows_surface_path_and_result(tmp_path):
    pytest.importorskip("matplotlib")
    ax = surface().plot()
    assert {each.get_text() for each in ax.get_legend().get_texts()} == {"training, epoch by epoch", "result"}
    ax.figure.savefig(tmp_path / "surface.png")
    assert (tmp_path / "surface.png").stat().st_size > 10_000


@pytest.mark.shared
@pytest.mark.parametrize("name", ["landscape_1dev", "landscape_2dev"])
def test_mindspores_landscapes_are_read(shared, name):
    first, second, final = Run(shared / "data/mindspore" / name).landscapes()
    assert [each.name for each in (first, second)] == ["landscape_[1, 4]", "landscape_[5, 8]"]
    assert [each.decomposition for each in (first, second, final)] == ["PCA", "PCA", "Random"]
    assert first.path.steps.tolist() == [1, 2, 3, 4]
    assert (first.unit, first.step_per_epoch) == ("step", 6)
    np.testing.assert_allclose(first.path.x, [-0.09749477, -0.06851739, -0.03485652, 0], rtol=1e-6)
    np.testing.assert_allclose(first.z[0], [1.38714457, 1.39123094, 1.39606357, 1.40177727, 1.40852594], rtol=1e-8)
    assert first.convergence == (0, 0, pytest.approx(1.3953501))
    assert final.path is None
    assert final.x.tolist() == final.y.tolist() == [-1, -0.5, 0, 0.5, 1]
