"""Off means off: one shared function, no thread, no framework, nothing left in what was wrapped."""

from __future__ import annotations

import builtins
import gc
import logging
import threading

from summarykit import CallbackList, Profiler
from summarykit.profiler.controller import no_phase
from summarykit.training.marks import MARKS, unwatched
from summarykit.training.training import Training


def own_threads() -> int:
    return sum(thread.name == "summarykit-profiler" for thread in threading.enumerate())


def test_off_is_a_shared_function_that_does_nothing(tmp_path):
    begin_step = Training.begin_step
    profiler = Profiler(tmp_path, start_profile=False)
    assert profiler.step is profiler.step_begin is profiler.step_end is profiler.between is unwatched
    assert profiler.phase is no_phase
    assert profiler.phase("forward") is profiler.phase("backward")
    assert Training.begin_step is begin_step
    assert MARKS.next is next
    assert not list(tmp_path.iterdir())


def test_everything_is_as_before_after_a_window(tmp_path):
    def state() -> tuple[object, ...]:
        wrapped = builtins.print, logging.Logger.handle, vars(CallbackList)["fire"]
        return *wrapped, list(gc.callbacks), MARKS.next, Training.begin_step, own_threads()

    before = state()
    profiler = Profiler(tmp_path)
    assert state() != before
    assert own_threads() == before[-1] + 1
    profiler.step()
    profiler.stop()
    assert state() == before
    assert profiler.step is unwatched


def test_what_another_wraps_meanwhile_stays_theirs(tmp_path):
    profiler = Profiler(tmp_path, collectors=["logging"])
    ours = builtins.print
    try:
        builtins.print = theirs = lambda *args, **options: ours(*args, **options)
        profiler.stop()
        assert builtins.print is theirs
        print("still works", end="")
    finally:
        builtins.print = ours.__wrapped__


def test_no_framework_is_imported_and_no_thread_started(run_script, tmp_path):
    code = """
import sys, threading
from summarykit import Profiler, StopAtStep, StopAtEpoch, schedule, Loop
profiler = Profiler(sys.argv[1], start_profile=False)
StopAtStep(3, 5, profiler=profiler), StopAtEpoch(1, 1)
assert threading.active_count() == 1
assert not {"psutil", "google.protobuf", "pandas"} & set(sys.modules), sorted(sys.modules)
with profiler:
    profiler.step()
profiler.analyse()
assert threading.active_count() == 1
assert not {"torch", "jax", "mindspore", "pandas", "google.protobuf"} & set(sys.modules)
"""
    run_script(code, tmp_path).expect_success()


def test_what_is_asked_for_and_not_there_is_said(run_script, tmp_path):
    """Found by a benchmark: a trace by PyTorch was begun at the first step of a program that has no PyTorch, and raised in its loop."""
    code = """
import sys
from summarykit import Loop, Profiler
profiler = Profiler(sys.argv[1], False, collectors=["kineto", "torch", "communication", "jax", "mindspore", "gc"])
with profiler, Loop(train_dataset=range(3)) as loop:
    for _ in loop.steps():
        profiler.step()
assert profiler.analyse().profiles[0].steps.rows == 3
assert "torch" not in sys.modules
"""
    said = run_script(code, tmp_path).expect_success().stderr
    assert "profiler: no collector 'kineto': PyTorch is not loaded yet" in said


def test_off_allocates_nothing(run_script, tmp_path):
    code = """
import sys, tracemalloc
from summarykit import Profiler
profiler = Profiler(sys.argv[1], start_profile=False)
step = range(1000)
profiler.step()
tracemalloc.start()
before = tracemalloc.take_snapshot()
for _ in step:
    profiler.step()
grown = [str(one) for one in tracemalloc.take_snapshot().compare_to(before, "filename") if "summarykit" in str(one.traceback)]
assert not grown, grown
"""
    run_script(code, tmp_path).expect_success()    # in a process whose threads are all known


def test_windows_that_are_closed_hold_nothing(tmp_path):
    import tracemalloc

    def record(count: int) -> None:
        for _ in range(count):
            with profiler:
                for _ in range(200):
                    profiler.step()

    profiler = Profiler(tmp_path, start_profile=False, collectors=["stacks", "gc"])
    record(3)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        record(30)
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert grown < 30 * 20_000


def test_the_stacks_of_a_closed_window_are_not_kept(tmp_path):
    from summarykit.profiler.collectors.stacks import Stacks

    profiler = Profiler(tmp_path, start_profile=False, collectors=["stacks"])
    kept = {id(one) for one in gc.get_objects() if type(one) is Stacks}
    with profiler:
        profiler.step()
    gc.collect()
    assert [one for one in gc.get_objects() if type(one) is Stacks and id(one) not in kept] == []
