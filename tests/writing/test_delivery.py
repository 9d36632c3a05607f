"""What is loaded with the first value that is no scalar."""

from __future__ import annotations

import json

from summarykit import Run, SummaryRecord
from summarykit.writing import delivery

PICTURE = """
import json, sys
import numpy as np
from summarykit import SummaryRecord
before = set(sys.modules)
with SummaryRecord(sys.argv[1]) as record:
    record.add_value("image", "input", np.zeros((64, 64, 3), np.uint8))
    record.record(1)
print(json.dumps([record.stats()["written"], sorted(set(sys.modules) - before)]))
"""

FOR_OTHERS = {
    *("summarykit.kinds.fitting", "summarykit.kinds.histogram", "dataclasses", "pathlib"),
    *(f"summarykit.writing.{name}" for name in ("crew", "export", "graphs", "hired", "projector")),
}


def test_a_picture_loads_nothing_that_only_other_values_need(run_script, tmp_path):
    written, loaded = json.loads(run_script(PICTURE, tmp_path).expect_success().stdout)
    assert written == 1
    assert "summarykit.kinds.png" in loaded
    assert FOR_OTHERS & set(loaded) == set()


MISSING = """
import json, sys
from summarykit import SummaryRecord
name = "summarykit.writing.delivery"
sys.modules[name] = None    # as where a library is exchanged, or there are too many open files, just then
with SummaryRecord(sys.argv[1]) as record:
    for step in range(4):
        record.add_value("tensor", "a", [1.0, step])
        record.record(step)
        record.flush()
        if step == 2:
            del sys.modules[name]
print(json.dumps(record.stats()))
"""


def test_what_cannot_be_delivered_is_counted_and_tried_again_with_the_next_value(run_script, tmp_path):
    stats = json.loads(run_script(MISSING, tmp_path).expect_success().stdout)
    assert (stats["dropped"], stats["written"], stats["waiting"]) == ({"ModuleNotFoundError": 3}, 1, 0)


def test_small_records_that_cannot_be_joined_are_counted(tmp_path, monkeypatch):
    with SummaryRecord(tmp_path) as record:
        for step in range(3):
            record.add_value("tensor", "a", [1.0, step])
            record.record(step)
            with monkeypatch.context() as patch:
                if step == 1:
                    patch.setattr(delivery, "chunks", lambda _: (_ for _ in ()).throw(MemoryError("no room")))
                assert record.flush()
    assert record.stats()["dropped"] == {"MemoryError": 1}
    assert Run(tmp_path).tensors("a").step.tolist() == [0, 2]
