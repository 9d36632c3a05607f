"""What is loaded with the first value that is no scalar."""

from __future__ import annotations

import json

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
