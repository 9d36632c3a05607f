"""No collector costs more than its share: it looks more rarely, or is off; it is said once, and in the report."""

from __future__ import annotations

import logging
import time

import pytest

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


def test_marks_that_take_too_much_of_the_time_are_off(now, said):
    ours, collector = Governor(0.05), Marking()
    now[0], collector.marks = 500_000_000, 40_000
    assert not ours.too_dear(collector, 500)    # 20 of 500 ms
    now[0], collector.marks = 1_000_000_000, 120_000
    assert ours.too_dear(collector, 500)    # 40 of the last 500 ms
    assert said() == ["profiler: collector 'marking' took 0.08 of the time, max_overhead=0.05: it is off from here on"]


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
