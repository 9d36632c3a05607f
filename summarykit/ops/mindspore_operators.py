"""MindSpore's own operators (``ScalarSummary``, ``ImageSummary`` ...), which work in both of its modes.

It keeps what they were called with until somebody takes it: in PyNative mode in a list, in graph mode in a mapping, as ``"loss[:Scalar]"``.
"""

from __future__ import annotations

import sys
from typing import Any

from summarykit.ops.current import Given

OPERATORS = {f"{kind}Summary": kind.lower() for kind in ("Scalar", "Image", "Tensor", "Histogram")}


def taken() -> list[Given]:
    """Take what is there; of each kind and tag the last value."""
    debug_ops: Any = sys.modules.get("mindspore.ops.operations.debug_ops")
    summary_record: Any = sys.modules.get("mindspore.train.summary.summary_record")
    if debug_ops is None or summary_record is None:
        return []
    if not (debug_ops.SUMMARY_TENSOR_CACHE or summary_record.SUMMARY_TENSOR_CACHE):    # asked after every step, and most models have none
        return []
    queued, debug_ops.SUMMARY_TENSOR_CACHE = debug_ops.SUMMARY_TENSOR_CACHE, []    # its own way raises for some values
    found = {(OPERATORS[operator], tag): value for operator, tag, value in queued}
    for name, value in summary_record._get_summary_tensor_data().items():
        tag, _, kind = name.rpartition("[:")
        found[kind.rstrip("]").lower(), tag] = value
    return [Given(kind, tag, value, {}) for (kind, tag), value in found.items()]
