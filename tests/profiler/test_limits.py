"""PR9: memory and disk of a window are bounded, and its beginning or its end is kept."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from summarykit import Profiler
from summarykit.profiler.merging import recorded
from summarykit.profiler.names import NAMES
from summarykit.profiler.recording import Recording
from summarykit.training.training import Training

LIMIT = 1 << 16


@pytest.fixture
def scale() -> int:
    """Every file has the names of its process, and other tests leave some thousand here: all is as much larger."""
    return 1 + len(json.dumps(NAMES.entries)) // 8192


def size(directory: Path) -> int:
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())


def record(path: Path, rounds: int, limit: int, **options: object) -> tuple[Profiler, Recording]:
    """Record 500 steps a round, written after each."""
    profiler = Profiler(path, collectors=[], max_bytes=limit, **options)    # type: ignore[arg-type]
    window = profiler.windows[-1]
    for _ in range(rounds):
        for _ in range(500):
            profiler.step()
        window._store.drain()
    profiler.stop()
    (recording,) = recorded(window.records)
    return profiler, recording


def test_pr9_the_oldest_are_kept(tmp_path, caplog, scale):
    _, recording = record(tmp_path, 20 * scale, LIMIT * scale)
    step = recording.tables["steps"]["step"]
    assert size(tmp_path) <= LIMIT * scale + 4096
    assert step.tolist() == list(range(1, len(step) + 1))
    assert 1000 * scale <= len(step) < 10_000 * scale
    assert recording.meta["over"] == "bytes"
    assert recording.skipped == {"not written: bytes": 10_000 * scale - len(step)}


def test_pr9_the_newest_are_kept(tmp_path, scale):
    _, recording = record(tmp_path, 20 * scale, LIMIT * scale, keep="newest")
    step, last = recording.tables["steps"]["step"], 10_000 * scale
    assert size(tmp_path) <= LIMIT * scale + 4096
    assert step.tolist() == list(range(last + 1 - len(step), last + 1))
    assert len(step) >= 500 * scale
    assert recording.meta["dropped_files"] > 0
    assert not recording.skipped


def test_what_rows_speak_of_is_in_every_file(tmp_path, scale):
    profiler = Profiler(tmp_path, collectors=["stacks"], max_bytes=LIMIT * scale, keep="newest")
    for place in range(20):
        for _ in range(200 * scale):
            with profiler.phase(f"phase {place}"):
                pass
        profiler.windows[-1]._store.drain()
    profiler.stop()
    (recording,) = recorded(profiler.windows[-1].records)
    assert recording.meta["dropped_files"] > 0
    assert not recording.skipped
    assert {"phase 19"} <= {recording.spans.names[number] for number in np.unique(recording.spans.name)}


@pytest.mark.parametrize("keep", ["oldest", "newest"])
def test_limits_in_seconds(tmp_path, keep, monkeypatch: pytest.MonkeyPatch):
    now = [0]
    monkeypatch.setattr("summarykit.profiler.keeping.perf_counter_ns", lambda: now[0])
    monkeypatch.setattr("summarykit.profiler.segment.perf_counter_ns", lambda: now[0])
    profiler = Profiler(tmp_path, collectors=[], max_seconds=4.0, keep=keep)
    store = profiler.windows[-1]._store
    for _ in range(20):
        profiler.step()
        store.drain()
        now[0] += 10**9
    profiler.stop()
    (recording,) = recorded(profiler.windows[-1].records)
    step = recording.tables["steps"]["step"].tolist()
    assert step == ([1, 2, 3, 4, 5] if keep == "oldest" else step[-1:-6:-1][::-1] if len(step) < 6 else step)
    assert step[-1] == (5 if keep == "oldest" else 20)
    assert 4 <= len(step) <= 10


def test_a_full_window_is_said_and_its_hooks_are_gone(tmp_path, caplog, scale):
    begin_step = Training.begin_step
    caplog.set_level(logging.WARNING, "summarykit")
    profiler = Profiler(tmp_path, collectors=["gc"], max_bytes=LIMIT * scale)
    window = profiler.windows[-1]
    assert Training.begin_step is not begin_step
    for _ in range(10_000 * scale):
        profiler.step()
    window._written()
    assert Training.begin_step is begin_step
    assert "reached its limit in bytes" in caplog.text
    profiler.stop()
    (recording,) = recorded(window.records)
    assert recording.meta["complete"]


MEMORY = """
import sys, psutil
import torch
from summarykit import Profiler
torch.set_num_threads(1)
tensor = torch.ones(4)
process = psutil.Process()
tensor.add_(1)
with Profiler(sys.argv[1] + "/first") as profiler:    # what is needed once: code, caches
    profiler.step(); tensor.add_(1); profiler.step()
before = process.memory_info().rss
profiler = Profiler(sys.argv[1] + "/second", max_bytes=8 << 20)
for _ in range(20_000):
    tensor.add_(1)
    profiler.step()
profiler.stop()
print(process.memory_info().rss - before)
"""


def test_pr9_twenty_thousand_tiny_operators(run_script: Callable[..., object], tmp_path):
    pytest.importorskip("torch")
    done = run_script(MEMORY, tmp_path).expect_success()    # type: ignore[attr-defined]
    assert int(done.stdout) < 64 << 20
    assert size(tmp_path / "second") < 10 << 20
