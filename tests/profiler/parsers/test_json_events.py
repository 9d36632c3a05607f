"""Events are streamed from whatever comes: whole, cut, garbled, in pieces of any size."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from summarykit.profiler.parsers import files, json_events
from summarykit.profiler.parsers.json_events import JsonEvents

NAMES = st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), max_size=12) | st.sampled_from(['},{"', "]}", '"', "\\", "a\nb"])
LEAVES = st.integers() | NAMES | st.none()
ARGS = st.dictionaries(NAMES, st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3), max_leaves=4), max_size=3)
NESTED = st.fixed_dictionaries({"list": st.lists(ARGS, max_size=3)})
EVENTS = st.lists(st.fixed_dictionaries({"ph": st.just("X"), "name": NAMES, "args": ARGS | NESTED}) | st.just({}), max_size=12)
LAYOUTS = st.sampled_from([{"separators": (",", ":")}, {}, {"indent": 2}])


def read(path: Path, chunk: int = 1 << 18) -> tuple[list[dict], JsonEvents]:
    source = JsonEvents(path)
    original = json_events.chunks
    json_events.chunks = lambda where, skipped, _=0: files.chunks(where, skipped, chunk)
    try:
        return [event for batch in source.batches() for event in batch], source
    finally:
        json_events.chunks = original


@given(EVENTS, LAYOUTS, st.integers(4, 400), st.booleans(), st.booleans())
@settings(max_examples=60)
def test_every_event_comes_in_order_whatever_the_pieces(tmp_path_factory, events, layout, chunk, bare, ascii_only):
    path = tmp_path_factory.mktemp("json") / "trace.json"
    document = events if bare else {"schemaVersion": 1, "traceEvents": events, "traceName": "after"}
    path.write_text(json.dumps(document, ensure_ascii=ascii_only, **layout), encoding="utf-8")
    found, source = read(path, chunk)
    assert found == events
    assert source.skipped == Counter()
    assert source.meta == ({} if bare else {"schemaVersion": 1, "traceName": "after"})


@given(st.data())
@settings(max_examples=60)
def test_a_cut_costs_one_event_at_most(tmp_path_factory, data):
    events = [{"ph": "X", "name": f"n{place}", "args": {"a": [place]}} for place in range(data.draw(st.integers(1, 20)))]
    text = json.dumps({"traceEvents": events}, **data.draw(LAYOUTS))
    end = data.draw(st.integers(text.index("[") + 1, len(text)))
    path = tmp_path_factory.mktemp("json") / "trace.json"
    path.write_text(text[:end], encoding="utf-8")
    found, source = read(path, data.draw(st.integers(1, 200)))
    whole = text[:end].count('"name"')
    assert found == events[: len(found)]
    assert whole - 1 <= len(found) <= whole
    assert sum(source.skipped.values()) <= 2


@given(st.binary(max_size=300), st.integers(1, 64))
@settings(max_examples=60)
def test_noise_never_raises(tmp_path_factory, noise, chunk):
    path = tmp_path_factory.mktemp("json") / "trace.json"
    for before in (b"", b"[", b'{"traceEvents": [{"ph":"X"},'):
        path.write_bytes(before + noise)
        read(path, chunk)


WRONG = ['{"ph": "X", "name": "C:\\path"}', '{"ph": "X", "name": "tab\there"}', '{"ph": "X", "ts": NaN, "dur": Infinity}']


@pytest.mark.parametrize("bad", WRONG)
def test_what_torch_wrote_wrongly_is_read(tmp_path, bad):
    path = tmp_path / "trace.json"
    path.write_text(f'{{"traceEvents": [{bad},\n{{"ph": "X", "name": "after"}}]}}', encoding="utf-8")
    found, source = read(path)
    assert [event["ph"] for event in found] == ["X", "X"]
    assert not source.skipped


def test_a_garbled_event_costs_itself_and_is_counted(tmp_path):
    path = tmp_path / "trace.json"
    path.write_text('[{"name": "a"}, {"name": "un"escaped"}, {"name": "b"}, {"name": }, {"name": "c"}]', encoding="utf-8")
    found, source = read(path)
    assert [event["name"] for event in found] == ["a", "b", "c"]
    assert source.skipped == {"garbled events": 2}


def test_a_packed_file_is_read_by_its_content_and_may_be_cut(tmp_path):
    events = [{"name": f"{place}", "args": list(range(place % 50))} for place in range(5000)]
    packed = gzip.compress(json.dumps(events).encode())
    (tmp_path / "whole.json").write_bytes(packed)
    assert read(tmp_path / "whole.json")[0] == events
    (tmp_path / "cut.json").write_bytes(packed[: len(packed) // 2])
    found, source = read(tmp_path / "cut.json")
    assert 0 < len(found) < 5000
    assert found == events[: len(found)]
    assert source.skipped["cut within its gzip stream"] == 1


@pytest.mark.parametrize("text", ["", "{}", "nonsense", '{"a": 1}', "\x00" * 100])
def test_what_has_no_events_gives_none(tmp_path, text):
    path = tmp_path / "trace.json"
    path.write_text(text, encoding="utf-8")
    found, source = read(path)
    assert found == []
    assert source.skipped == {"no events in it": 1}
