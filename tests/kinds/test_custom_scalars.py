"""Layouts of charts."""

from __future__ import annotations

import pytest

from summarykit.errors import RefusedValueError
from summarykit.formats import wire
from summarykit.kinds.custom_scalars import CUSTOM_SCALARS


def test_a_layout_is_tensorboards_message():
    layout = {"loss": {"both": ["Multiline", ["train", "test"]], "band": ["Margin", ("mean", "low", "high")]}}
    group = CUSTOM_SCALARS.reduce(CUSTOM_SCALARS.snapshot(layout))
    ((ending, shape),) = group.parts
    assert (group.tag, ending, shape.plugin, shape.data.shape) == ("custom_scalars__config__", "", "custom_scalars", ())
    ((_, category),) = wire.fields(shape.data.item())
    (_, title), (_, lines), (_, band) = wire.fields(category)
    assert title == b"loss"
    assert wire.fields(lines) == [(1, b"both"), (2, wire.text(1, "train") + wire.text(1, "test"))]
    series = wire.text(1, "mean") + wire.text(2, "low") + wire.text(3, "high")
    assert wire.fields(band) == [(1, b"band"), (3, wire.data(1, series))]


def test_half_a_surrogate_pair_costs_nothing_else():
    group = CUSTOM_SCALARS.reduce(CUSTOM_SCALARS.snapshot({"\ud800": {"t": ["Multiline", ["a\udfff"]]}}))
    assert b"a?" in group.parts[0][1].data.item()


@pytest.mark.parametrize(("layout", "message"), [
    (5, "a layout"),
    ({"c": 5}, "category 'c'"),
    ({"c": {"t": 5}}, "chart 't'"),
    ({"c": {"t": ["Multiline"]}}, "chart 't'"),
    ({"c": {"t": ["Multiline", 5]}}, "chart 't'"),
    ({"c": {"t": ["Lines", ["a"]]}}, "'Lines'"),
    ({"c": {"t": ["Margin", ["a", "b"]]}}, "got 2"),
])  # fmt: skip
def test_what_is_no_layout_is_refused(layout, message):
    with pytest.raises(RefusedValueError, match=message):
        CUSTOM_SCALARS.snapshot(layout)
