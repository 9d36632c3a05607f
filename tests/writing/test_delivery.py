"""What is loaded with the first value that is no scalar."""

from __future__ import annotations

import json

import numpy as np
import pytest

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


@pytest.mark.parametrize(("error", "lost"), [(MemoryError, {}), (RuntimeError, {"tensor: RuntimeError": 1})])
def test_what_cannot_be_exported_costs_itself_alone(error, lost, tmp_path, monkeypatch):
    """The tensor is in the summary file all the same; what nobody foresaw is counted."""

    def save(path, array):
        real(path, array)
        if path.name == "a_2.npy":
            raise error("no more")

    real = np.save
    monkeypatch.setattr(np, "save", save)
    with SummaryRecord(tmp_path, export_options={"tensor_format": "npy"}, num_process=0) as record:
        for step in range(1, 5):
            record.add_value("tensor", "a", [1.0, step])
            record.add_value("tensor", "b", [1.0, step])
            record.record(step)
        assert record.flush()
        stats = record.stats()
    assert (stats["recorded"], stats["written"], stats["dropped"]) == (8, 8 - len(lost), lost)
    exported = sorted(path.name for path in tmp_path.glob("export_*/tensor/*"))
    assert exported == sorted(f"{tag}_{step}.npy" for tag in "ab" for step in range(1, 5) if (tag, step) != ("a", 2))
