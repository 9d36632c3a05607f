"""ProfileOnDemand: a training that runs is profiled when a signal comes or a file is touched."""

from __future__ import annotations

import faulthandler
import logging
import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from summarykit import Loop, ProfileOnDemand, Profiler
from summarykit.profiler import on_demand
from summarykit.profiler.merging import recorded

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="this system has no SIGUSR1")


@pytest.fixture
def profiler(tmp_path) -> Profiler:
    return Profiler(tmp_path / "profiler", start_profile=False, collectors=[])


def steps(profiler: Profiler) -> list[list[int]]:
    """The numbers of the steps in each window."""
    return [recorded(window.records)[0].tables["steps"]["step"].tolist() for window in profiler.windows]


def train(callback: ProfileOnDemand, events: dict[int, object], count: int = 12) -> None:
    with Loop(train_dataset=range(count), callbacks=[callback]) as loop:
        for _ in loop.steps():
            if event := events.get(loop.step):
                event()    # type: ignore[operator]


def ask() -> None:
    signal.raise_signal(signal.SIGUSR1)


def test_a_signal_opens_a_window_of_so_many_steps(profiler):
    train(ProfileOnDemand(3, profiler), {2: ask, 8: ask})
    assert steps(profiler) == [[3, 4, 5], [9, 10, 11]]


def test_a_signal_within_a_window_is_part_of_it(profiler):
    train(ProfileOnDemand(3, profiler), {2: ask, 4: ask})
    assert steps(profiler) == [[3, 4, 5]]


def test_a_window_ends_with_the_training(profiler):
    train(ProfileOnDemand(30, profiler), {10: ask})
    assert steps(profiler) == [[11, 12]]
    assert not profiler.recording


def test_nothing_is_recorded_unless_it_is_asked_for(profiler, caplog):
    train(ProfileOnDemand(3, profiler), {})
    assert not profiler.windows
    assert not caplog.records


def test_the_signal_is_whose_it_was_outside_of_the_training(profiler):
    seen = []
    before = signal.signal(signal.SIGUSR1, lambda *_: seen.append("theirs"))
    try:
        train(ProfileOnDemand(3, profiler), {2: ask})
        assert not seen
        ask()
        assert seen == ["theirs"]
    finally:
        signal.signal(signal.SIGUSR1, before)


@pytest.fixture
def theirs():
    """A handler of the user's: what it has seen."""
    seen: list[int] = []
    before = signal.signal(signal.SIGUSR1, lambda number, _: seen.append(number))
    yield seen
    signal.signal(signal.SIGUSR1, before)


def test_of_two_both_hear_the_signal_in_whichever_order_they_end(tmp_path, theirs):
    first, second = (ProfileOnDemand(2, Profiler(tmp_path / name, start_profile=False, collectors=[])) for name in "ab")
    handler = signal.getsignal(signal.SIGUSR1)
    first.__enter__()
    second.__enter__()
    ask()
    assert first._asked
    assert second._asked
    first.__exit__(None, None, None)
    ask()
    assert not theirs
    second.__exit__(None, None, None)
    assert signal.getsignal(signal.SIGUSR1) is handler


def test_a_handler_that_came_during_the_training_stays(profiler, theirs):
    late = []
    train(ProfileOnDemand(2, profiler), {3: lambda: signal.signal(signal.SIGUSR1, lambda *_: late.append(1))})
    ask()
    assert late
    assert not theirs


def test_a_handler_that_came_during_the_training_may_pass_the_signal_on(profiler, theirs):
    """After the training nobody is there to take it; it was sent again, to the same handler, without an end."""
    late = []

    def chain():
        before = signal.getsignal(signal.SIGUSR1)

        def handler(number, frame):
            late.append(number)
            if len(late) < 9:
                before(number, frame)

        signal.signal(signal.SIGUSR1, handler)

    train(ProfileOnDemand(2, profiler), {2: chain, 3: ask})
    assert steps(profiler) == [[4, 5]]
    ask()
    assert len(late) == 2


def test_a_training_that_ends_in_another_thread_closes_its_window(profiler, theirs, caplog):
    """There no signal can be given back."""
    training = Loop(train_dataset=range(9), callbacks=[ProfileOnDemand(5, profiler)])
    training.__enter__()
    for _ in training.steps():
        if training.step == 2:
            ask()
        if training.step == 4:
            break
    assert profiler.recording
    thread = threading.Thread(target=training.__exit__, args=(None, None, None))
    thread.start()
    thread.join()
    assert not profiler.recording
    assert not caplog.records
    ask()
    assert len(theirs) == 1
    ask()
    assert len(theirs) == 2


def test_the_next_training_gives_back_what_another_thread_could_not(profiler, theirs):
    """Two at once: the one in the main thread ends first."""
    first, second = ProfileOnDemand(2, profiler), ProfileOnDemand(2, Profiler(profiler.output_path / "b", start_profile=False))
    handler = signal.getsignal(signal.SIGUSR1)
    first.__enter__()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(second.__enter__).result()
        ask()
        assert second._asked
        first.__exit__(None, None, None)
        pool.submit(second.__exit__, None, None, None).result()
    train(ProfileOnDemand(2, profiler), {})
    assert signal.getsignal(signal.SIGUSR1) is handler


def test_a_handler_that_python_does_not_know_is_left_alone(profiler, monkeypatch, caplog):
    monkeypatch.setattr(signal, "getsignal", lambda _: None)
    monkeypatch.setattr(signal, "signal", lambda *_: pytest.fail("it was replaced"))
    train(ProfileOnDemand(2, profiler), {})
    assert [record.getMessage().split()[1] for record in caplog.records] == ["SIGUSR1"]


def test_faulthandler_alone_is_not_replaced_for_a_moment(profiler, monkeypatch, tmp_path):
    """What comes in that moment would be lost."""
    with (tmp_path / "stacks").open("w") as file:
        faulthandler.register(signal.SIGUSR1, file)
        try:
            monkeypatch.setattr(signal, "signal", lambda *_: pytest.fail("it was replaced"))
            train(ProfileOnDemand(2, profiler), {})
        finally:
            assert faulthandler.unregister(signal.SIGUSR1)


@pytest.mark.parametrize("over", ["the system", "a handler of Python"])
def test_a_handler_of_faulthandler_is_left_alone(over, profiler, request, tmp_path, caplog):
    seen = request.getfixturevalue("theirs") if over == "a handler of Python" else []
    with (tmp_path / "stacks").open("w") as file:
        faulthandler.register(signal.SIGUSR1, file, chain=over == "a handler of Python")
        try:
            train(ProfileOnDemand(2, profiler), {2: ask})
        finally:
            assert faulthandler.unregister(signal.SIGUSR1)
    assert "test_on_demand.py" in (tmp_path / "stacks").read_text()
    assert not profiler.windows
    assert [record.getMessage().split()[1] for record in caplog.records] == ["SIGUSR1"]
    if over == "a handler of Python":
        assert len(seen) == 1    # the one that it chains to
        ask()
        assert len(seen) == 2


def test_faulthandler_that_is_registered_during_the_training_stays(profiler, theirs, tmp_path):
    with (tmp_path / "stacks").open("w") as file:
        train(ProfileOnDemand(2, profiler), {2: lambda: faulthandler.register(signal.SIGUSR1, file)})
        try:
            ask()
        finally:
            assert faulthandler.unregister(signal.SIGUSR1)
    assert "test_on_demand.py" in (tmp_path / "stacks").read_text()
    assert not theirs
    ask()
    assert len(theirs) == 1


def test_a_signal_that_nobody_can_have_is_said(profiler, caplog):
    train(ProfileOnDemand(2, profiler, signal_name="SIGKILL"), {})
    assert ["cannot be had" in record.getMessage() for record in caplog.records] == [True]


def test_a_file_that_is_touched_opens_a_window(profiler, monkeypatch):
    """It lies there from an earlier run, which means nothing; each touch makes one window. The clock moves with the steps."""
    now = [0.0]
    monkeypatch.setattr(on_demand, "monotonic", lambda: now[0])
    callback = ProfileOnDemand(2, profiler, signal_name=None)
    profiler.output_path.mkdir()
    callback.file.touch()

    def touch(ahead: int) -> None:
        now[0] += on_demand.EVERY
        os.utime(callback.file, ns=(0, callback.file.stat().st_mtime_ns + ahead))

    train(callback, {2: lambda: touch(1_000_000), 7: lambda: touch(1_000_000)})
    assert steps(profiler) == [[3, 4], [8, 9]]


def test_the_file_is_looked_at_once_in_a_second(profiler, monkeypatch):
    looks = []
    monkeypatch.setattr(on_demand, "monotonic", lambda: 100.0)
    callback = ProfileOnDemand(2, profiler, signal_name=None)
    monkeypatch.setattr(callback, "_time_of_file", lambda: looks.append(1) or 0)
    train(callback, {}, count=50)
    assert len(looks) == 2    # when it begins, and in the first step


def test_its_folder_is_there_to_touch_a_file_in(profiler):
    train(ProfileOnDemand(2, profiler), {1: lambda: (profiler.output_path / "profile_now").touch()}, count=2)
    assert (profiler.output_path / "profile_now").exists()


def test_where_signals_cannot_be_had_the_file_is_named(profiler, caplog):
    caplog.set_level(logging.WARNING, "summarykit")
    thread = threading.Thread(target=train, args=(ProfileOnDemand(3, profiler), {}))
    thread.start()
    thread.join()
    train(ProfileOnDemand(3, profiler, signal_name="SIGNOSUCH"), {})
    texts = [record.getMessage() for record in caplog.records]
    assert [text.split()[1] for text in texts] == ["SIGUSR1", "SIGNOSUCH"]
    assert all("profile_now" in text for text in texts)


def test_a_real_signal_from_another_process(run_script, tmp_path):
    code = """
import os, signal, subprocess, sys
from summarykit import Loop, Profiler, ProfileOnDemand
profiler = Profiler(sys.argv[1], start_profile=False, collectors=[])
with Loop(train_dataset=range(10), callbacks=[ProfileOnDemand(4, profiler)]) as loop:
    for _ in loop.steps():
        if loop.step == 3:
            subprocess.run(["/bin/sh", "-c", f"kill -USR1 {os.getpid()}"], check=True)
print(profiler.analyse().profiles[0].steps["step"].tolist())
"""
    assert run_script(code, tmp_path).expect_success().stdout.split("\n")[0] == "[4, 5, 6, 7]"


@pytest.mark.parametrize(
    ("arguments", "error", "what"),
    [
        ({"steps": 0}, ValueError, "steps must be at least 1 .*, got 0"),
        ({"steps": 1.5}, TypeError, "steps must be an int, got 1.5"),
        ({"signal_name": 10}, ValueError, "signal_name: a name such as 'SIGUSR1' or None is needed, got 10"),
        ({"profiler": "./data"}, TypeError, "profiler: a Profiler or None is needed, got './data'"),
    ],
)
def test_wrong_arguments(arguments, error, what):
    with pytest.raises(error, match=what):
        ProfileOnDemand(**arguments)
