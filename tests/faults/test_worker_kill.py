"""A trainer under heavy load is killed: what lies in the ring is written by its worker into a file of its own, and nothing stays behind."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass

import pytest
from testkit import events, journal, scripts

from summarykit import Run

pytestmark = pytest.mark.skipif(not scripts.HAS_WORKERS, reason="no worker processes on this system")
KILLS = 50
MOST_KILLS = 150    # a busy machine may take more until enough was promised
AT_ONCE = 2
ORPHANED = 10

# The parameters of a ResNet-18: 62 histograms of 11.7 M values, and a tensor, 20 scalars, an image. The next step comes as soon as the
# one before the last is written, so that the worker always has something to do.
TRAINER = """
import os, random, struct, sys, time
import numpy as np
from summarykit import SummaryRecord
from summarykit.writing import process
process.START_BYTES = 1
directory, journal, draw = sys.argv[1], int(sys.argv[2]), random.Random(int(sys.argv[3]))
entry = struct.Struct("<cBqdd")
sizes = [64] * 20 + [256] * 16 + [512] * 9 + [36_864] * 4 + [147_456] * 5 + [589_824] * 4 + [1_179_648] * 2 + [2_359_296] * 2
parameters = [np.random.default_rng(0).random(size, np.float32) for size in sizes]
weights, picture = np.empty(5_000, np.float32), np.zeros((64, 64, 3), np.uint8)
record = SummaryRecord(directory)

def announce(value):
    kinds = [(b"h", tag) for tag in range(len(parameters))] + [(b"t", 0)] + [(b"s", tag) for tag in range(20)]
    now = time.monotonic()
    os.write(journal, b"".join(entry.pack(*kind, step, value, now) for kind in kinds))    # less than 4 kB: all or nothing

def name(tag):
    return f"tag{tag}" if step > 0 else f"warm{tag}"

def one_step():
    value = float(np.float32(-draw.uniform(1.0, 1e6)))
    for tag, parameter in enumerate(parameters):
        parameter[-1] = value
        record.add_value("histogram", name(tag), parameter)
    weights[...] = value
    record.add_value("tensor", name(0), weights)
    for tag in range(20):
        record.add_value("scalar", name(tag), value)
    record.add_value("image", "warm", picture)
    if step > 0:
        announce(value)
    assert record.record(step)

record.add_value("histogram", "warm", parameters[-1]); record.record(0)
executor = record._writer.desk.works.executor
while not (executor._crew and executor._crew.arrivals):
    time.sleep(0.01)
""" + journal.BEAT + """
step = -5    # nor are the worker's imports
while True:
    step += 1
    one_step()
    while record.stats()["waiting"] > len(parameters):
        time.sleep(0.001)
"""


@dataclass
class Trainer(journal.Trainer):
    """One whose worker is to finish its work."""

    def judge(self) -> tuple[int, int]:
        """Compare; gives the numbers of values that had to be there, and that the worker wrote."""
        announced, promised = self.journal().keys(), self.promised()
        for layout in journal.LAYOUTS:
            own, others = self._files(layout)
            found = set(own) | set(others)
            assert len(own) == len(set(own)), f"{layout}: a value came twice"
            assert len(others) == len(set(others)), f"{layout}: a value came twice from the worker"
            assert found <= announced, f"{layout}: {sorted(found - announced)[:5]}"
            assert not self.lost(found), f"{layout}: lost {self.lost(found)}"
        self._read_back(found)
        return len(promised), len(others)

    def _files(self, layout: str) -> tuple[list[journal.Key], list[journal.Key]]:
        """What the trainer wrote, and what its worker did."""
        files = events.files(self.directory, layout)
        mine = [f".{self.process.pid}." in path.name for path in files]
        assert mine.count(True) == 1
        assert mine.count(False) <= 1
        read = [journal.read(path) for path in files]
        assert all(torn == 0 for _, torn in read), "a torn record is left"
        return read[mine.index(True)][0], [key for (keys, _), own in zip(read, mine, strict=True) if not own for key in keys]

    def _read_back(self, found: set[journal.Key]) -> None:
        """To the reader it is one run, without repetitions."""
        run = Run(self.directory)
        assert not run.damage
        for tag in {tag for kind, tag, *_ in found if kind == "histogram"}:
            expected = sorted((step, value) for kind, name, step, value in found if (kind, name) == ("histogram", tag))
            assert [(point.step, point.value.min) for point in run.histograms(tag)] == expected


@pytest.mark.slow
def test_fifty_kills_under_the_load_of_whole_models(tmp_path):
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    draw, kills, promised, orphaned = random.Random(seed), 0, 0, 0
    while kills < KILLS or (kills < MOST_KILLS and not (promised > 100 * KILLS and orphaned >= ORPHANED)):
        trainers = [Trainer(TRAINER, tmp_path / str(number), seed + number) for number in range(kills, kills + AT_ONCE)]
        kills += AT_ONCE
        try:
            for trainer in trainers:
                trainer.start()
            for trainer in trainers:
                trainer.wait_for_first_entry()
                time.sleep(draw.uniform(0.2, 0.6))
                trainer.kill()
            for trainer in trainers:
                assert scripts.wait_until_gone(trainer.script.token, 5) == []
        finally:
            for trainer in trainers:
                trainer.stop()
        judged = [trainer.judge() for trainer in trainers]
        promised += sum(had_to_be for had_to_be, _ in judged)
        orphaned += sum(bool(others) for _, others in judged)
    print(f"{promised} values promised; {orphaned} of {kills} kills left something to the worker")
    assert orphaned >= ORPHANED, "too few kills hit a worker at work"
    assert promised > 100 * KILLS, "the trainers were too slow for this to prove anything"
