"""The two files of one writer: each point once, and what one lost comes from the other."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from testkit import building
from testkit.building import heavy, scalar

from summarykit.reading import Run
from summarykit.shapes import Image
from summarykit.summary import SummaryWriter

SESSION = "a" * 32
IMAGES = [heavy("image", "im", step, Image(1, 1, 3, b"%d" % step)) for step in range(5)]
POINTS = [scalar("loss", step, step) for step in range(50)] + IMAGES


def offsets(path) -> list[int]:
    """Where the records of a sound file begin."""
    data, found, at = path.read_bytes(), [], 0
    while at < len(data):
        found.append(at)
        at += struct.unpack_from("<Q", data, at)[0] + 16
    return found


def break_record(path, number: int) -> None:
    data = bytearray(path.read_bytes())
    data[offsets(path)[number] + 12] ^= 0xFF
    path.write_bytes(data)


def steps(directory, *, raw: bool = False) -> list[int]:
    return Run(directory, raw=raw).scalars("loss").step.tolist()


def test_every_point_comes_once(tmp_path):
    building.twins(tmp_path, POINTS, session=SESSION)
    for raw in (True, False):
        run = Run(tmp_path, raw=raw)
        assert run.scalars("loss").step.tolist() == list(range(50))
        assert len(run.images("im")) == 5
    assert [file.records for file in run.files] == [56, 57]


@pytest.mark.parametrize("form", ["mindspore", "tensorboard"])
def test_what_one_file_lost_comes_from_the_other(tmp_path, form):
    paths = dict(zip(("mindspore", "tensorboard"), building.twins(tmp_path, POINTS, session=SESSION), strict=True))
    break_record(paths[form], 20)
    assert steps(tmp_path) == list(range(50))
    assert Run(tmp_path).damage == []
    assert [len(file.damage) for file in Run(tmp_path).files] == [int(form == "mindspore"), int(form == "tensorboard")]


@pytest.mark.parametrize("opening", [0, 1])
def test_different_losses_in_both_are_no_loss(tmp_path, opening):
    first, second = building.twins(tmp_path, POINTS, session=SESSION)
    break_record(first, 20)
    break_record(second, 30 + opening)
    assert steps(tmp_path) == list(range(50))
    assert steps(tmp_path, raw=True) == list(range(50))
    assert Run(tmp_path).damage == []


def test_a_loss_in_both_is_told(tmp_path):
    first, second = building.twins(tmp_path, POINTS, session=SESSION)
    break_record(first, 20)
    break_record(second, 21)    # it has one record more in front
    assert steps(tmp_path) == [step for step in range(50) if step != 19]
    assert len(Run(tmp_path).damage) == 2


def test_a_loss_of_what_one_format_alone_has_is_told(tmp_path):
    """Text stands in TensorBoard's file only: that MindSpore's is sound does not make it good."""
    with SummaryWriter(tmp_path, formats=("mindspore", "tensorboard")) as writer:
        for step in range(20):
            writer.add_scalar("loss", 0.5, step)
            writer.add_text("note", f"text number {step:05d}", step)
    (path,) = tmp_path.glob("*tfevents*")
    content = bytearray(path.read_bytes())
    content[content.index(b"text number 00007")] ^= 0xFF
    path.write_bytes(content)
    run = Run(tmp_path)
    assert (len(run.points("text", "note")), len(run.scalars("loss"))) == (19, 20)
    assert [damage.records for damage in run.damage] == [1]


def test_a_torn_file_is_completed_by_its_twin(tmp_path):
    first, _ = building.twins(tmp_path, POINTS, session=SESSION)
    data = first.read_bytes()
    first.write_bytes(data[: len(data) // 2])
    assert steps(tmp_path) == list(range(50))
    assert len(Run(tmp_path).images("im")) == 5


def test_a_twin_without_its_opening_still_belongs(tmp_path):
    first, _ = building.twins(tmp_path, POINTS, session=SESSION)
    break_record(first, 0)
    assert steps(tmp_path, raw=True) == list(range(50))


def test_files_of_others_are_no_twins(tmp_path):
    building.write(tmp_path / "events.out.tfevents.1700000000.host.1.0", building.payloads("tensorboard", [scalar("loss", 1, 1)]))
    building.write(tmp_path / "events.out.events.summary.1700000000.0.host_MS", building.payloads("mindspore", [scalar("loss", 1, 2)]))
    assert len(Run(tmp_path, raw=True).scalars("loss")) == 2


@given(st.lists(st.integers(0, 4), max_size=40), st.sets(st.integers(0, 40)), st.sets(st.integers(0, 40)))
@settings(max_examples=60)
def test_the_union_is_whole_where_no_record_is_lost_twice(tmp_path_factory, series, one, other):
    """Steps repeat, so this is about occurrences as well."""
    directory = tmp_path_factory.mktemp("twins")
    first, second = building.twins(directory, [scalar("loss", step, step, float(at)) for at, step in enumerate(series)], session=SESSION)
    one, other = {number for number in one if number < len(series)}, {number for number in other - one if number < len(series)}
    for number in one:
        break_record(first, 1 + number)
    for number in other if not one or not other else ():
        break_record(second, 2 + number)
    if series:
        assert Run(directory, raw=True).scalars("loss").step.tolist() == series
        assert Run(directory).damage == []
