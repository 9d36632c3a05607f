"""What a format writes, protobuf reads, and its own parser gives back whole. Every registered format, unedited."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from summarykit.clock import Process
from summarykit.formats import FORMATS, blobs
from summarykit.formats.mindspore.tensors import DATA_TYPES
from summarykit.formats.origin import Origin, decode
from summarykit.formats.proto.messages import message
from summarykit.shapes import SCALAR_CLASS, Blob, Histogram, Image, LossLandscape, LossPath, Plugin, Point, Scalar, Tensor, strings

DTYPES = st.sampled_from(sorted(DATA_TYPES)).map(np.dtype)
ARRAYS = hnp.arrays(DTYPES, hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5))
FINITE = st.floats(-1e300, 1e300)


@st.composite
def histograms(draw):
    bins = draw(st.integers(0, 90))
    edges = np.sort(np.array(draw(st.lists(FINITE, min_size=bins + 1, max_size=bins + 1, unique=True)))) if bins else np.empty(0)
    counts = np.array(draw(st.lists(st.integers(0, 2**40), min_size=bins, max_size=bins)), np.int64)
    few = st.integers(0, 2**40)
    return Histogram(edges, counts, draw(few), draw(few), draw(few), draw(FINITE), draw(FINITE), draw(FINITE), draw(FINITE))


@pytest.fixture(scope="module", params=sorted(FORMATS.names()))
def layout(request):
    return FORMATS.get(request.param)()


def back(layout, value, kind, tag="a/标签"):
    point = Point(kind, tag, -7, 12.5, value)
    payload = layout.payload(point)
    (found,) = layout.parse(b"".join(map(bytes, payload)))
    assert (found.kind, found.tag, found.step, found.wall_time) == (kind, tag, -7, 12.5)
    return found.value


@given(data=ARRAYS)
def test_tensor_exact(layout, data):
    found = back(layout, Tensor(data, data.dtype.name), "tensor")
    assert found.dtype == data.dtype.name == found.data.dtype.name
    assert found.data.shape == data.shape
    assert found.data.tobytes() == data.tobytes()


def test_tensor_of_a_dtype_without_a_label(layout):
    data = np.array([1.5, -2.0], np.float32)
    found = back(layout, Tensor(data, "bfloat16"), "tensor")
    assert found.dtype == "bfloat16"
    assert found.data.tolist() == [1.5, -2.0]


@given(shape=histograms())
def test_histogram_whole(layout, shape):
    found = back(layout, shape, "histogram")
    assert found.counts.tolist() == shape.counts.tolist()
    np.testing.assert_allclose(found.edges, shape.edges, rtol=1e-12, atol=1e-12 * np.ptp(shape.edges) if len(shape.edges) else 0)
    names = "nan", "pos_inf", "neg_inf", "min", "max", "sum", "sum_squares"
    assert [getattr(found, name) for name in names] == [getattr(shape, name) for name in names]


@given(value=st.floats())
def test_scalar_exact(layout, value):
    np.testing.assert_equal(back(layout, Scalar(value), "scalar").value, value)


def test_image_whole(layout):
    shape = Image(2, 3, 3, b"\x89PNG\0any bytes")
    assert back(layout, shape, "image") == shape


def test_a_blob_whole(layout):
    """No viewer shows it: it stands in a field that they skip."""
    blob = Blob("molecule", b"\0\1", b"meta")
    assert not layout.shows(blob)
    assert back(layout, blob, "molecule") == blob


ANY = st.floats(allow_nan=True, allow_infinity=True)


@st.composite
def landscapes(draw):
    columns, rows, steps = draw(st.integers(1, 4)), draw(st.integers(1, 4)), draw(st.integers(1, 4))

    def axis(size):
        return draw(hnp.arrays(np.float64, size, elements=FINITE))

    def grid():
        return draw(hnp.arrays(np.float64, (rows, columns), elements=ANY))

    path = LossPath(np.arange(steps) + 1, axis(steps), axis(steps), axis(steps)) if draw(st.booleans()) else None
    convergence = draw(st.none() | st.tuples(FINITE, FINITE, ANY))
    metrics = {name: grid() for name in draw(st.lists(st.text(max_size=3), max_size=2, unique=True))}
    told = draw(st.sampled_from(["PCA", "Random"])), draw(st.sampled_from(["step", "epoch"])), draw(st.integers(1, 2**31 - 1))
    notes = draw(st.dictionaries(st.text(max_size=3), st.text(max_size=3) | FINITE | st.none(), max_size=2))
    shares = draw(st.sampled_from([(), (0.75, 0.125)]))
    return LossLandscape(axis(columns), axis(rows), grid(), path, convergence, *told, shares, metrics, notes)


@given(shape=landscapes())
def test_landscape_exact(layout, shape):
    found = back(layout, shape, "landscape")
    np.testing.assert_equal(parts(found), parts(shape))


def parts(shape):
    return vars(shape) | {"path": shape.path and vars(shape.path)}


def test_only_mindinsight_shows_a_landscape(layout):
    shown = layout.shows(LossLandscape(np.zeros(1), np.zeros(1), np.zeros((1, 1))))
    assert shown == (layout.name == "mindspore")


TITLES = st.text(max_size=5)
STRINGS = st.lists(st.binary(max_size=9), max_size=6).map(lambda found: strings(*found))
TABLES = STRINGS.map(lambda found: found.reshape(-1, 2) if found.size % 2 == 0 else found)


@given(ARRAYS | STRINGS | TABLES, st.binary(max_size=9), st.integers(1, 3), TITLES, TITLES)
def test_a_plugins_value_whole(layout, data, content, data_class, title, description):
    shape = Plugin("molecule", data, content, data_class, title, description)
    assert layout.shows(shape) == (layout.name == "tensorboard")
    found = back(layout, shape, "molecule")
    assert (found.data.dtype, found.data.shape) == (data.dtype, data.shape)
    np.testing.assert_array_equal(found.data, data)
    names = "plugin", "metadata", "data_class", "display_name", "description"
    assert [getattr(found, name) for name in names] == [getattr(shape, name) for name in names]


@given(value=st.floats())
def test_a_scalar_in_the_form_of_tensorflow_2_is_a_scalar(layout, value):
    shape = Plugin("scalars", np.array(value), data_class=SCALAR_CLASS, display_name="title")
    assert layout.shows(shape)
    np.testing.assert_equal(back(layout, shape, "scalar").value, value)


def test_a_plugins_kind_is_named_as_users_ask_for_it(layout):
    assert back(layout, Plugin("pr_curves", np.zeros((6, 3), np.float32)), "pr_curve").plugin == "pr_curves"


@pytest.mark.parametrize("dims", [(3,), (-1,), (2**40, 2**40)])
def test_dimensions_that_do_not_fit_are_not_believed(dims):
    blob = message("summarykit.Blob")(plugin="p", data_class=2, dims=dims, dtype="float32", numbers=np.ones(2, "f4").tobytes())
    assert blobs.decode(blob).data.tolist() == [1, 1]


ORIGIN = Origin("ab" * 16, 3, Process(4711, 99, "boot", 4026531836, "host-1"), 100, 2, "summarykit 9")


@pytest.mark.parametrize("origin", [ORIGIN, Origin("0" * 32, 0, Process(1, 0, "", 0, ""))])
def test_opening_tells_version_and_origin(layout, origin):
    first, *others = layout.opening(origin, 5.0)
    event = message("mindspore.irpb.Event" if layout.name == "mindspore" else "tensorboard.Event").FromString(first)
    version = event.version if layout.name == "mindspore" else event.file_version
    assert version == {"mindspore": "MindSpore.Event:1", "tensorboard": "brain.Event:2"}[layout.name]
    assert event.wall_time == 5.0
    assert event.origin.session == origin.session
    assert decode(first) == origin
    assert all(layout.parse(payload) == [] for payload in [first, *others])


def test_a_resumed_writer_tells_tensorboard_where():
    """DESIGN, restart: two STARTs, the last possible step and N; a rotated file has the first only."""
    layout = FORMATS.get("tensorboard")()
    logs = [message("tensorboard.Event").FromString(payload) for payload in layout.opening(ORIGIN, 1.0)[1:]]
    assert [event.step for event in logs] == [2**63 - 1]
    first_file = Origin(ORIGIN.session, 0, ORIGIN.process, 100)
    logs = [message("tensorboard.Event").FromString(payload) for payload in layout.opening(first_file, 1.0)[1:]]
    assert [(event.session_log.status, event.step) for event in logs] == [(1, 2**63 - 1), (1, 100)]


@given(st.binary(max_size=200))
def test_origin_of_garbage_is_none_or_whole(data):
    found = decode(data)
    assert found is None or isinstance(found.process.pid, int)
