"""Steps and communication of the training trace."""

from __future__ import annotations

from collections import Counter

from testkit import ascend_files as raw

from summarykit.profiler.parsers import ascend
from summarykit.profiler.parsers.ascend import training_trace

PLAIN = [(10010, 0, 1), (1, 0, 10), (3, 5, 12), (4, 5, 15), (2, 0, 20), (255, 0, 30), (1, 0, 34), (2, 0, 40), (255, 0, 50)]


def read(tmp_path, events, **options):
    path = tmp_path / raw.TRACE.format(0, 0)
    path.write_bytes(raw.trace(events))
    skipped: Counter[str] = Counter()
    return training_trace.read([path], skipped, **options), +skipped


def rows(table):
    return [tuple(row) for row in zip(*(column.tolist() for column in table.values()), strict=True)]


def test_a_step_begins_where_the_last_one_ended_and_the_first_with_its_forward_pass(tmp_path):
    told, skipped = read(tmp_path, PLAIN)
    assert rows(told.steps) == [(1, 10, 30, 10, 20), (2, 30, 50, 34, 40)]
    assert rows(told.reduces) == [(1, 5, 0, 3, 12, 15)]
    assert not skipped


def test_a_step_without_a_point_is_left_out_but_keeps_its_number(tmp_path):
    events = [event for event in PLAIN if event != (2, 0, 20)]
    told, skipped = read(tmp_path, events)
    assert rows(told.steps) == [(2, 30, 50, 34, 40)]
    assert rows(told.reduces) == []
    assert skipped == {"steps without one of their points": 1}


def test_what_stands_before_a_begin_is_of_a_step_that_was_given_up(tmp_path):
    told, _ = read(tmp_path, [(1, 0, 2), (3, 5, 3), (4, 5, 4), *PLAIN])
    assert rows(told.steps)[0] == (1, 10, 30, 10, 20)
    assert rows(told.reduces) == [(1, 5, 0, 3, 12, 15)]


def test_the_step_s_end_of_december_2020(tmp_path):
    events = [(65535 if tag == 255 else 70_000 if tag == 10010 else tag, stream, time) for tag, stream, time in PLAIN]
    told, _ = read(tmp_path, events)
    assert rows(told.steps) == [(1, 10, 30, 10, 20), (2, 30, 50, 34, 40)]


def test_communication_of_several_streams_and_one_that_does_not_pair(tmp_path):
    events = [(1, 0, 10), (3, 6, 11), (3, 5, 12), (4, 6, 13), (4, 5, 14), (5, 5, 15), (6, 5, 16), (9, 7, 17), (2, 0, 20), (255, 0, 30)]
    told, skipped = read(tmp_path, events)
    assert rows(told.reduces) == [(1, 6, 0, 3, 11, 13), (1, 5, 0, 3, 12, 14), (1, 5, 1, 5, 15, 16)]
    assert skipped == {"communication of a stream in a step that does not pair": 1}


def test_another_job_in_the_file_is_said(tmp_path):
    _, skipped = read(tmp_path, [*PLAIN, (10011, 0, 60)])
    assert skipped == {"steps of another job in the same file": 1}


def test_a_first_step_that_fills_the_queue_is_no_step(tmp_path):
    told, _ = read(tmp_path, PLAIN, skip_first=True)
    assert rows(told.steps) == [(1, 30, 50, 34, 40)]
    (tmp_path / "Framework.host.vm.task_desc_info.0.slice_0").write_text("Default/InitDataSetQueue-op0 1 1 1\n")
    (recording,) = ascend.parse(tmp_path)
    assert recording.tables["steps"]["step"].tolist() == [1]
    assert recording.tables["steps"]["start"].tolist() == [300]  # ns: ten for a tick


def test_a_step_that_has_not_ended_is_none(tmp_path):
    told, _ = read(tmp_path, PLAIN[:5])
    assert told.steps.rows == told.reduces.rows == 0
