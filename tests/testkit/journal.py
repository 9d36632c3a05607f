"""A trainer that writes down what it is about to record, and is killed: nothing may be found that it did not announce, nor may what it
announced more than a quarter of a second before its death be missing.

The journal goes through a pipe. Its entries: kind (``s``, ``h`` or ``t``), number of the tag, step, value, monotonic time. A thread of the
trainer beats in it too (`BEAT`; kind ``c``, every 10 ms): where a machine is so busy that the beats are late, so may the promise be.
"""

from __future__ import annotations

import itertools
import os
import signal
import struct
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from testkit import events, scripts

PROMISED_SECS = 0.25
LATE_SECS = 0.05    # between two beats
ENTRY = struct.Struct("<cBqdd")
KINDS = {b"s": "scalar", b"h": "histogram", b"t": "tensor"}
BEAT = """
import threading

def beat():
    while True:
        os.write(journal, entry.pack(b"c", 0, 0, 0.0, time.monotonic()))
        time.sleep(0.01)
threading.Thread(target=beat, daemon=True).start()
"""
LAYOUTS = ("mindspore", "tensorboard")

Key = tuple[str, str, int, float]


@dataclass
class Trainer:
    """One trainer with its journal. ``code`` gets the directory, the descriptor of the journal and the seed as arguments."""

    code: str
    directory: Path
    seed: int
    over: bool = field(default=False, init=False)

    def start(self) -> None:
        self.directory.mkdir()
        self._read, write = os.pipe()
        self.script = scripts.Script(self.code, (str(self.directory), str(write), str(self.seed)))
        self.process = self.script.start(pass_fds=[write], stdout=subprocess.DEVNULL)
        os.close(write)
        self._journal: list[bytes] = []
        self._threads = [threading.Thread(target=each) for each in self.watchers()]
        for thread in self._threads:
            thread.start()

    def watchers(self) -> list[Any]:
        """What runs beside it, each in a thread, until it is over."""
        return [self._drain]

    def _drain(self) -> None:
        while data := os.read(self._read, 2**16):
            self._journal.append(data)
        os.close(self._read)

    def wait_for_first_entry(self) -> None:
        while not self.journal() and self.process.poll() is None:
            time.sleep(0.01)

    def kill(self) -> None:
        self.killed_at = time.monotonic()
        self.process.send_signal(signal.SIGKILL)
        _, errors = self.process.communicate()
        assert self.process.returncode == -signal.SIGKILL, errors
        self.over = True
        for thread in self._threads:
            thread.join(60)
        assert not any(thread.is_alive() for thread in self._threads)

    def stop(self) -> None:
        """End all that is left of it, whatever happened."""
        self.script.kill()
        self.over = True

    def journal(self) -> dict[Key, float]:
        """When each value was announced."""
        return {(KINDS[kind], f"tag{tag}", step, value): at for kind, tag, step, value, at in self._entries() if kind in KINDS}

    def promised(self) -> set[Key]:
        """What has to be there."""
        latest = self.killed_at - PROMISED_SECS - self._starved()
        return {key for key, at in self.journal().items() if at < latest}

    def _starved(self) -> float:
        """Seconds that a thread of the trainer did not run although it was due, in the last second; twice that, for it takes two turns."""
        beats = [at for kind, *_, at in self._entries() if kind == b"c" and at > self.killed_at - 1]
        gaps = [later - earlier for earlier, later in itertools.pairwise([*beats, self.killed_at])]
        return 2 * max([gap for gap in gaps if gap > LATE_SECS], default=0.0)

    def _entries(self) -> Iterator[tuple[bytes, int, int, float, float]]:
        data = b"".join(self._journal)
        return ENTRY.iter_unpack(data[: len(data) // ENTRY.size * ENTRY.size])

    def lost(self, found: set[Key]) -> list[tuple[float, Key]]:
        """What is not there of it: seconds from the announcement to the end, and what."""
        journal = self.journal()
        return sorted((round(self.killed_at - journal[key], 3), key) for key in self.promised() - found)


def read(path: Path) -> tuple[list[Key], int]:
    """What one file holds (tags that begin with ``warm`` aside), and the bytes of a torn record behind it."""
    layout = events.format_of(path)
    payloads, torn = events.whole(path)
    points = [point for payload in payloads for point in events.of_payload(payload, layout) if not point.tag.startswith("warm")]
    return [(point.kind, point.tag, point.step, _value(point, layout)) for point in points], torn


def _value(point: events.Point, layout: str) -> float:
    """A scalar, a histogram's minimum, or what all values of a float32 tensor are (NaN where they differ)."""
    if point.kind == "scalar":
        return point.value
    fields: dict[int, Any] = dict(events.fields(point.value))
    if point.kind == "histogram":
        return struct.unpack("<d", fields[6 if layout == "mindspore" else 1])[0]
    values = set(struct.iter_unpack("<f", fields[3 if layout == "mindspore" else 4]))
    return values.pop()[0] if len(values) == 1 else float("nan")
