"""A trainer is killed at any moment: what it had said it would record, more than a quarter of a second before, is in its files.

Meanwhile a reader follows the run. Nothing may be found, by the reader or in the files, that the journal lacks.
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, field
from typing import Any

import pytest
from testkit import events, journal, scripts

from summarykit import Run

KILLS = 50
MOST_KILLS = 150    # a busy machine may take more until enough was promised
AT_ONCE = 5

TRAINER = """
import os, random, struct, sys, time
from summarykit import SummaryRecord
journal, seed = int(sys.argv[2]), int(sys.argv[3])
entry, draw = struct.Struct("<cBqdd"), random.Random(seed)
options = [{}, {"max_file_size": 20_000}, {"flush_secs": 0.05}][seed % 3]
record = SummaryRecord(sys.argv[1], **options)
record.add_value("histogram", "warm", [1.0]); record.record(0); record.flush()    # imports are no matter of a quarter of a second
""" + journal.BEAT + """
step = 0
while True:
    step += 1
    for kind, count in ((b"s", 5), (b"h", step % 20 == 0)):
        for tag in range(count):
            value = draw.uniform(-1e9, 1e9)
            os.write(journal, entry.pack(kind, tag, step, value, time.monotonic()))
            if kind == b"s":
                record.add_value("scalar", f"tag{tag}", value)
            else:
                record.add_value("histogram", f"tag{tag}", [value, value + 1.0, value + 2.0])
    assert record.record(step)
    time.sleep(0.004 * draw.random())
"""

@dataclass
class Trainer(journal.Trainer):
    """A reader follows it."""

    followed: list[journal.Key] = field(default_factory=list)

    def watchers(self) -> list[Any]:
        return [*super().watchers(), self._follow]

    def _follow(self) -> None:
        for point in Run(self.directory).follow(interval=0.05, stop=lambda: self.over):
            value = point.value.value if point.kind == "scalar" else point.value.min
            if point.tag != "warm":
                self.followed.append((point.kind, point.tag, point.step, value))

    def judge(self) -> int:
        """Compare; gives the number of values that had to be there."""
        announced, promised = self.journal().keys(), self.promised()
        for layout in journal.LAYOUTS:
            files = events.files(self.directory, layout)
            read = [journal.read(path) for path in files]
            assert all(torn == 0 for _, torn in read[:-1]), "a torn record that is not at the very end"
            found = [key for keys, _ in read for key in keys]
            assert len(found) == len(set(found)), f"{layout}: a value came twice"
            assert set(found) <= announced, f"{layout}: {set(found) - announced}"
            assert not self.lost(set(found)), f"{layout}: lost {self.lost(set(found))}"
        assert len(self.followed) == len(set(self.followed))
        assert set(self.followed) <= announced
        assert promised <= set(self.followed)
        return len(promised)


@pytest.mark.slow
def test_fifty_kills_at_random_times(tmp_path):
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    draw = random.Random(seed)
    kills = promised = 0
    while kills < KILLS or (kills < MOST_KILLS and promised <= 100 * KILLS):
        trainers = [Trainer(TRAINER, tmp_path / str(number), number) for number in range(kills, kills + AT_ONCE)]
        kills += AT_ONCE
        try:
            for trainer in trainers:
                trainer.start()
            for trainer in trainers:
                trainer.wait_for_first_entry()
                time.sleep(draw.uniform(0.0, 0.6))
                trainer.kill()
        finally:
            for trainer in trainers:
                trainer.stop()
        promised += sum(trainer.judge() for trainer in trainers)
        assert [scripts.wait_until_gone(trainer.script.token, 5) for trainer in trainers] == [[]] * AT_ONCE
    assert promised > 100 * KILLS, "the trainers were too slow for this to prove anything"
