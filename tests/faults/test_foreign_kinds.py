"""Kinds of third parties that raise what nobody expects: it costs that value alone, wherever it is worked on."""

from __future__ import annotations

import pytest
from testkit import events

FOREIGN = """
import threading
import numpy as np
from summarykit.shapes import Tensor

class Unspeakable(Exception):
    def __str__(self):
        raise RuntimeError("no words")

class Own(BaseException):
    pass

class Foreign:
    name = "foreign"
    def snapshot(self, value):
        return value
    def reduce(self, snapshot):
        first = snapshot.flat[0]
        if first < 4:
            raise [KeyboardInterrupt(), SystemExit(3), Own("mine"), Unspeakable()][int(first)]
        return Tensor(snapshot, "float64")

class Small(Foreign):
    name, small = "small", 10**6

class Light(Foreign):
    name, light = "light", True

class Awkward(Foreign):
    name, small = "awkward", "quite"
    @property
    def light(self):
        raise ValueError("it depends")

class Puzzling(Foreign):
    name, small = "puzzling", "quite"

class Endless(Foreign):
    name = "endless"
    def reduce(self, snapshot):
        threading.Event().wait()

FOREIGN, SMALL, LIGHT, AWKWARD, PUZZLING, ENDLESS = Foreign(), Small(), Light(), Awkward(), Puzzling(), Endless()
"""
CODE = """
import collections, sys
import numpy as np
from summarykit import SummaryRecord
from summarykit.writing import process
if sys.argv[3] == "process":
    process.START_BYTES = 1    # a worker is worth it from the first byte
kind = sys.argv[2]
with SummaryRecord(sys.argv[1], num_process=int(sys.argv[3] == "process")) as record:
    for step in range(8):
        record.add_value(kind, "t", np.full(1000, float(step % 5)))
        record.add_value("scalar", "s", float(step))
        assert record.record(step)
        assert record.flush(), step
stats = record.stats()
assert stats["waiting"] == 0 and stats["written"] == 9, stats
print(*sorted(f"{reason.split(': ', 1)[1]} {count}" for reason, count in stats["dropped"].items()), sep=chr(10))
"""
KINDS = ["foreign", "small", "light", "awkward", "puzzling", "endless"]
REASONS = ["KeyboardInterrupt:  2", "Own: mine 2", "SystemExit: 3 2", "Unspeakable: (it has no words) 1"]


@pytest.fixture
def imports(tmp_path):
    """Lines that make the kinds known, as an installed distribution does."""
    folder = tmp_path / "code"
    info = folder / "foreign-1.0.dist-info"
    info.mkdir(parents=True)
    (folder / "foreign.py").write_text(FOREIGN)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: foreign\nVersion: 1.0\n")
    points = "".join(f"{name} = foreign:{name.upper()}\n" for name in KINDS)
    (info / "entry_points.txt").write_text(f"[summarykit.kinds]\n{points}")
    return f"import sys; sys.path.insert(0, {str(folder)!r})\n"


@pytest.mark.parametrize("where", ["thread", "process"])
@pytest.mark.parametrize("kind", KINDS[:-1])
def test_va12_a_kind_that_raises_anything(kind, where, imports, tmp_path, run_script):
    done = run_script(imports + CODE, tmp_path / "run", kind, where).expect_success()
    assert done.stdout.splitlines() == REASONS
    assert "Traceback" not in done.stderr
    assert events.scalars(tmp_path / "run", "s") == [(step, float(step)) for step in range(8)]
    assert [point.step for point in events.all_points(tmp_path / "run", "mindspore") if point.tag == "t"] == [4]


def test_ex5_a_kind_that_never_ends(imports, tmp_path, run_script):
    """The process ends all the same, also where somebody has asked for its value in vain."""
    code = """
import numpy as np
from summarykit import SummaryRecord
from summarykit.writing import lifecycle
lifecycle.EXIT_SECS = 1.0
record = SummaryRecord(sys.argv[1], num_process=0)
record.add_value("scalar", "s", 1.0); record.add_value("endless", "t", np.zeros(3)); record.record(1)
assert not record._writer.flush(patience=0.2)
"""
    done = run_script(imports + code, tmp_path / "run").expect_success()
    assert "the process ended before it was worked on" in done.stderr
    assert events.both(tmp_path / "run") == [(1, 1.0)]
