"""A trainer is killed at any moment: what it had said it would record, more than a quarter of a second before, is in its files.

The trainer writes a journal (tag, step, value, monotonic time) into a pipe *before* each call. Meanwhile a reader follows the run. Nothing
may be found, by the reader or in the files, that the journal lacks.
"""

from __future__ import annotations

import os
import random
import signal
import struct
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from testkit import events, scripts

from summarykit import Run

KILLS = 50
AT_ONCE = 5
PROMISED_SECS = 0.25
ENTRY = struct.Struct("<cBqdd")

TRAINER = """
import os, random, struct, sys, time
from summarykit import SummaryRecord
journal, seed = int(sys.argv[2]), int(sys.argv[3])
entry, draw = struct.Struct("<cBqdd"), random.Random(seed)
options = [{}, {"max_file_size": 20_000}, {"flush_secs": 0.05}][seed % 3]
record = SummaryRecord(sys.argv[1], **options)
record.add_value("histogram", "warm", [1.0]); record.record(0); record.flush()    # imports are no matter of a quarter of a second
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

Key = tuple[str, str, int, float]


@dataclass
class Trainer:
    """One trainer with its journal, and a reader that follows it."""

    directory: Path
    seed: int
    followed: list[Key] = field(default_factory=list)
    over: bool = False

    def start(self) -> None:
        self.directory.mkdir()
        self._read, write = os.pipe()
        self.script = scripts.Script(TRAINER, (str(self.directory), str(write), str(self.seed)))
        self.process = self.script.start(pass_fds=[write], stdout=subprocess.DEVNULL)
        os.close(write)
        self._journal: list[bytes] = []
        self._threads = [threading.Thread(target=each) for each in (self._drain, self._follow)]
        for thread in self._threads:
            thread.start()

    def _drain(self) -> None:
        while data := os.read(self._read, 2**16):
            self._journal.append(data)
        os.close(self._read)

    def _follow(self) -> None:
        for point in Run(self.directory).follow(interval=0.05, stop=lambda: self.over):
            value = point.value.value if point.kind == "scalar" else point.value.min
            if point.tag != "warm":
                self.followed.append((point.kind, point.tag, point.step, value))

    def wait_for_first_entry(self) -> None:
        while not self._journal and self.process.poll() is None:
            time.sleep(0.01)

    def kill(self) -> None:
        self.killed_at = time.monotonic()
        self.process.send_signal(signal.SIGKILL)
        _, errors = self.process.communicate()
        assert self.process.returncode == -signal.SIGKILL, errors
        self.over = True
        for thread in self._threads:
            thread.join(20)
        assert not any(thread.is_alive() for thread in self._threads)

    def journal(self) -> dict[Key, float]:
        """When each value was announced."""
        data = b"".join(self._journal)
        entries = ENTRY.iter_unpack(data[: len(data) // ENTRY.size * ENTRY.size])
        return {({b"s": "scalar", b"h": "histogram"}[kind], f"tag{tag}", step, value): at for kind, tag, step, value, at in entries}

    def judge(self) -> int:
        """Compare; gives the number of values that had to be there."""
        journal = self.journal()
        promised = {key for key, at in journal.items() if at < self.killed_at - PROMISED_SECS}
        for layout in ("mindspore", "tensorboard"):
            keys = list(self._found(layout))
            assert len(keys) == len(set(keys)), f"{layout}: a value came twice"
            assert set(keys) <= journal.keys(), f"{layout}: {set(keys) - journal.keys()}"
            assert promised <= set(keys), f"{layout}: lost {sorted(promised - set(keys), key=lambda key: key[2])}"
        assert len(self.followed) == len(set(self.followed))
        assert set(self.followed) <= journal.keys()
        assert promised <= set(self.followed)
        return len(promised)

    def _found(self, layout: str) -> Iterator[Key]:
        """What one format's files hold; they are sound but for a torn record at the very end."""
        files = events.files(self.directory, layout)
        assert all(events.whole(path)[1] == 0 for path in files[:-1])
        for point in events.all_points(self.directory, layout):
            if point.tag != "warm":
                yield point.kind, point.tag, point.step, point.value if point.kind == "scalar" else smallest(point.value, layout)


def smallest(message: bytes, layout: str) -> float:
    """The minimum in a histogram message."""
    fields: dict[int, Any] = dict(events.fields(message))
    return struct.unpack("<d", fields[6 if layout == "mindspore" else 1])[0]


@pytest.mark.slow
def test_fifty_kills_at_random_times(tmp_path):
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    draw = random.Random(seed)
    promised = 0
    for first in range(0, KILLS, AT_ONCE):
        trainers = [Trainer(tmp_path / str(number), number) for number in range(first, first + AT_ONCE)]
        try:
            for trainer in trainers:
                trainer.start()
            for trainer in trainers:
                trainer.wait_for_first_entry()
                time.sleep(draw.uniform(0.0, 0.6))
                trainer.kill()
        finally:
            for trainer in trainers:
                trainer.script.kill()
                trainer.over = True
        promised += sum(trainer.judge() for trainer in trainers)
        assert [scripts.wait_until_gone(trainer.script.token, 5) for trainer in trainers] == [[]] * AT_ONCE
    assert promised > 100 * KILLS, "the trainers were too slow for this to prove anything"
