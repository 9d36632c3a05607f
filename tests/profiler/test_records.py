"""The parser of our own records: exact where they are whole, and never an exception where they are not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from summarykit.profiler.keeping import Oldest
from summarykit.profiler.names import Names
from summarykit.profiler.parsers import read, records
from summarykit.profiler.recording import Category
from summarykit.profiler.store import Store
from summarykit.profiler.tape import Tape

times = st.integers(0, 2**62)
texts = st.text(max_size=20)


def blank() -> tuple[Tape, Names]:
    """A tape with names of its own: those of the process are what all tests left."""
    tape, names = Tape(), Names()
    tape.lists["names"] = names.entries
    return tape, names


def written(path: Path, tape: Tape) -> Path:
    """Write a tape as a window would."""
    path.mkdir()
    store = Store(tape, path, {"rank": 3, "started": {"perf": 100, "wall": 1100, "raw": 0}}, Oldest(path, 1 << 20, None))
    store.begin()
    store.drain()
    store.close({"ended": {}})
    return path


@given(spans=st.lists(st.tuples(texts, st.sampled_from(Category), st.integers(1, 2**48), times, times), max_size=30))
def test_spans_come_back_as_they_were(tmp_path_factory, spans):
    tape, names = blank()
    for text, category, thread, one, other in spans:
        tape.spans.add((names.number(text, category), thread, min(one, other), max(one, other)))
    (recording,) = records.parse(written(tmp_path_factory.mktemp("records") / "rank_3.profile", tape))
    found = recording.spans
    assert found.start.tolist() == [min(span[3:]) for span in spans]
    assert found.duration.tolist() == [max(span[3:]) - min(span[3:]) for span in spans]
    assert [found.names[number] for number in found.name] == [span[0] for span in spans]
    assert found.category.tolist() == [span[1] for span in spans]
    assert len(found.lanes) == len({span[2] for span in spans})
    assert (recording.rank, recording.clock_offset, recording.skipped) == (3, 1000, {})


@given(rows=st.lists(st.tuples(times, texts, st.floats(allow_nan=False)), max_size=30))
def test_counters_come_back_as_they_were(tmp_path_factory, rows):
    tape, names = blank()
    for time, text, value in rows:
        tape.counters.add((time, names.number(text), value))
    (recording,) = records.parse(written(tmp_path_factory.mktemp("records") / "rank_3.profile", tape))
    table = recording.tables.get("counters", {"time": np.empty(0), "counter": np.empty(0), "value": np.empty(0)})
    assert [tuple(row) for row in zip(*(table[name].tolist() for name in ("time", "counter", "value")), strict=True)] == rows


@pytest.fixture(scope="module")
def sample(tmp_path_factory) -> bytes:
    """The bytes of a recording with something of everything."""
    tape, names = blank()
    tape.lists["stacks"] = [(-1, names.number("main (a.py:1)", Category.PYTHON)), (0, names.number("step (a.py:9)", Category.PYTHON))]
    tape.lists["stages"] = [(1, "decode", 2, 4), (2, "read", 1, 0)]
    rows = {
        "samples": ({"time": "int", "lane": "lane", "stack": "int"}, [(10, 7, 0), (20, 7, 1)]),
        "pulls": (
            {"stage": "int", "parent": "int", "lane": "lane", "start": "int", "end": "int", "queued": "int"},
            [(2, 1, 8, 0, 10, 0), (1, -1, 7, 5, 15, 3)],
        ),
        "collectives": (
            {"sequence": "int", "group": "int", "operation": "name", "start": "int", "end": "int", "bytes": "int"},
            [(0, 0, names.number("all_reduce", Category.COMMUNICATION), 3, 9, 400)],
        ),
    }
    for table, (columns, values) in rows.items():
        for value in values:
            tape.table(table, columns).add(value)
    for step in range(1, 4):
        tape.steps.add((step, 100 * step, 100 * step + 10, 100 * step + 100))
        tape.spans.add((names.number("forward", Category.PHASE), 7, 100 * step + 20, 100 * step + 40))
        tape.spans.add((names.number("backward", Category.PHASE), 7, 100 * step + 40, 100 * step + 70))
    path = written(tmp_path_factory.mktemp("sample") / "rank_3.profile", tape)
    return (path / "000001.records").read_bytes()


def parsed(directory: Path, data: bytes):
    path = directory / "rank_3.profile"
    path.mkdir(exist_ok=True)
    (path / "000001.records").write_bytes(data)
    (recording,) = records.parse(path)
    return recording


def test_everything_comes_back(tmp_path, sample):
    recording = parsed(tmp_path, sample)
    tables = recording.tables
    assert tables["steps"]["fp_start"].tolist() == [120, 220, 320]
    assert tables["steps"]["bp_end"].tolist() == [170, 270, 370]
    assert tables["stacks"]["frame"].tolist() == ["main (a.py:1)", "step (a.py:9)"]
    assert tables["stacks"]["parent"].tolist() == [-1, 0]
    sampled = recording.spans.of(Category.PYTHON)
    assert [recording.spans.names[number] for number in recording.spans.name[sampled]] == ["main (a.py:1)", "step (a.py:9)"]
    pipeline = tables["pipeline"]
    assert pipeline["op_type"].tolist() == ["decode", "read"]
    assert pipeline["op_id"].tolist() == [0, 1]
    assert pipeline["parent"].tolist() == [-1, 0]
    assert pipeline["children"].tolist() == [[1], []]
    assert pipeline["sizes"].tolist() == [[3], None]
    assert {name: column.tolist() for name, column in tables["collectives"].items()} == {
        "sequence": [0], "group": [0], "operation": ["all_reduce"], "start": [3], "end": [9], "bytes": [400],
    }  # fmt: skip
    assert not recording.skipped
    assert recording.meta["complete"]


def test_cut_anywhere_what_is_whole_is_read(tmp_path, sample):
    most = parsed(tmp_path, sample)
    before = -1
    for length in range(0, len(sample), 23):
        recording = parsed(tmp_path, sample[:length])
        assert not recording.meta["complete"]
        assert set(recording.skipped) <= {"cut at the end of the file"}
        assert len(recording.spans) >= before
        before = len(recording.spans)
    assert before == len(most.spans)


@given(place=st.integers(0, 10**6), bits=st.integers(1, 255))
def test_a_damaged_byte_costs_a_frame_and_never_raises(tmp_path_factory, sample, place, bits):
    place %= len(sample)
    damaged = bytearray(sample)
    damaged[place] ^= bits
    recording = parsed(tmp_path_factory.getbasetemp(), bytes(damaged))
    assert recording.skipped
    known = {"?", "forward", "backward", "main (a.py:1)", "step (a.py:9)"}
    assert {recording.spans.names[number] for number in recording.spans.name} <= known


@given(junk=st.binary(max_size=200))
def test_junk_is_no_recording_and_parses_to_nothing(tmp_path_factory, junk):
    path = tmp_path_factory.getbasetemp() / "junk.records"
    path.write_bytes(junk)
    assert not records.sniff(path)
    assert len(records.parse(path)[0].spans) == 0


headers = st.fixed_dictionaries({
    "frame": st.sampled_from(["rows", "list", "meta", "other"]),
    "table": st.sampled_from(["spans", "steps", "counters", 3]),
    "list": st.sampled_from(["names", "lanes", "stacks", "stages"]),
    "first": st.integers(-5, 10),
    "rows": st.integers(-2, 4),
    "rank": st.integers(0, 3),
    "columns": st.dictionaries(st.sampled_from(["name", "lane", "start", "end", "step"]), st.sampled_from(["int", "name", "lane", "x"])),
})


@given(frames=st.lists(st.tuples(headers, st.one_of(st.binary(max_size=64), st.just(b'[[3, "a"], [], 3, null]'))), max_size=8))
def test_frames_with_sound_checksums_that_say_nonsense(tmp_path_factory, frames):
    import json

    from summarykit.formats.framing import frame

    data = b"".join(frame(json.dumps(head).encode() + b"\n", body) for head, body in frames)
    parsed(tmp_path_factory.getbasetemp(), data)


def test_sniff_knows_a_directory_and_a_file(tmp_path, sample):
    parsed(tmp_path, sample)
    assert records.sniff(tmp_path / "rank_3.profile")
    assert records.sniff(tmp_path / "rank_3.profile/000001.records")
    assert not records.sniff(tmp_path)
    (recording,) = read(tmp_path)
    assert recording.source == "summarykit"


def test_without_marks_an_update_ends_a_step(tmp_path):
    """What an update is made of (zero_grad, step) lies close together: it is one."""
    tape, names = blank()
    numbers = {name: names.number(name, Category.PHASE) for name in ("forward", "backward", "optimizer")}
    for step in range(3):
        zero = 1000 * step
        for name, start, end in (("optimizer", 0, 10), ("forward", 100, 200), ("backward", 200, 300), ("optimizer", 300, 350)):
            tape.spans.add((numbers[name], 7, 1000 + zero + start, 1000 + zero + end))
    (recording,) = records.parse(written(tmp_path / "rank_3.profile", tape))
    steps = recording.tables["steps"]
    assert steps["step"].tolist() == [1, 2, 3]
    assert steps["end"].tolist() == [2010, 3010, 3350]
    assert steps["bp_end"].tolist() == [1300, 2300, 3300]


def test_the_wait_for_the_next_batch_belongs_to_the_next_step(tmp_path):
    tape, names = blank()
    numbers = {name: names.number(name, Category.PHASE) for name in ("data wait", "forward", "backward", "optimizer")}
    spans = (("data wait", 0, 90), ("optimizer", 90, 95), ("forward", 100, 200), ("backward", 200, 300), ("optimizer", 300, 350))
    for step in range(2):
        for name, start, end in (*spans, ("optimizer", 360, 370)):
            tape.spans.add((numbers[name], 7, 1000 * (step + 1) + start, 1000 * (step + 1) + end))
    (recording,) = records.parse(written(tmp_path / "rank_3.profile", tape))
    assert recording.tables["steps"]["end"].tolist() == [1370, 2370]


def test_a_span_takes_24_bytes(tmp_path):
    def size(count: int) -> int:
        tape, names = blank()
        number = names.number("forward", Category.PHASE)
        for moment in range(count):
            tape.spans.add((number, 7, moment, moment + 1))
        (file,) = written(tmp_path / str(count), tape).glob("*.records")
        return file.stat().st_size

    assert size(5000) - size(1000) < 4000 * 24 + 2000
