"""Collectors that need no framework: machine, stacks, garbage, logging, stages of a pipeline."""

from __future__ import annotations

import gc
import logging
import mmap
import sys
import threading
import time
from collections import Counter

import pytest
from testkit.nvml import Nvml

from summarykit import Loop, Profiler
from summarykit.profiler import pipeline, plan
from summarykit.profiler.collectors import COLLECTORS, Collector, Site
from summarykit.profiler.collectors.stacks import DEEPEST, Stacks
from summarykit.profiler.merging import recorded
from summarykit.profiler.names import NAMES
from summarykit.profiler.pipeline import buffered, stage
from summarykit.profiler.recording import Category, Recording
from summarykit.profiler.tape import Tape


def read(profiler: Profiler) -> Recording:
    (recording,) = recorded(profiler.windows[-1].records)
    assert not recording.skipped
    return recording


def spans(recording: Recording, category: Category) -> Counter[str]:
    chosen = recording.spans.of(category)
    return Counter(recording.spans.names[number] for number in recording.spans.name[chosen].tolist())


@pytest.fixture
def site(tmp_path) -> Site:
    return Site(Tape(), tmp_path, "rank_0", 1 << 20)


@pytest.mark.parametrize("key", list(COLLECTORS))
def test_every_collector_has_its_key(key):
    kind = COLLECTORS.get(key)
    assert issubclass(kind, Collector)
    assert kind.key == key
    assert isinstance(kind.useful(), bool)


def test_system_counters(site):
    kind = COLLECTORS.get("system")
    collector = kind(site)
    collector.start()
    time.sleep(0.06)
    collector.tick()
    block = mmap.mmap(-1, 20 << 20)    # new pages, whatever memory the allocator keeps
    block.write(bytes(20 << 20))
    time.sleep(0.06)
    collector.tick()
    found: dict[str, list[float]] = {}
    from summarykit.profiler.names import NAMES

    columns = site.tape.counters.take()
    for number, value in zip(columns["counter"].tolist(), columns["value"].tolist(), strict=True):
        found.setdefault(NAMES.entries[number][1], []).append(value)
    for name in ("system/cpu", "system/cpu_0", "system/memory", "process/cpu", "process/memory", "process/threads"):
        assert len(found[name]) == 2, name
    assert found["process/memory"][1] - found["process/memory"][0] >= 15 << 20
    assert all(0 <= value <= 100 for value in found["system/cpu"])
    assert collector.described()["cores"] >= 1
    block.close()


def test_a_look_right_after_another_says_nothing_of_processor_time(site):
    """It would be 0 % or 100 %: the system counts in ticks."""
    collector = COLLECTORS.get("system")(site)
    collector.soonest = 10**12
    collector.start()
    collector.stop()
    from summarykit.profiler.names import NAMES

    names = {NAMES.entries[number][1] for number in site.tape.counters.take()["counter"].tolist()}
    assert "system/memory" in names
    assert not [name for name in names if "cpu" in name]


def test_the_sampler_knows_where_python_is(tmp_path):
    ready, end = threading.Event(), threading.Event()

    def stand_still() -> None:
        ready.set()
        end.wait()

    thread = threading.Thread(target=stand_still, name="the one that waits")
    thread.start()
    ready.wait()
    with Profiler(tmp_path, collectors=["stacks"]) as profiler:
        samples = profiler.windows[0]._tape.tables["samples"]
        deadline = time.monotonic() + 100
        while len(samples) < 20 and not profiler.windows[0]._store.written and time.monotonic() < deadline:
            time.sleep(0.005)
    end.set()
    thread.join()
    recording = read(profiler)
    assert any("Event.wait" in name or "wait (" in name for name in spans(recording, Category.PYTHON))
    stacks, table = recording.tables["stacks"], recording.tables["samples"]
    lane = next(number for number, lane in enumerate(recording.spans.lanes) if lane.title == "the one that waits")
    place, chain = int(table["stack"][table["lane"] == lane][0]), []
    while place >= 0:
        chain.append(stacks["frame"][place])
        place = int(stacks["parent"][place])
    assert any("stand_still" in frame and f"{__file__}:" in frame for frame in chain)
    assert not any("Ticker" in frame for frame in stacks["frame"])


def sampler(monkeypatch, tmp_path, frame) -> Stacks:
    """One that sees a single thread, which is where a frame is."""
    monkeypatch.setattr(sys, "_current_frames", lambda: {1: frame()})
    return Stacks(Site(Tape(), tmp_path, "rank_0", 1 << 20))


def seen(collector: Stacks) -> list[str]:
    """The whole stacks of all samples so far, the outermost frame first."""
    stacks, found = collector.site.tape.lists["stacks"], []
    for place in collector.site.tape.tables["samples"].take()["stack"].tolist():
        chain = []
        while place >= 0:
            place, name = stacks[place]
            chain.append(NAMES.entries[name][1])
        found.append(" ".join(reversed(chain)))
    return found


def test_a_sample_tells_the_line_where_a_thread_is(monkeypatch, tmp_path):
    def places():
        yield 1
        yield 2

    line = places.__code__.co_firstlineno
    here = [f"{places.__qualname__ if sys.version_info >= (3, 11) else 'places'} ({__file__}:{line + after})" for after in (1, 2)]
    for _ in range(2):
        thread = places()
        collector = sampler(monkeypatch, tmp_path, lambda thread=thread: thread.gi_frame)
        for _ in thread:
            collector.tick()
            collector.tick()
        assert seen(collector) == [here[0], here[0], here[1], here[1]]


def test_a_thread_that_goes_on_while_it_is_looked_at_spoils_no_later_sample(monkeypatch, tmp_path):
    def places():
        yield 1
        yield 2

    thread = places()
    collector = sampler(monkeypatch, tmp_path, lambda: thread.gi_frame)
    next(thread)
    frame = thread.gi_frame
    next(thread)    # between the look that found its stack to be new, and this one
    collector._enter(frame)
    assert list(collector._known) == [(id(places.__code__), thread.gi_frame.f_lasti)]
    collector.tick()
    (told,) = seen(collector)
    assert told.endswith(f":{places.__code__.co_firstlineno + 2})")


def test_of_a_deep_stack_the_innermost_frames_are_kept(monkeypatch, tmp_path):
    def deeper(depth: int):
        if depth:
            return deeper(depth - 1)
        collector.tick()
        return None

    collector = sampler(monkeypatch, tmp_path, sys._getframe)
    deeper(300)
    (told,) = seen(collector)
    assert told.count("deeper") >= DEEPEST - 3    # beside the look itself
    assert len(collector.site.tape.lists["stacks"]) == DEEPEST


def lines_of(source: str):
    """A thread that stops at each ``yield`` of these lines."""
    space: dict[str, object] = {}
    exec(compile(f"def made():\n{source}", f"<{hash(source)}>", "exec"), space)
    return space["made"]()


def test_ever_new_code_is_forgotten_and_told_all_the_same(monkeypatch, tmp_path):
    monkeypatch.setattr("summarykit.profiler.collectors.stacks.REMEMBERED", 8)
    threads = [lines_of("  yield 1\n  yield 2\n") for _ in range(50)]    # of the same text, so of the same names
    collector = sampler(monkeypatch, tmp_path, lambda: thread.gi_frame)
    for thread in threads:
        for _ in thread:
            collector.tick()
        assert len(collector._known) + len(collector._names) <= 8 + 2
        assert len(collector._codes) <= 8 + 1
    told = seen(collector)
    assert len(told) == 100
    assert told == told[:2] * 50
    assert len(collector.site.tape.lists["stacks"]) == 2


def test_of_too_many_stacks_the_callers_are_kept_and_the_rest_is_counted_and_said(monkeypatch, tmp_path, caplog):
    monkeypatch.setattr("summarykit.profiler.collectors.stacks.MOST", 6)
    before = len(NAMES.entries)
    threads = [lines_of(f"  yield {number}\n") for number in range(20)]

    def called():
        for thread in threads:
            next(thread)
            yield thread.gi_frame

    collector, frames = Stacks(Site(Tape(), tmp_path, "rank_0", 1 << 20)), called()
    for frame in frames:
        collector._add((0, 1, collector._enter(frame)))
    assert [bool(stack) for stack in seen(collector)] == [True] * 6 + [False] * 14
    assert collector.described()["cut"] == 14
    assert len(NAMES.entries) == before + 6
    assert caplog.text.count("more than 6 callers in the stacks") == 1


def test_what_was_cut_is_in_the_report(monkeypatch, tmp_path):
    monkeypatch.setattr("summarykit.profiler.collectors.stacks.MOST", 1)
    with Profiler(tmp_path, collectors=["stacks"]) as profiler:
        collector = next(iter(profiler.windows[0]._running))
        collector.tick()
        profiler.windows[0]._ticker.end()
        cut = collector._cut
    (recording,) = recorded(profiler.windows[0].records)
    assert recording.skipped == {"samples of too many stacks: of these only the callers are known": cut}
    assert "samples of too many stacks" in str(profiler.analyse())


def test_garbage_collections_are_spans(tmp_path):
    with Profiler(tmp_path, collectors=["gc"]) as profiler:
        gc.collect()
    assert spans(read(profiler), Category.GC)["garbage collection, generation 2"] >= 1


def test_logging_print_and_our_callbacks_are_the_phase_logging(tmp_path, capsys):
    logger = logging.getLogger("a user's")
    with Profiler(tmp_path, collectors=["logging"]) as profiler:
        print("epoch 1")
        logger.warning("loss is %f", 1.0)
    assert capsys.readouterr().out == "epoch 1\n"
    assert spans(read(profiler), Category.PHASE) == {"logging": 2}


def test_the_loop_is_a_loop_of_data_waits_and_steps(tmp_path):
    with Profiler(tmp_path, collectors=[]) as profiler:
        for _ in Loop(train_dataset=range(5)).steps():
            pass
    recording = read(profiler)
    assert spans(recording, Category.PHASE) == {"data wait": 6}    # the last one finds that there is no more
    steps = recording.tables["steps"]
    assert steps["step"].tolist() == [1, 2, 3, 4, 5]
    assert (steps["end"][:-1] == steps["start"][1:]).all()


class Slow:
    """Gives numbers, each after a while, without a generator's frame."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __iter__(self):
        for number in range(self.count):
            time.sleep(0.001)
            yield number


def test_stages_of_a_pipeline(tmp_path):
    records = stage("read", Slow(8), workers=3)
    images = stage("decode", (record + 1 for record in records))
    batches = buffered("prefetch", images, size=4)
    with Profiler(tmp_path, collectors=["pipeline"]) as profiler:
        assert list(batches) == list(range(1, 9))
    table = read(profiler).tables["pipeline"]
    assert table["op_type"].tolist() == ["prefetch", "decode", "read"]
    assert table["num_workers"].tolist() == [1, 1, 3]
    assert table["capacity"].tolist() == [4, 0, 0]
    assert table["op_id"].tolist() == [0, 1, 2]
    assert table["parent"].tolist() == [-1, 0, 1]
    assert table["children"].tolist() == [[1], [2], []]
    assert table["pulled"].tolist() == [9, 9, 9]    # the ninth time says that there is no more
    assert all(0 <= size <= 4 for size in table["sizes"][0])
    assert table["self"][1] < table["total"][1]
    assert table["self"][2] == table["total"][2] >= 8_000_000


def test_a_pipeline_without_a_window_is_just_its_items():
    items = buffered("prefetch", stage("read", [1, 2, 3]))
    assert list(items) == list(items) == [1, 2, 3]
    assert len(items) == 3


def test_an_exception_in_a_stage_is_raised_where_its_item_would_have_come():
    def broken():
        yield 1
        raise KeyError("file")

    items = iter(buffered("prefetch", broken()))
    assert next(items) == 1
    with pytest.raises(KeyError, match="file"):
        next(items)


def test_a_pass_that_is_left_ends_its_thread():
    def endless():
        while True:
            yield 1

    items = iter(buffered("left alone", endless(), size=1))
    assert next(items) == 1
    (thread,) = [one for one in threading.enumerate() if one.name == "pipeline left alone"]
    del items
    gc.collect()
    thread.join(100)
    assert not thread.is_alive()


@pytest.mark.parametrize("make", [lambda: stage("", []), lambda: stage("a", [], workers=0), lambda: buffered("a", [], size=0)])
def test_wrong_stages_are_refused(make):
    before = {*pipeline.stages}
    with pytest.raises((TypeError, ValueError)) as refused:
        make()
    assert {*pipeline.stages} <= before, refused    # whose traceback holds what was half made


def test_a_collector_of_somebody_else(tmp_path, monkeypatch):
    class Own(Collector):
        key = "own"
        period = 0.001

        def start(self) -> None:
            self._rows = self.site.tape.table("weather", {"time": "int", "degrees": "float"})

        def tick(self) -> None:
            self._rows.add((time.perf_counter_ns(), 21.5))

    monkeypatch.setitem(COLLECTORS._ours, "own", f"{__name__}:Own")
    monkeypatch.setitem(COLLECTORS._found, "own", Own)
    monkeypatch.setattr(plan, "names", lambda: tuple(COLLECTORS))
    with Profiler(tmp_path, collectors=["own"]) as profiler:
        deadline = time.monotonic() + 100
        while not profiler.windows[0]._tape.tables["weather"] and time.monotonic() < deadline:
            time.sleep(0.001)
    assert read(profiler).meta["costs"]["own"]["calls"] >= 1


def test_gpus_are_those_that_cuda_shows(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pynvml", Nvml())
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    with Profiler(tmp_path, collectors=["gpu"]) as profiler:
        deadline = time.monotonic() + 100
        while len(profiler.windows[0]._tape.counters) < 3 and time.monotonic() < deadline:
            time.sleep(0.001)
    recording = read(profiler)
    counters = recording.tables["counters"]
    assert set(counters["counter"].tolist()) == {"gpu_0/utilization", "gpu_0/memory", "gpu_0/temperature"}
    assert set(counters["value"].tolist()) == {51.0, 6e6, 41.0}
    assert recording.meta["collected"]["gpu"] == {"devices": ["model 1"], "memory_total": [8_000_000]}


def test_gpu_is_not_there(tmp_path, monkeypatch, caplog):
    monkeypatch.setitem(sys.modules, "pynvml", None)
    with Profiler(tmp_path, collectors=["gpu"]) as profiler:
        profiler.step()
    assert "pip install 'summarykit[gpu]'" in caplog.text
    assert read(profiler).tables["steps"].rows == 1
