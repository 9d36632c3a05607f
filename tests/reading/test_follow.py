"""Following files that are being written: every point once, none before it is whole."""

from __future__ import annotations

import os
import sys
from itertools import islice

import pytest
from testkit import building
from testkit.building import heavy, scalar

from summarykit.reading import Run
from summarykit.shapes import Image

SESSION = "a" * 32
FORMS = ["mindspore", "tensorboard"]


class Stop:
    """Lets something happen before each look; ends after the last."""

    def __init__(self, *actions) -> None:
        self.actions = list(actions)

    def __call__(self) -> bool:
        if self.actions:
            self.actions.pop(0)()
        return not self.actions


def seen(directory, stop, **options) -> list[tuple[str, int]]:
    return [(point.tag, point.step) for point in Run(directory).follow(interval=0, stop=stop, **options)]


def test_what_is_there_comes_first(tmp_path):
    building.twins(tmp_path, [scalar("loss", 1, 1), heavy("image", "im", 1, Image(1, 1, 3, b"x")), scalar("loss", 2, 2)], session=SESSION)
    found = list(Run(tmp_path).follow(stop=lambda: True))
    assert [(point.kind, point.step) for point in found] == [("scalar", 1), ("image", 1), ("scalar", 2)]
    assert found[1].value.encoded == b"x"


def test_only_what_is_new(tmp_path):
    building.file(tmp_path, "tensorboard", [scalar("loss", 1, 1)])

    def add():
        building.file(tmp_path, "tensorboard", [scalar("loss", 1, 1), scalar("loss", 2, 2)])

    assert seen(tmp_path, Stop(lambda: None, add), existing=False) == [("loss", 2)]


@pytest.mark.parametrize("form", FORMS)
def test_a_torn_record_is_given_once_it_is_whole(tmp_path, form):
    path = building.file(tmp_path, form, [scalar("loss", step, step) for step in range(5)])
    data = path.read_bytes()
    path.write_bytes(b"")
    grow = [lambda end=end: path.write_bytes(data[:end]) for end in range(0, len(data) + 1, 7)]
    assert seen(tmp_path, Stop(*grow, lambda: path.write_bytes(data))) == [("loss", step) for step in range(5)]


def test_new_files_are_found(tmp_path):
    def first():
        building.twins(tmp_path, [scalar("loss", 1, 1)], session=SESSION)

    def second():
        building.twins(tmp_path, [scalar("loss", 2, 1)], session=SESSION, segment=1, stamp=1700000001)

    assert seen(tmp_path, Stop(first, second)) == [("loss", 1), ("loss", 2)]


@pytest.mark.parametrize("leader", FORMS)
def test_twins_that_grow_at_different_times_give_each_point_once(tmp_path, leader):
    follower = next(form for form in FORMS if form != leader)
    points = [scalar(tag, step % 3, step) for step in range(12) for tag in ("a", "b")]    # steps repeat

    def to(form, count):
        return lambda: building.file(tmp_path, form, points[:count], session=SESSION)

    stop = Stop(to(leader, 5), to(follower, 3), to(leader, 11), to(follower, 20), to(leader, 24), to(follower, 24))
    assert sorted(seen(tmp_path, stop)) == sorted((point.tag, point.step) for point in points)


def test_a_record_that_is_lost_in_one_twin_comes_from_the_other(tmp_path):
    first, _ = building.twins(tmp_path, [scalar("loss", step, step) for step in range(9)], session=SESSION)
    data = bytearray(first.read_bytes())
    data[-30] ^= 0xFF
    first.write_bytes(data)
    assert sorted(seen(tmp_path, lambda: True)) == [("loss", step) for step in range(9)]


def test_the_interval_must_not_be_negative(tmp_path):
    with pytest.raises(ValueError, match="interval"):
        Run(tmp_path).follow(interval=-1)


WRITER = """
import os, sys, time
data = open(sys.argv[1], "rb").read()
with open(sys.argv[2], "ab", buffering=0) as file:
    for start in range(0, len(data), 37):
        file.write(data[start:start + 37])
        time.sleep(0.0005)
"""


def test_another_process_that_writes(tmp_path, start_script):
    """Pieces of 37 bytes: the reader sees records torn at every place, and gives out whole ones only."""
    whole = building.file(tmp_path / "whole", "tensorboard", [scalar("loss", step, step * 0.1) for step in range(300)])
    directory = tmp_path / "run"
    directory.mkdir()
    _, process = start_script(WRITER, whole, directory / whole.name)
    points = list(islice(Run(directory).follow(interval=0.001, stop=lambda: process.poll() is not None), 300))
    assert [(point.step, point.value.value) for point in points] == [(step, step * 0.1) for step in range(300)]
    assert os.path.getsize(directory / whole.name) == os.path.getsize(whole)
    assert sys.platform == "linux"
