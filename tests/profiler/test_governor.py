"""No collector costs more than its share: it looks more rarely, or is off; it is said once, and in the report."""

from __future__ import annotations

import logging
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from summarykit import Profiler
from summarykit.profiler import governor, pipeline, plan
from summarykit.profiler.collectors import COLLECTORS, Collector
from summarykit.profiler.collectors.stages import Stages
from summarykit.profiler.governor import Governor
from summarykit.profiler.ticker import Beat


class Marking:
    """A collector that made so many marks."""

    key = "marking"
    marks = 0


@pytest.fixture
def now(monkeypatch):
    """A clock of the test's own, in ns."""
    moment = [0]
    monkeypatch.setattr(governor, "perf_counter_ns", lambda: moment[0])
    return moment


@pytest.fixture
def said(caplog):
    caplog.set_level(logging.WARNING, "summarykit")
    return lambda: [record.getMessage() for record in caplog.records]


def looked(beat: Beat, calls: int, ns: int) -> Beat:
    beat.cost.calls += calls
    beat.cost.ns += calls * ns
    return beat


def test_a_look_that_is_too_dear_comes_more_rarely(said):
    beat, ours = Beat("stacks", 10_000_000, lambda: None), Governor(0.05)
    assert ours.thin("stacks", looked(beat, 100, 2_000_000))
    assert beat.period == 40_000_000    # 2 ms are 5 % of that
    assert ours.told == {"stacks": "collector 'stacks' took 0.2 of the time, max_overhead=0.05: it looks every 40 ms from here on"}
    assert said() == ["profiler: " + ours.told["stacks"]]
    assert ours.thin("stacks", looked(beat, 100, 2_000_000))
    assert beat.period == 40_000_000


def test_it_is_said_once(said):
    beat, ours = Beat("stacks", 10_000_000, lambda: None), Governor(0.05)
    for ns in (1_000_000, 4_000_000, 8_000_000):
        assert ours.thin("stacks", looked(beat, 10, ns))
    assert beat.period == 160_000_000
    assert "every 160 ms" in ours.told["stacks"]
    assert len(said()) == 1


def test_the_first_looks_alone_say_nothing():
    beat, ours = Beat("system", 100_000_000, lambda: None), Governor(0.05)
    assert ours.thin("system", looked(beat, 1, 50_000_000))    # imports, caches
    assert ours.thin("system", looked(beat, 19, 400_000))
    assert beat.period == 100_000_000


def test_a_look_that_is_too_dear_at_any_rate_is_off():
    beat, ours = Beat("own", 1_000_000_000, lambda: None), Governor(0.05)
    assert not ours.thin("own", looked(beat, 4, 900_000_000))
    assert "it is off from here on" in ours.told["own"]


def judged(ours: Governor, collector: Marking, now: list[int], share: float, seconds: float) -> bool:
    """Let marks of 500 ns take a share of some seconds, judged once in each second; True as soon as they are too dear."""
    for _ in range(round(seconds)):
        now[0] += 1_000_000_000
        collector.marks += round(share * 2_000_000)
        if ours.too_dear(collector, 500):
            return True
    return False


def test_marks_that_take_too_much_of_the_time_are_off(now, said):
    ours, collector = Governor(0.05), Marking()
    assert not judged(ours, collector, now, 0.05, 100)
    assert judged(ours, collector, now, 0.4, 1)    # 400 ms of the second, of which 50 are paid for, and 250 may be owed
    assert said() == ["profiler: collector 'marking' took 0.4 of the time, max_overhead=0.05: it is off from here on"]


def test_a_burst_of_marks_is_paid_for_by_the_time_that_follows(now, said):
    ours, collector = Governor(0.05), Marking()
    for _ in range(3):
        assert not judged(ours, collector, now, 0.25, 1)    # at the start, too: 200 ms are owed
        assert not judged(ours, collector, now, 0, 4)       # and paid
    assert not said()


def test_bursts_that_come_before_the_last_one_is_paid_for_are_too_much(now):
    ours, collector = Governor(0.05), Marking()
    assert not judged(ours, collector, now, 0.25, 1)
    assert not judged(ours, collector, now, 0, 2)
    assert judged(ours, collector, now, 0.25, 1)


def test_marks_that_are_a_little_too_dear_are_found_in_the_end(now):
    ours, collector = Governor(0.05), Marking()
    assert not judged(ours, collector, now, 0.08, 8)
    assert judged(ours, collector, now, 0.08, 1)
    assert ours.told["marking"].startswith("collector 'marking' took 0.08 of the time")


def test_an_hour_of_little_pays_for_no_more_than_a_burst(now):
    ours, collector = Governor(0.05), Marking()
    assert not judged(ours, collector, now, 0.01, 3600)
    assert judged(ours, collector, now, 0.5, 2)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=60))
def test_whatever_comes_no_more_is_spent_than_the_budget_and_a_burst(shares):
    with pytest.MonkeyPatch.context() as patch:
        now = [0]
        patch.setattr(governor, "perf_counter_ns", lambda: now[0])
        ours, collector, spent = Governor(0.05), Marking(), [0.0]
        for share in shares:
            if judged(ours, collector, now, share, 1):
                break
            spent.append(spent[-1] + share)
    for first, before in enumerate(spent):    # in every stretch of seconds
        for last, after in enumerate(spent[first:], first):
            assert after - before <= 0.05 * (last - first + 5) + 1e-5
    assert len(spent) <= len(shares) or max(shares) <= 0.3 + 1e-6


def test_hooks_that_are_called_too_often_are_taken_away(tmp_path, monkeypatch, said):
    monkeypatch.setattr("summarykit.profiler.window.DRAIN", 10**15)    # what is written when is the test's to say
    quiet = logging.getLogger("a training that logs a lot")
    quiet.propagate, quiet.handlers, quiet.level = False, [logging.NullHandler()], logging.INFO
    handle = logging.Logger.handle
    profiler = Profiler(tmp_path, collectors=["logging"], max_overhead=1e-6)
    assert logging.Logger.handle is not handle
    for _ in range(1000):
        quiet.info("a step")
    profiler.windows[-1]._written()
    assert logging.Logger.handle is handle
    profiler.step()
    report = profiler.analyse()
    limited = dict(zip(report.costs["collector"].tolist(), report.costs["limited"].tolist(), strict=True))
    assert limited["logging"].endswith("it is off from here on")
    assert limited["writing"] == ""
    assert limited["logging"] in str(report)
    assert report.costs["calls"][report.costs["collector"] == "logging"][0] >= 1000
    assert [text for text in said() if "logging" in text] == ["profiler: " + limited["logging"]]


def test_of_a_collector_that_is_off_no_look_puts_the_hooks_back(tmp_path, monkeypatch):
    monkeypatch.setattr("summarykit.profiler.window.DRAIN", 10**15)
    monkeypatch.setattr(Stages, "period", 10**6)
    stage = pipeline.stage("numbers", range(1000))
    with Profiler(tmp_path, collectors=["pipeline"], max_overhead=1e-9) as profiler:
        window = profiler.windows[-1]
        assert stage.advance is not next
        assert len(list(stage)) == 1000
        window._written()
        assert stage.advance is next
        assert [beat.name for beat in window._ticker._beats] == ["writing"]


def test_a_window_may_close_while_a_collector_is_switched_off(tmp_path):
    profiler = Profiler(tmp_path, collectors=["pipeline"])
    window = profiler.windows[-1]
    (collector,) = window._running
    stop = collector.stop

    def meanwhile() -> None:
        collector.stop = stop
        window._stop(lambda _: True)    # as the thread does that governs it, where a slow disk keeps it longer than the end waits

    collector.stop = meanwhile
    profiler.stop()
    assert not window._running
    assert window.closed


def test_a_look_that_takes_long_is_thinned_in_a_real_window(tmp_path, monkeypatch):
    class Slow(Collector):
        key = "slow"
        period = 0.001

        def tick(self) -> None:
            until = time.thread_time() + 0.002
            while time.thread_time() < until:
                pass

    monkeypatch.setitem(COLLECTORS._ours, "slow", f"{__name__}:Slow")
    monkeypatch.setitem(COLLECTORS._found, "slow", Slow)
    monkeypatch.setattr(plan, "names", lambda: tuple(COLLECTORS))
    with Profiler(tmp_path, collectors=["slow"], max_overhead=0.5) as profiler:
        window, deadline = profiler.windows[0], time.monotonic() + 100
        while window._beats["slow"].period == 1_000_000 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert window._beats["slow"].period >= 4_000_000    # 2 ms, half of the time


@pytest.mark.parametrize("share", [0, -0.1, 1.5, "a lot", True, None, float("nan")])
def test_wrong_shares(tmp_path, share):
    with pytest.raises(ValueError, match="max_overhead: a share of the time, above 0 and up to 1, is needed, got"):
        Profiler(tmp_path, False, max_overhead=share)
