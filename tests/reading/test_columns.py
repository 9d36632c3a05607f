"""What columns and the walk by hand find is what protobuf finds, whatever the order of fields and whoever wrote them."""

from __future__ import annotations

import random
import struct
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from testkit import building

from summarykit.formats import wire
from summarykit.formats.mindspore import parse as mindspore
from summarykit.formats.tensorboard import parse as tensorboard
from summarykit.reading import Run
from summarykit.reading.source import Source
from summarykit.shapes import Histogram, Image, Point, Scalar, Tensor

PARSERS = {"mindspore": mindspore.parse, "tensorboard": tensorboard.parse}
NAMES = {"mindspore": "events.out.events.summary.1700000000.0.host_MS", "tensorboard": "events.out.tfevents.1700000000.host.1.0"}


def plain(point: Point) -> tuple[object, ...]:
    """A point as a value that equals itself, NaN included."""
    shape = point.value
    content = repr(shape.value) if isinstance(shape, Scalar) else repr(shape)
    return point.kind, point.tag, point.step, repr(point.wall_time), content


def by_protobuf(form: str, payloads: list[bytes]) -> Counter[tuple[object, ...]]:
    plugins: dict[str, tuple[str, bytes]] = {}
    more = (plugins,) if form == "tensorboard" else ()
    for payload in payloads:    # the reader, who sees a whole file, knows the plugins before it decides
        PARSERS[form](payload, *more)
    return Counter(plain(point) for payload in payloads for point in PARSERS[form](payload, *more))


def by_reader(path: Path) -> Counter[tuple[object, ...]]:
    run = Run(path, raw=True)
    found = Counter(plain(point) for kind, tags in run.tags().items() for tag in tags for point in run.points(kind, tag))
    assert not run.damage
    return found


def agree(directory: Path, form: str, payloads: list[bytes]) -> None:
    path = building.write(directory / NAMES[form], payloads)
    assert by_reader(path) == by_protobuf(form, payloads)


STEPS = st.sampled_from([None, 0, 1, 127, 128, 300, 2**40, -1, -(2**63), 2**63 - 1])
TAGS = st.sampled_from(["a", "b", "ab", "loss", "训练", "", "x" * 300])
DOUBLES = st.sampled_from([0.0, 1.5, float("nan"), float("inf"), 0.1, 1e300])


@st.composite
def values(draw, form: str) -> bytes:
    """A ``Summary.Value``: a scalar mostly, its fields in any order, now and then twice or with a field that nobody knows."""
    number = 3 if form == "mindspore" else 2
    tag = draw(TAGS)
    value = draw(DOUBLES)
    parts = [wire.text(1, tag), wire.single(number, value)]
    if draw(st.booleans()):
        parts.append(wire.double(1000, value))
    odd = [wire.integer(77, 5)], [wire.text(1, "later")], [wire.single(number, 2.0)], [wire.text(7, "node")]
    parts += draw(st.sampled_from([[], [], [], *odd]))
    return b"".join(draw(st.permutations(parts)))


@st.composite
def tensorflow_values(draw) -> bytes:
    """Scalars as tensors, with the plugin told or not."""
    value = draw(DOUBLES)
    number = draw(st.sampled_from([
        wire.integer(1, 1) + wire.single(5, value), wire.integer(1, 1) + wire.data(5, struct.pack("<f", np.float32(min(value, 1e30)))),
        wire.integer(1, 2) + wire.double(6, value), wire.integer(1, 2) + wire.data(4, struct.pack("<d", value)),
        wire.integer(1, 9) + wire.data(10, b"\x07"), wire.integer(1, 1) + wire.data(4, struct.pack("<f", 2.5)),
        wire.integer(1, 1) + wire.data(5, struct.pack("<2f", 1.0, 2.0)), wire.integer(1, 1) + wire.integer(3, 1) + wire.single(5, 4.0),
    ]))  # fmt: skip
    metadata = [wire.data(9, wire.data(1, wire.text(1, draw(st.sampled_from(["scalars", "scalars", "text"])))))]
    parts = [wire.text(1, draw(TAGS)), wire.data(8, number), *draw(st.sampled_from([metadata, metadata, []]))]
    return b"".join(draw(st.permutations(parts)))


@st.composite
def events(draw, form: str) -> list[bytes]:
    """Payloads, many of them alike, so that columns as well as the walk have something to do."""
    kinds = [values(form)] if form == "mindspore" else [values(form), values(form), tensorflow_values()]
    shapes = []
    for _ in range(draw(st.integers(1, 5))):
        found = [wire.data(1, value) for value in draw(st.lists(st.one_of(kinds), min_size=1, max_size=3))]
        step = draw(STEPS)
        parts = [wire.double(1, draw(DOUBLES)), wire.data(5, b"".join(found))]
        if step is not None:
            parts.append(wire.integer(2, step))
        shapes.append(b"".join(draw(st.permutations(parts))))
    seed = draw(st.integers(0, 1000))
    return random.Random(seed).choices(shapes, k=draw(st.integers(1, 60)))


@pytest.mark.parametrize("form", PARSERS)
@given(st.data())
@settings(max_examples=150)
def test_any_order_of_fields(tmp_path_factory, form, data):
    agree(tmp_path_factory.mktemp("events"), form, data.draw(events(form)))


def points(seed: int = 0) -> list[Point]:
    """A run as it usually is: some tags at every step, values exact in float32 or not, histograms, images and tensors now and then."""
    rng = np.random.default_rng(seed)
    found = []
    for step in range(400):
        found += [building.scalar(tag, step, rng.normal()) for tag in ("loss", "lr", "acc/top1")]
        found.append(building.scalar("epoch", step, step // 100))
        if step % 20 == 0:
            counts = rng.integers(0, 1 << 20, 10)
            found.append(building.heavy("histogram", "w", step, Histogram(np.linspace(0, 1, 11), counts, max=1.0)))
            found.append(building.heavy("histogram", "w2", step, Histogram(np.linspace(0, 1, 11), counts, max=1.0)))
            found.append(building.heavy("image", "im", step, Image(2, 2, 3, rng.bytes(50 + step % 3))))
            found.append(building.heavy("tensor", "t", step, Tensor(rng.normal(size=(2, 3)), "float64")))
    return found


@pytest.mark.parametrize("form", PARSERS)
def test_our_own_layout(tmp_path, form):
    payloads = building.opening(form) + building.payloads(form, points())
    path = building.write(tmp_path / NAMES[form], payloads)
    assert by_reader(path) == by_protobuf(form, payloads)
    run = Run(path)
    assert len(run.scalars("loss")) == 400
    assert run.scalars("epoch").value.tolist() == [step // 100 for step in range(400)]


def test_torchs_layout_needs_no_walk(tmp_path, monkeypatch):
    """And neither do MindSpore's events of many values: a walk would be thirty times slower."""
    def torch(step: int) -> list[bytes]:
        values = [wire.text(1, tag) + wire.single(2, step) for tag in ("loss", "accuracy", "lr")]
        return [wire.double(1, 1.0) + wire.integer(2, step) + wire.data(5, wire.data(1, value)) for value in values]

    def many(step: int) -> bytes:
        values = b"".join(wire.data(1, wire.text(1, f"tag{number}") + wire.single(3, number)) for number in range(50))
        return wire.double(1, 1.0) + wire.integer(2, step) + wire.data(5, values)

    walked = []
    walk = Source._walk
    monkeypatch.setattr(Source, "_walk", lambda *args: walked.append(1) or walk(*args))
    first = building.write(tmp_path / "torch" / NAMES["tensorboard"], [each for step in range(1000) for each in torch(step)])
    second = building.write(tmp_path / "mindspore" / NAMES["mindspore"], [many(step) for step in range(1000)])
    assert [len(Run(first).scalars(tag)) for tag in ("loss", "accuracy", "lr")] == [1000] * 3
    assert len(Run(second).scalars("tag49")) == 1000
    assert len(walked) <= 12


def test_ten_thousand_tags(tmp_path):
    """TG5"""
    found = [building.scalar(f"layer{number}/norm", step, number) for step in range(10) for number in range(10_000)]
    run = Run(building.file(tmp_path, "tensorboard", found).parent)
    assert len(run.tags()["scalar"]) == 10_000
    assert run.scalars("layer9999/norm").step.tolist() == list(range(10))
    assert run.scalars("layer77/norm").value.tolist() == [77] * 10


def test_tags_that_are_no_utf8(tmp_path):
    broken = [wire.data(5, wire.data(1, wire.data(1, b"a\xff") + wire.single(2, 1.0))) + wire.integer(2, step) for step in range(10)]
    image = wire.data(5, wire.data(1, wire.data(1, b"b\xff") + wire.data(4, wire.data(4, b"png"))))
    run = Run(building.write(tmp_path / NAMES["tensorboard"], [*broken, image]))
    assert run.tags() == {"scalar": ["a\\xff"], "image": ["b\\xff"]}
    assert len(run.scalars("a\\xff")) == 10
    assert len(run.images("b\\xff")) == 1
    list(run.images("b\\xff"))


def test_records_that_are_no_events_are_reported(tmp_path):
    """Their checksums are right, so it is their writer's doing; the others are read."""
    good = building.payloads("tensorboard", [building.scalar("loss", step, step) for step in range(5)])
    run = Run(building.write(tmp_path / NAMES["tensorboard"], [*good, b"\xff\xff\xff", *good]))
    assert len(Run(run.path, raw=True).scalars("loss")) == 10
    assert [each.reason for each in run.damage] == ["not a readable event"]


@given(st.lists(st.binary(max_size=60), max_size=30))
@settings(max_examples=200)
def test_sound_frames_of_garbage_raise_nothing(tmp_path_factory, payloads):
    for form in PARSERS:
        run = Run(building.write(tmp_path_factory.mktemp("garbage") / NAMES[form], payloads), raw=True)
        for kind, tags in run.tags().items():
            for tag in tags:
                list(run.points(kind, tag))
        run.table()
