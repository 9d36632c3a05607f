"""MindSpore's messages as points: our own layout exactly, and what others put into the same fields."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from testkit import building

from summarykit.formats import FORMATS
from summarykit.formats.mindspore.dtypes import DTYPES
from summarykit.formats.mindspore.parse import parse, parse_lineage
from summarykit.formats.origin import decode
from summarykit.formats.proto.messages import message
from summarykit.kinds.histogram import HistogramKind
from summarykit.shapes import Blob, Graph, Histogram, Image, Point, Scalar, Tensor

PLAIN = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"]
HUGE = float(np.finfo("f8").max)
NUMBER = {name: number for number, name in DTYPES.items()}


def payload(point: Point) -> bytes:
    return b"".join(map(bytes, FORMATS.get("mindspore")().payload(point)))


def event_of(point: Point) -> Any:
    return message("mindspore.irpb.Event").FromString(payload(point))


def back(point: Point) -> Point:
    (found,) = parse(payload(point))
    assert (found.kind, found.tag, found.step, found.wall_time) == (point.kind, point.tag, point.step, point.wall_time)
    return found


def tensor(**fields: object) -> Tensor:
    value = message("mindspore.irpb.Summary.Value")(tag="t", tensor=message("mindspore.irpb.TensorProto")(**fields))
    event = message("mindspore.irpb.Event")(wall_time=1.0, summary=message("mindspore.irpb.Summary")(value=[value]))
    (point,) = parse(event.SerializeToString())
    assert point.kind == "tensor"
    return point.value


@given(st.text(), st.integers(-(2**63), 2**63 - 1), st.floats())
def test_scalars_come_back_exactly(tag, step, value):
    assert back(Point("scalar", tag, step, 1.5, Scalar(value))).value.value == pytest.approx(value, abs=0, rel=0, nan_ok=True)


@given(st.sampled_from(PLAIN).flatmap(lambda name: hnp.arrays(name, hnp.array_shapes(min_dims=0, min_side=0, max_side=4))))
def test_tensors_come_back_exactly(array):
    found = back(Point("tensor", "t", 1, 1.0, Tensor(array, array.dtype.name))).value
    assert (found.data.dtype, found.data.shape, found.dtype) == (array.dtype, array.shape, array.dtype.name)
    np.testing.assert_array_equal(found.data, array)


def test_a_recorded_dtype_that_numpy_lacks_keeps_its_name():
    found = back(Point("tensor", "t", 1, 1.0, Tensor(np.array([1.5, -2], "f4"), "bfloat16"))).value
    assert found.dtype == "bfloat16"
    assert found.data.tolist() == [1.5, -2]


def test_mindspore_puts_every_dtype_into_float_data():
    """VA: int64 values come back as integers, float32 as it is; what no longer fits the label stays as the floats that are there."""
    assert tensor(dims=[2], data_type=NUMBER["int64"], float_data=[1, -3]).data.tolist() == [1, -3]
    assert tensor(dims=[2], data_type=NUMBER["int64"], float_data=[1, -3]).data.dtype == np.int64
    assert tensor(dims=[2], data_type=NUMBER["bool"], float_data=[1, 0]).data.tolist() == [True, False]
    large = tensor(dims=[1], data_type=NUMBER["int32"], float_data=[2.0**31])
    assert large.data.tolist() == [2.0**31]
    assert large.dtype == "int32"


def test_the_native_typed_field_wins_over_floats():
    assert tensor(dims=[1], data_type=NUMBER["int64"], int64_data=[2**53 + 1], float_data=[0]).data.tolist() == [2**53 + 1]
    assert tensor(dims=[1], data_type=NUMBER["float64"], double_data=[1e300]).data.tolist() == [1e300]
    assert tensor(dims=[1], data_type=NUMBER["uint64"], uint64_data=[2**64 - 1]).data.tolist() == [2**64 - 1]
    assert tensor(dims=[2], data_type=NUMBER["int8"], int32_data=[-5, 7]).data.dtype == np.int8


def test_bfloat16_bytes_are_widened():
    assert tensor(dims=[2], data_type=NUMBER["bfloat16"], raw_data=b"\xc0\x3f\x00\xc0").data.tolist() == [1.5, -2.0]


@pytest.mark.parametrize("dims", [[3], [-2], [2, 2], [2**40, 2**40], [0], []])
def test_a_shape_that_does_not_fit_is_not_believed(dims):
    assert tensor(dims=dims, data_type=NUMBER["float32"], float_data=[1, 2]).data.shape == (2,)


@pytest.mark.parametrize("edges", [[-1.0, 0.5, 2.0], [-1.7e308, 0.0, 1.7e308], [-HUGE, HUGE], [1e308, 1.1e308, HUGE], [-1.0, 0.0, HUGE]])
def test_histograms_come_back_exactly(edges):
    counts = np.arange(3, 2 + len(edges))
    shape = Histogram(np.array(edges), counts, 1, 2, 3, edges[0], 2.0, 5.5, 7.25)
    found = back(Point("histogram", "h", 1, 1.0, shape)).value
    np.testing.assert_array_equal(found.edges, shape.edges)
    np.testing.assert_array_equal(found.counts, shape.counts)
    assert (found.nan, found.pos_inf, found.neg_inf) == (1, 2, 3)
    assert (found.min, found.max, found.sum, found.sum_squares) == (edges[0], 2.0, 5.5, 7.25)


@pytest.mark.parametrize("values", [[-1e308, 1e308], [0.0, 1.7e308], [HUGE, HUGE], [-HUGE, 0.0]])
def test_va12_mindinsight_gets_no_range_that_overflows(values):
    """Nor one that does so together with the range of another step of its tag: half the largest float is the most that it is shown."""
    shape = HistogramKind().reduce(HistogramKind().snapshot(np.array(values)))
    shown = event_of(Point("histogram", "h", 1, 1.0, shape)).summary.value[0].histogram
    assert (len(shown.buckets), shown.min, shown.max, shown.count) == (0, 0.0, 0.0, 2)


def test_an_empty_histogram_comes_back():
    found = back(Point("histogram", "h", 1, 1.0, Histogram(np.empty(0), np.empty(0, np.int64), nan=4))).value
    assert (len(found.edges), len(found.counts), found.count) == (0, 0, 4)


def test_buckets_are_sorted_by_their_left_edge():
    histogram = message("mindspore.irpb.Summary.Histogram")(
        buckets=[{"left": 1.0, "width": 1.0, "count": 5}, {"left": 0.0, "width": 1.0, "count": 3}], max=2.0, min=0.0
    )
    value = message("mindspore.irpb.Summary.Value")(tag="h", histogram=histogram)
    event = message("mindspore.irpb.Event")(summary=message("mindspore.irpb.Summary")(value=[value]))
    (point,) = parse(event.SerializeToString())
    assert point.value.edges.tolist() == [0.0, 1.0, 2.0]
    assert point.value.counts.tolist() == [3, 5]


def test_images_come_back():
    shape = Image(4, 6, 3, b"\x89PNG bytes")
    assert back(Point("image", "i", 1, 1.0, shape)).value == shape


def test_blobs_come_back_under_their_plugin():
    shape = Blob("text", "wörter".encode(), b"meta")
    assert back(Point("text", "note", 1, 1.0, shape)).value == shape


def test_graph_events_are_graphs():
    graph = message("mindspore.irpb.GraphProto")(name="net")
    (point,) = parse(message("mindspore.irpb.Event")(wall_time=2.0, graph_def=graph).SerializeToString())
    assert (point.kind, point.value) == ("graph", Graph((), "net"))


def test_a_lineage_event():
    lineage = message("mindspore.irpb.EvaluationLineage")(metric='{"accuracy": 0.5}')
    (point,) = parse_lineage(message("mindspore.irpb.LineageEvent")(evaluation_lineage=lineage).SerializeToString())
    assert (point.kind, point.tag) == ("lineage", "evaluation_lineage")
    assert point.value.values == {"metric": {"accuracy": 0.5}}


def test_the_origin_is_read():
    (payload,) = building.opening("mindspore", "a" * 32, 2, resume=0, rank=3)
    found = decode(payload)
    assert (found.session, found.segment, found.resume_step, found.rank, found.process) == ("a" * 32, 2, 0, 3, building.PROCESS)
    assert decode(building.opening("mindspore")[0]) is None
    assert decode(b"\xff\xff") is None
