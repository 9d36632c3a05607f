"""MindSpore's own operators (``ScalarSummary``, ``ImageSummary`` ...), which work in both of its modes.

It keeps what they were called with until somebody takes it: in graph mode in one place, in PyNative mode in another, from where its own
function brings it to the first.
"""

from __future__ import annotations

import re
import sys

from summarykit.ops.current import Given

_NAME = re.compile(r"(.+)\[:(\w+)\]", re.DOTALL)    # "loss[:Scalar]"


def taken() -> list[Given]:
    """Take what is there; the last value of each name."""
    place = sys.modules.get("mindspore.train.summary.summary_record")
    if place is None:
        return []
    place._record_summary_tensor_data()
    found = [(_NAME.fullmatch(name), value) for name, value in place._get_summary_tensor_data().items()]
    return [Given(name[2].lower(), name[1], value, {}) for name, value in found if name]
