"""TensorBoard's messages as points: our own layout exactly, torch's and TensorFlow's ways beside it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from testkit import building

from summarykit.formats import FORMATS
from summarykit.formats.narrow import widen
from summarykit.formats.origin import decode
from summarykit.formats.proto.messages import message
from summarykit.formats.tensorboard.parse import parse
from summarykit.formats.tensorboard.tensors import DTYPES
from summarykit.shapes import BLOB_CLASS, TENSOR_CLASS, Blob, Histogram, Image, Point, Scalar, Tensor

ml_dtypes = pytest.importorskip("ml_dtypes")
PLAIN = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"]
NUMBER = {name: number for number, name in reversed(DTYPES.items())}


def back(point: Point) -> Point:
    (found,) = parse(b"".join(map(bytes, FORMATS.get("tensorboard")().payload(point))))
    assert (found.kind, found.tag, found.step, found.wall_time) == (point.kind, point.tag, point.step, point.wall_time)
    return found


def event(*values: object, **fields: object) -> bytes:
    summary = message("tensorboard.Summary")(value=list(values))
    return message("tensorboard.Event")(wall_time=1.0, step=3, summary=summary, **fields).SerializeToString()


def value(plugin: str | None = None, content: bytes = b"", tag: str = "t", dtype: str | None = None, dims=(), **fields: object):
    made = message("tensorboard.Summary.Value")(tag=tag)
    if dtype is not None:
        shape = {"dim": [{"size": size} for size in dims]}
        made.tensor.CopyFrom(message("tensorboard.TensorProto")(dtype=NUMBER[dtype], tensor_shape=shape, **fields))
    if plugin is not None:
        made.metadata.plugin_data.plugin_name = plugin
        made.metadata.plugin_data.content = content
    return made


def only(*args: object, **fields: object) -> Point:
    (point,) = parse(event(value(*args, **fields)))
    return point


@given(st.text(), st.integers(-(2**63), 2**63 - 1), st.floats())
def test_scalars_come_back_exactly(tag, step, number):
    assert back(Point("scalar", tag, step, 1.5, Scalar(number))).value.value == pytest.approx(number, abs=0, rel=0, nan_ok=True)


@given(st.sampled_from(PLAIN).flatmap(lambda name: hnp.arrays(name, hnp.array_shapes(min_dims=0, min_side=0, max_side=4))))
def test_tensors_come_back_exactly(array):
    found = back(Point("tensor", "t", 1, 1.0, Tensor(array, array.dtype.name))).value
    assert (found.data.dtype, found.data.shape, found.dtype) == (array.dtype, array.shape, array.dtype.name)
    np.testing.assert_array_equal(found.data, array)


def test_histograms_come_back_exactly():
    shape = Histogram(np.array([-1.0, 0.5, 2.0]), np.array([3, 4]), 1, 2, 3, -1.0, 2.0, 5.5, 7.25)
    found = back(Point("histogram", "h", 1, 1.0, shape)).value
    np.testing.assert_array_equal(found.edges, shape.edges)
    np.testing.assert_array_equal(found.counts, shape.counts)
    assert (found.nan, found.pos_inf, found.neg_inf, found.min, found.max, found.sum, found.sum_squares) == (1, 2, 3, -1.0, 2.0, 5.5, 7.25)


def test_a_foreign_histogram_ends_at_its_smallest_and_largest_value():
    made = message("tensorboard.Summary.Value")(tag="h")
    made.histo.CopyFrom(message("tensorboard.HistogramProto")(
        min=0.2, max=2.5, num=6, sum=1, sum_squares=2, bucket_limit=[0, 1, 2, 3, 1e308], bucket=[0, 3, 2, 1, 0]
    ))  # fmt: skip
    (point,) = parse(event(made))
    assert point.value.edges.tolist() == [0.2, 1, 2, 2.5]
    assert point.value.counts.tolist() == [3, 2, 1]


def test_images_come_back():
    shape = Image(4, 6, 3, b"\x89PNG bytes")
    assert back(Point("image", "i", 1, 1.0, shape)).value == shape


def test_tensorflow_2_scalars_are_tensors():
    assert only("scalars", dtype="float32", float_val=[2.5]) == Point("scalar", "t", 3, 1.0, Scalar(2.5))
    assert only("scalars", dtype="float64", tensor_content=np.float64(0.1).tobytes()).value == Scalar(0.1)
    assert only("scalars", dtype="int64", int64_val=[7]).value == Scalar(7.0)
    assert only("scalars", dtype="float16", half_val=[0x3E00]).value == Scalar(1.5)


def test_tensorflow_2_histograms_are_rows_of_left_right_count():
    rows = np.array([[0, 1, 3], [1, 2, 5]], "f8")
    found = only("histograms", dtype="float64", dims=(2, 3), tensor_content=rows.tobytes())
    assert (found.kind, found.value.edges.tolist(), found.value.counts.tolist()) == ("histogram", [0, 1, 2], [3, 5])
    assert only("histograms", dtype="float64", dims=(0, 3)).value.count == 0


def test_tensorflow_2_images_are_strings():
    png = b"\x89PNG\r\n\x1a\n" + bytes(17) + b"\x06" + bytes(10)
    assert only("images", dtype="string", dims=(3,), string_val=[b"5", b"4", png]).value == Image(4, 5, 4, png)
    several = only("images", dtype="string", dims=(4,), string_val=[b"5", b"4", png, png])
    assert (several.kind, several.value.data.tolist()) == ("image", [b"5", b"4", png, png])


def test_text_and_tables_of_text_are_values_of_their_plugin():
    text = only("text", b"meta", dtype="string", string_val=[b"words"]).value
    assert (text.plugin, text.data.tolist(), text.metadata, text.data_class) == ("text", b"words", b"meta", TENSOR_CLASS)
    table = only("text", dtype="string", dims=(1, 2), string_val=[b"a", b"b"])
    assert (table.kind, table.value.data.tolist()) == ("text", [[b"a", b"b"]])


def test_another_plugin_gives_its_name():
    assert only("pr_curves", dtype="float32", dims=(1, 2), float_val=[1, 2]).kind == "pr_curve"
    hparams = only("hparams", b"experiment")
    assert (hparams.kind, hparams.value.plugin, hparams.value.metadata, hparams.value.data.size) == ("hparams", "hparams", b"experiment", 0)
    assert only(dtype="float32", dims=(2,), float_val=[1, 2]).kind == "tensor"


def test_the_first_metadata_of_a_tag_holds_for_its_later_values():
    plugins: dict[str, tuple[str, bytes]] = {}
    parse(event(value("scalars", b"x", dtype="float32", float_val=[1])), plugins)
    (point,) = parse(event(value(dtype="float32", float_val=[2])), plugins)
    assert (point.kind, point.value) == ("scalar", Scalar(2.0))
    (point,) = parse(event(value("pr_curves", dtype="float32", float_val=[3])), plugins)
    assert point.kind == "pr_curve"
    (point,) = parse(event(value(dtype="float32", float_val=[2])), plugins)
    assert point.kind == "scalar"


@pytest.mark.parametrize(("name", "field", "given_", "expected"), [
    ("int8", "int_val", [-3, 4], [-3, 4]),
    ("uint32", "uint32_val", [2**32 - 1, 0], [2**32 - 1, 0]),
    ("uint64", "uint64_val", [2**64 - 1, 0], [2**64 - 1, 0]),
    ("bool", "bool_val", [True, False], [True, False]),
    ("complex64", "scomplex_val", [1, 2, 3, 4], [1 + 2j, 3 + 4j]),
    ("complex128", "dcomplex_val", [1, 2, 3, 4], [1 + 2j, 3 + 4j]),
    ("bfloat16", "half_val", [0x3FC0, 0xC000], [1.5, -2.0]),
    ("float8_e5m2", "float8_val", b"\x3e\xc0", [1.5, -2.0]),
    ("float32", "float_val", [5], [5, 5]),
])  # fmt: skip
def test_every_field_of_a_tensor_is_read(name, field, given_, expected):
    found = only("tensor", dtype=name, dims=(2,), **{field: given_}).value
    assert found.data.tolist() == expected
    assert found.dtype == name


@pytest.mark.parametrize("dims", [(2**40,), (-1,), (3, 2**31, 2**31)])
def test_a_shape_that_one_value_cannot_fill_is_not_believed(dims):
    assert only("tensor", dtype="float32", dims=dims, float_val=[1.0]).value.data.shape == (1,)


@pytest.mark.parametrize("name", ["bfloat16", "float8_e5m2", "float8_e4m3fn", "int4", "uint4"])
def test_narrow_dtypes_are_widened_exactly(name):
    bits = np.arange(1 << (16 if name == "bfloat16" else 4 if "int" in name else 8)).astype("u2" if name == "bfloat16" else "u1")
    expected = bits.view(ml_dtypes.bfloat16) if name == "bfloat16" else bits.view(getattr(ml_dtypes, name))
    with np.errstate(invalid="ignore"):    # signalling NaN
        np.testing.assert_array_equal(widen(bits.tobytes(), name).astype("f8"), expected.astype("f8"))


def test_audio_of_the_old_form_comes_in_the_new_one():
    made = message("tensorboard.Summary.Value")(tag="a")
    made.audio.encoded_audio_string = b"RIFF"
    made.audio.content_type = "audio/wav"
    (point,) = parse(event(made))
    assert (point.kind, point.value.data.tolist()) == ("audio", [[b"RIFF", b""]])
    assert (point.value.metadata, point.value.data_class) == (b"\x10\x0b", BLOB_CLASS)


def test_a_graph_that_is_none_is_a_blob():
    (point,) = parse(message("tensorboard.Event")(graph_def=b"graph").SerializeToString())
    assert (point.kind, point.value) == ("graph", Blob("graph", b"graph"))


def test_the_origin_is_read():
    first = building.opening("tensorboard", "b" * 32, 1, rank=2)[0]
    assert (decode(first).session, decode(first).segment, decode(first).resume_step, decode(first).rank) == ("b" * 32, 1, None, 2)
    assert decode(building.opening("tensorboard")[0]) is None
