"""File names: one viewer each, whatever the host is called; stamps that only rise."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from summarykit.formats import names
from summarykit.formats.names import FileName, Stem

TRAPS = ["tfevents", "summary.7", "x_lineage", "a.pb", "_explain", "_MS", "events"]
AFFIXES = st.text("abzAZ09_.-", min_size=0, max_size=12) | st.sampled_from(TRAPS)
STEMS = st.builds(
    Stem, st.integers(0, 9_999_999_999), st.integers(0, 9999), st.text(max_size=20), st.integers(0, 2**22), st.integers(0, 2_000_000)
)


def for_mindinsight(name):
    return re.search(r"summary\.(\d+)", name) and not name.endswith(("_lineage", "_explain"))


@given(AFFIXES, AFFIXES, STEMS)
def test_each_name_matches_its_viewer_and_no_other(prefix, suffix, stem):
    try:
        names.check_affixes(prefix, suffix)
    except ValueError:
        return
    ours, theirs = names.mindspore(prefix, stem, suffix), names.tensorboard(prefix, stem)
    assert for_mindinsight(ours)
    assert re.search(r"summary\.(\d+)", ours)[1] == f"{stem.stamp:010d}"
    assert "tfevents" not in ours
    assert "tfevents" in theirs
    assert not for_mindinsight(theirs)


def test_a_name_has_room_in_any_file_system():
    longest = "x" * 64
    names.check_affixes(longest, longest)
    assert len(names.lineage(longest, Stem(9_999_999_999, 999_999, "h" * 64, 2**22, 10**6), longest)) <= 255
    for affixes in [("x" * 65, ""), ("events", "x" * 65)]:
        with pytest.raises(ValueError, match="has 65 characters: a file's name has room for 64"):
            names.check_affixes(*affixes)


def test_the_usual_names_would_pass_the_check_that_they_are_spared(monkeypatch):
    prefix, suffix = names.USUAL
    monkeypatch.setattr(names, "USUAL", None)
    names.check_affixes(prefix, suffix)


@given(STEMS)
def test_a_name_comes_apart_again(stem):
    first, second = names.parse(names.mindspore("events", stem, "_MS")), names.parse(names.tensorboard("events", stem))
    assert first is not None
    assert second is not None
    assert first.twin == second.twin
    assert first.stem.stamp == stem.stamp
    assert (first.stem.pid, first.stem.counter, first.stem.rank) == (stem.pid, stem.counter, stem.rank)
    assert (first.suffix, second.suffix) == ("_MS", "")


@pytest.mark.parametrize(
    "name",
    [
        "events.out.events.summary.1795982748.0.vm_MS",
        "events.out.tfevents.1795981202.vm.22883.0",
        "events.out.tfevents.1.0.h.1.000001",
        "model.pb",
        "",
    ],
)
def test_names_of_others_are_not_ours(name):
    assert names.parse(name) is None


@given(st.integers(0, 9_999_999_998), st.lists(st.integers(0, 9_999_999_998), max_size=5))
def test_stamps_only_rise(now, present):
    there = [names.mindspore("events", Stem(stamp, 0, "h", 1, 0), "_MS") for stamp in present]
    stamp = names.next_stamp(now, [*there, "unrelated.txt"])
    assert stamp >= now
    assert all(stamp > other for other in present)
    assert len(f"{stamp:010d}") == 10


def test_the_stamps_of_others_count_too():
    there = ["events.out.tfevents.1795981202.vm.22883.0", "events.out.events.summary.1795982748.0.vm_lineage"]
    assert names.next_stamp(5.0, there) == 1795982749


@pytest.mark.parametrize(
    ("prefix", "suffix"),
    [("", "_MS"), ("a/b", "_MS"), ("é", "_MS"), ("tfevents", "_MS"), ("x.tfevents.y", ""), ("summary.5", "_MS"), ("events", "_lineage"),
     ("events", "_explain"), ("events", ".pb"), ("events", "5"), ("events", ".tfevents")],
)  # fmt: skip
def test_affixes_that_a_viewer_would_misread_are_refused(prefix, suffix):
    with pytest.raises(ValueError, match=r"file_prefix|file_suffix"):
        names.check_affixes(prefix, suffix)


def test_wrong_types_are_named():
    with pytest.raises(TypeError, match="file_suffix must be a str, got None"):
        names.check_affixes("events", None)


def test_twins_share_what_they_should():
    stem = Stem(1_700_000_000, 1, "my host.example", 12, 3)
    cleaned = Stem(1_700_000_000, 1, "my-host-example", 12, 3)
    assert names.parse(names.tensorboard("run", stem)) == FileName("tensorboard", "run", cleaned, "")
