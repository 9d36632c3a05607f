"""The batch encoder equals the plain one byte for byte, and protobuf reads both."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from testkit.records import walk

from summarykit.formats import FORMATS, scalars
from summarykit.formats.proto.messages import message
from summarykit.formats.scalars import ScalarBatch, ScalarEncoder

TAGS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=80)
STEPS = st.integers(-(2**63), 2**63 - 1) | st.integers(0, 300)
VALUES = st.floats(width=64) | st.floats(width=32) | st.integers(-(2**40), 2**40).map(float)
ROWS = st.tuples(st.integers(0, 9), STEPS, st.floats(allow_nan=False, allow_infinity=False), VALUES)


def batch(rows, tags):
    return ScalarBatch(
        [tags[row[0] % len(tags)] for row in rows],
        np.array([row[1] for row in rows], np.int64),
        np.array([row[2] for row in rows], np.float64),
        np.array([row[3] for row in rows], np.float64),
    )


@given(st.lists(ROWS, min_size=scalars.FEW, max_size=120), st.lists(TAGS, min_size=1, max_size=10, unique=True))
def test_matrix_equals_one_by_one(rows, tags):
    some = batch(rows, tags)
    for number_field, by_matrix in zip((3, 2, 5), ScalarEncoder([3, 2, 5]).encode(some), strict=True):
        (plainly,) = scalars.one_by_one([number_field], some)
        assert b"".join(by_matrix.data) == b"".join(plainly.data)
        assert by_matrix.ends.tolist() == plainly.ends.tolist()


@given(
    st.lists(ROWS, min_size=1, max_size=60),
    st.lists(TAGS, min_size=1, max_size=5, unique=True),
    st.sampled_from(["mindspore", "tensorboard"]),
)
def test_protobuf_reads_what_was_meant(rows, tags, name):
    some = batch(rows, tags)
    (chunk,) = ScalarEncoder([FORMATS.get(name).scalar_field]).encode(some)
    event_class = message("mindspore.irpb.Event" if name == "mindspore" else "tensorboard.Event")
    events = [event_class.FromString(payload) for payload in payloads_of(b"".join(chunk.data))]
    assert [event.step for event in events] == some.steps.tolist()
    assert [event.wall_time for event in events] == some.wall_times.tolist()
    values = [event.summary.value[0] for event in events]
    assert [value.tag for value in values] == list(some.tags)
    for value, exact in zip(values, some.values.tolist(), strict=True):
        single = value.scalar_value if name == "mindspore" else value.simple_value
        with np.errstate(over="ignore"):
            assert same(single, float(np.float32(exact)))
        assert same(value.exact_value if value.HasField("exact_value") else single, exact)
        assert value.HasField("exact_value") == (not same(single, exact))


def payloads_of(data):
    return [payload for _, payload in walk(data)]


def same(one, other):
    return one == other or (math.isnan(one) and math.isnan(other))


def test_new_tags_join_known_ones():
    """A later batch with more and longer tags widens the templates; those of the first stay right."""
    encoder = ScalarEncoder([3])
    for count in (1, 3, 40):
        tags = ["t" * (1 + 4 * place) for place in range(count)]
        some = batch([(place, 1000 + place, 1.5, 0.1 * place) for place in range(64)], tags)
        assert b"".join(encoder.encode(some)[0].data) == b"".join(scalars.one_by_one([3], some)[0].data)


def test_a_very_long_tag_is_encoded_alone():
    tags = ["x" * 5000, "y"]
    some = batch([(place, place, 0.0, 1.0) for place in range(50)], tags)
    (chunk,) = ScalarEncoder([2]).encode(some)
    assert len(payloads_of(b"".join(chunk.data))) == 50


def test_an_empty_batch_is_nothing():
    assert [chunk.nbytes for chunk in ScalarEncoder([2, 3]).encode(batch([], ["a"]))] == [0, 0]


def test_fi9_bytes_per_event():
    """FI9: at most 60 bytes an event for a tag of ordinary length, and 10 more where float64 is needed."""
    tags = ["train/loss"]
    (single,) = ScalarEncoder([2]).encode(batch([(0, 1000, 1.7e9, 0.5)] * 100, tags))
    (double,) = ScalarEncoder([2]).encode(batch([(0, 1000, 1.7e9, 0.1)] * 100, tags))
    assert single.nbytes <= 60 * 100
    assert double.nbytes == single.nbytes + 10 * 100
