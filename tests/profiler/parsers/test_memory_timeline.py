"""Torch's memory timeline: what was allocated when, and what for."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from summarykit.profiler.analysis import analyse
from summarykit.profiler.parsers import memory_timeline, read


@pytest.mark.shared
def test_a_public_file_is_read_to_the_last_row(shared: Path):
    path = shared / "data/profiler/kineto/hta_memory/memory_timeline.raw.gz"
    rows = json.loads(gzip.decompress(path.read_bytes()))
    found = read(path)[0]
    table = found.tables["memory"]
    assert table.rows == len(rows) == 16845
    assert not found.skipped
    assert table["allocated"][-1] == sum(row[2] for row in rows)
    gradients = table["bytes"][table["category"] == "gradient"]
    assert gradients.sum() == sum(row[2] for row in rows if row[3] == 5)
    assert analyse(found).profiles[0].memory["peak"][0] == table["allocated"].max()


ROWS = st.tuples(st.integers(-1, 50), st.integers(1, 4), st.integers(-99, 99), st.integers(0, 7))


@given(st.lists(ROWS, min_size=1, max_size=40), st.data())
@settings(max_examples=40)
def test_totals_and_cuts(tmp_path_factory, rows, data):
    path = tmp_path_factory.mktemp("memory") / "m.raw.json"
    text = json.dumps(rows, indent=data.draw(st.sampled_from([None, 1])))
    path.write_text(text)
    assert memory_timeline.sniff(path)
    table = memory_timeline.parse(path)[0].tables["memory"]
    assert table["allocated"][-1] == sum(row[2] for row in rows)
    assert (np.diff(table["time"]) >= 0).all()
    path.write_text(text[: data.draw(st.integers(0, len(text)))])
    str(analyse(memory_timeline.parse(path)))


def test_other_arrays_are_not_taken_for_one(tmp_path):
    for text in ("[[1, 2, 3]]", '[{"ph": "X"}]', "[]", "", "[[1, 9, 3, 4]]"):
        (tmp_path / "t").write_text(text)
        assert not memory_timeline.sniff(tmp_path / "t")
