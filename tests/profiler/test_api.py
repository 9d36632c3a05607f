"""Profiler: started and stopped in any order, nested, by hand, with wrong arguments."""

from __future__ import annotations

import logging
import pickle

import numpy as np
import pytest

from summarykit import Loop, Profiler, StopAtEpoch, StopAtStep, schedule
from summarykit.profiler.merging import recorded
from summarykit.profiler.recording import Category, Recording


def read(profiler: Profiler, window: int = -1) -> Recording:
    (recording,) = recorded(profiler.windows[window].records)
    assert not recording.skipped
    return recording


def names(recording: Recording, category: Category) -> list[str]:
    return [recording.spans.names[number] for number in recording.spans.name[recording.spans.of(category)].tolist()]


def make(path: object, **options: object) -> Profiler:
    return Profiler(path, **{"collectors": [], "start_profile": False, **options})    # type: ignore[arg-type]


@pytest.fixture
def said(caplog):
    caplog.set_level(logging.WARNING, "summarykit")
    return lambda: [record.getMessage() for record in caplog.records]


def test_steps_by_hand_are_counted_and_have_their_phases(tmp_path):
    with make(tmp_path) as profiler:
        for _ in range(3):
            with profiler.phase("forward"):
                pass
            profiler.step()
    recording = read(profiler)
    steps = recording.tables["steps"]
    assert steps["step"].tolist() == [1, 2, 3]
    assert (steps["start"][1:] == steps["end"][:-1]).all()
    assert names(recording, Category.PHASE) == ["forward"] * 3
    forward = recording.spans.start[recording.spans.of(Category.PHASE)]
    assert ((steps["start"] <= forward) & (forward < steps["end"])).all()
    assert recording.meta["complete"]
    assert recording.meta["why"] == "stop"


def test_a_step_may_be_given_its_number(tmp_path):
    with make(tmp_path) as profiler:
        profiler.step(100)
        profiler.step()
    assert read(profiler).tables["steps"]["step"].tolist() == [100, 101]


def test_pr1_start_and_stop_in_any_order(tmp_path, said):
    profiler = make(tmp_path)
    profiler.stop()
    assert "not started" in said()[-1]
    profiler.start()
    profiler.start()
    assert "started already" in said()[-1]
    profiler.step()
    profiler.stop()
    profiler.stop()
    profiler.start()
    profiler.step()
    profiler.stop()
    assert [path.name for path in profiler.paths] == ["window_0001", "window_0002"]
    assert [read(profiler, place).tables["steps"].rows for place in (0, 1)] == [1, 1]


def test_pr2_nested_profilers_record_each_its_own(tmp_path):
    outer, inner = make(tmp_path / "outer"), make(tmp_path / "inner")
    batches = range(6)
    outer.start()
    loop = Loop(train_dataset=batches)
    for batch in loop.steps():
        if batch == 2:
            inner.start()
        if batch == 4:
            inner.stop()
    outer.stop()
    assert read(outer).tables["steps"]["step"].tolist() == [1, 2, 3, 4, 5, 6]
    assert read(inner).tables["steps"]["step"].tolist() == [4]    # 3 and 5 were whole in the outer one only
    assert names(read(outer), Category.PHASE).count("data wait") == 7


def test_pr3_an_exception_in_the_window_leaves_what_was_recorded(tmp_path):
    profiler = make(tmp_path)
    with pytest.raises(ZeroDivisionError), profiler:
        profiler.step()
        with profiler.phase("forward"):
            raise ZeroDivisionError
    assert not profiler.recording
    recording = read(profiler)
    assert recording.tables["steps"].rows == 1
    assert names(recording, Category.PHASE) == ["forward"]
    with profiler:
        profiler.step()
    assert read(profiler).tables["steps"].rows == 1


def test_a_window_whose_profiler_was_let_go_of_is_closed_when_the_program_ends(run_script, tmp_path):
    code = "import sys; from summarykit import Profiler; Profiler(sys.argv[1], collectors=[]).step()"
    run_script(code, tmp_path).expect_success()
    report = Profiler.offline(tmp_path)
    (profile,) = report.profiles
    assert profile.recording.meta["why"] == "the program ended"


def test_pr4_without_a_window_the_report_is_empty(tmp_path):
    assert make(tmp_path).analyse().profiles == []


def test_pr14_no_accelerator_and_no_ranks(tmp_path):
    with make(tmp_path) as profiler:
        profiler.step()
    (profile,) = profiler.analyse().profiles
    assert (profile.recording.rank, profile.recording.world_size) == (0, 1)


def test_analyse_closes_the_window_and_chooses_one(tmp_path):
    profiler = make(tmp_path, start_profile=True)
    profiler.step()
    assert profiler.analyse().profiles[0].recording.tables["steps"].rows == 1
    assert not profiler.recording
    with profiler:
        profiler.step()
        profiler.step()
    windows = (1, 2, None, np.int64(1))
    assert [profiler.analyse(window).profiles[0].recording.tables["steps"].rows for window in windows] == [1, 2, 2, 1]
    with pytest.raises(ValueError, match="from 1 to 2"):
        profiler.analyse(3)


def test_ranks_meet_in_one_window(tmp_path, monkeypatch):
    with make(tmp_path, rank=0, world_size=2) as zero, make(tmp_path, rank=1, world_size=2) as one:
        zero.step()
        one.step()
    assert zero.paths == one.paths
    assert [(r.rank, r.world_size) for r in (read(zero), read(one))] == [(0, 2), (1, 2)]
    monkeypatch.setenv("RANK", "3")
    monkeypatch.setenv("WORLD_SIZE", "4")
    with make(tmp_path) as three:
        pass
    assert (read(three).rank, read(three).world_size) == (3, 4)


def test_a_second_run_in_the_same_place_goes_on_counting(tmp_path):
    for _ in range(2):
        with make(tmp_path):
            pass
    assert sorted(path.name for path in tmp_path.iterdir()) == ["window_0001", "window_0002"]


def test_the_clock_is_tied_to_the_wall(tmp_path):
    import time

    before = time.time_ns()
    with make(tmp_path) as profiler:
        profiler.step()
    after = time.time_ns()
    recording = read(profiler)
    wall = recording.tables["steps"]["end"] + recording.clock_offset
    assert before - 10**8 <= wall[0] <= after + 10**8
    assert {"perf", "wall", "raw"} <= set(recording.meta["ended"])


@pytest.mark.parametrize(
    ("options", "names_it"),
    [
        ({"output_path": 3}, "output_path"),
        ({"output_path": ""}, "output_path"),
        ({"start_profile": 1}, "start_profile"),
        ({"collectors": "system"}, "collectors"),
        ({"collectors": ["system", "no such"]}, "no such"),
        ({"collectors": 3}, "collectors"),
        ({"schedule": 3}, "schedule"),
        ({"max_bytes": 10}, "max_bytes"),
        ({"max_bytes": 1e6}, "max_bytes"),
        ({"max_seconds": 0}, "max_seconds"),
        ({"max_seconds": "1"}, "max_seconds"),
        ({"keep": "both"}, "keep"),
        ({"rank": -1}, "rank"),
        ({"rank": True}, "rank"),
        ({"world_size": 0}, "world_size"),
        ({"rank": 2, "world_size": 2}, "rank"),
    ],
)
def test_wrong_arguments_are_refused_at_construction(tmp_path, options, names_it):
    with pytest.raises((TypeError, ValueError), match=names_it):
        Profiler(**{"output_path": tmp_path / "never", **options})
    assert not (tmp_path / "never").exists()


@pytest.mark.parametrize("kind", [StopAtStep, StopAtEpoch])
@pytest.mark.parametrize(
    "args",
    [
        *((0, 3), (3, 2), ("1", 2), (1,), (True, 2), (1.0, 2), (1, 2, "profiler")),
        *(([(1, 2)], 3), ([],), ([3],), ([(1, 2, 3)],), ([(1, 3), (3, 4)],)),
    ],
)
def test_wrong_ranges_are_refused_at_construction(kind, args):
    with pytest.raises((TypeError, ValueError), match=r"_(step|epoch)|profiler"):
        kind(*args)


def test_a_schedule_does_not_go_with_a_callback(tmp_path):
    with pytest.raises(ValueError, match="without a schedule"):
        StopAtStep(1, 2, profiler=make(tmp_path, schedule=schedule(active=1)))


def test_a_place_that_cannot_be_written_is_said_and_training_goes_on(tmp_path, said):
    (tmp_path / "file").write_text("in the way")
    profiler = make(tmp_path / "file")
    profiler.start()
    profiler.step()
    profiler.stop()
    assert "nothing is recorded" in said()[0]
    assert profiler.analyse().profiles == []


def test_costs_of_all_that_ran_are_in_the_recording(tmp_path):
    with make(tmp_path, collectors=["system", "gc"]) as profiler:
        for _ in range(10):
            profiler.step()
    costs = read(profiler).meta["costs"]
    assert {"system", "gc", "writing", "steps and phases"} <= set(costs)
    assert costs["steps and phases"]["calls"] >= 10
    assert costs["steps and phases"]["ns"] > 0


def test_times_are_int64_nanoseconds(tmp_path):
    with make(tmp_path) as profiler:
        profiler.step()
    steps = read(profiler).tables["steps"]
    assert all(column.dtype == np.int64 for column in steps.values())


def test_fk3_a_copy_records_windows_of_its_own(tmp_path):
    """Launchers that start processes send the callbacks there, with their profiler."""
    with make(tmp_path, max_overhead=0.01) as profiler:
        copy = pickle.loads(pickle.dumps(StopAtStep(2, 3, profiler=profiler))).profiler
        assert (copy.recording, copy.windows, copy.output_path) == (False, [], tmp_path)
        with copy:
            copy.step()
        profiler.step()
    assert read(profiler).tables["steps"]["step"].size == read(copy).tables["steps"]["step"].size == 1
    assert profiler.paths != copy.paths


def test_fk3_a_copy_of_a_callback_that_was_made_during_a_training_is_in_none(tmp_path):
    callback = StopAtStep(1, 3, profiler=make(tmp_path))
    with Loop(train_dataset=range(5), callbacks=callback) as loop:
        copies = [pickle.dumps(callback) for _ in loop.steps()]
    for each in copies:
        copy = pickle.loads(each)
        with Loop(train_dataset=range(5), callbacks=copy) as loop:
            for _ in loop.steps():
                pass
        assert read(copy.profiler).tables["steps"]["step"].tolist() == [1, 2, 3]


@pytest.mark.parametrize("given", ["~/profile", "profile"])
def test_windows_go_where_the_profiler_was_made(tmp_path, leave, given):
    """A program may change its directory before the first window; ``~`` is the home directory."""
    profiler = Profiler(given, start_profile=False, collectors=())
    elsewhere = leave()
    with profiler:
        profiler.start()
    assert (tmp_path / "profile" / "window_0001").is_dir()
    assert not list(elsewhere.iterdir())
