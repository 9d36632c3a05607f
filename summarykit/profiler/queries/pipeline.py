"""How full the queues between stages of the dataset's pipeline are: MindInsight's ``minddata-pipeline/op-queue`` and ``…/queue``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from summarykit.profiler.queries.answer import Answer, Condition, Row, matches, ordered, paged
from summarykit.profiler.queries.source import NotRecordedError, Source

COLUMNS = (
    "op_id", "op_type", "num_workers", "output_queue_size", "output_queue_average_size", "output_queue_length", "output_queue_usage_rate",
    "sample_interval", "parent_id", "children_id",
)
UNSORTABLE = ("output_queue_size", "children_id")
SHORT = COLUMNS[:2] + COLUMNS[4:]
THRESHOLD = (0.8, 0.6)
"""A stage of the input with more in its queue than the first is not slow, a first stage with less than the second is."""

_TYPE, _USE, _PARENT, _CHILDREN = 1, 6, 8, 9
_DROP = 0.1               # a stage that has this much less in its queue than one that feeds it is slow


class Pipeline:
    """The stages of one device's pipeline.

    Attributes:
        rows: one for each, of ``COLUMNS``.
    """

    def __init__(self, source: Source, device: str) -> None:
        """Read the file of stages; without it there are none."""
        self.rows = source.rows(f"minddata_pipeline_raw_{device}.csv", _row)
        self._by_id = {row[0]: row for row in self.rows}

    def ask(self, condition: Condition | None = None) -> Answer:
        """Answer a question.

        Args:
            condition: see ``answer.ask``; its filter may also hold ``threshold`` (``[high, low]``: only the stages that are slow by them)
                and ``is_display_op_detail`` (True: also workers and samples).

        Raises:
            ValueError: the condition is none.
        """
        condition = condition or {}
        wanted = condition.get("filter_condition") or {}
        rows = [row for row in self.rows if matches(COLUMNS, row, wanted)]
        if wanted.get("threshold"):
            rows = self.slow(rows, wanted["threshold"])
        rows = ordered(COLUMNS, rows, condition.get("sort_condition") or {}, UNSORTABLE)
        shown = paged(rows, condition.get("group_condition") or {})
        if wanted.get("is_display_op_detail", False):
            return Answer(list(COLUMNS), shown, len(rows))
        return Answer(list(SHORT), [[*row[:2], *row[4:]] for row in shown], len(rows))

    def slow(self, rows: Sequence[Row], threshold: Sequence[float] = THRESHOLD) -> list[Row]:
        """The stages that are slow: the root where every queue is full, else those that drain what feeds them, and first ones that lag."""
        high, low = threshold
        below = [row for row in rows if row[_PARENT] is not None]
        if all(row[_USE] >= high for row in below):
            return [row for row in rows if row[_PARENT] is None]
        drained = [row for row in below if any(self._use(child) - row[_USE] > _DROP for child in row[_CHILDREN] or ())]
        return drained + [row for row in below if not row[_CHILDREN] and row[_USE] < low]

    def _use(self, number: int) -> float:
        return self._by_id[number][_USE] if number in self._by_id else 0.0

    def queue(self, number: int) -> dict[str, Any]:
        """A stage, the one that it feeds, and the queue between.

        Returns:
            ``{current_op, parent_op, queue_info}``; the last two None for the root.

        Raises:
            NotRecordedError: there is no such stage.
        """
        if number not in self._by_id:
            raise NotRecordedError(f"no stage {number}; there are {sorted(self._by_id)}")
        row = self._by_id[number]
        above = self._by_id.get(row[_PARENT])
        queue = dict(zip(COLUMNS[3:8], row[3:8], strict=True)) if above else None
        return {"current_op": _named(row), "parent_op": _named(above) if above else None, "queue_info": queue}


def _named(row: Row) -> dict[str, Any]:
    return dict(zip(COLUMNS[:3], row[:3], strict=True))


def _row(row: list[str]) -> Row:
    number, kind, workers, sizes, average, length, use, interval, parent, children = row
    return [
        int(number), kind, int(workers), json.loads(sizes) if sizes else None, float(average) if average else None,
        int(length) if length else None, float(use) if use else 0, int(interval), int(parent) if parent else None,
        json.loads(children) if children else None,
    ]
