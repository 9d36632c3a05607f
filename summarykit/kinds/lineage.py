"""Lineage: what a run came from and what came of it, part by part, under the names that MindSpore's record has for them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from summarykit.errors import RefusedValueError
from summarykit.formats.mindspore import lineage
from summarykit.kinds.arrays import described
from summarykit.kinds.flatten import members_of
from summarykit.kinds.json_values import json_value
from summarykit.kinds.kind import no_options
from summarykit.shapes import Lineage


@dataclass(frozen=True, eq=False)
class Told:
    """A part that nobody else can change."""

    shape: Lineage

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes, about."""
        return len(json.dumps([self.shape.values, self.shape.shown], default=str))


class LineageKind:
    """One part of a run's lineage. It goes into the run's lineage file, whichever formats are written; of each part the latest counts.

    Takes a mapping, dataclass or namespace, nested as you like (see `json_value` for what becomes of its values), or MindSpore's own
    message. MindInsight shows: of ``train_lineage`` the names ``optimizer``, ``learning_rate``, ``loss_function``, ``epoch``,
    ``parallel_mode``, ``device_num``, ``batch_size``, ``train_dataset_path``, ``train_dataset_size``, ``network``, ``loss``, ``model_path``
    and ``model_size`` (bytes); of ``eval_lineage`` the numbers in ``metric``, ``valid_dataset_path`` and ``valid_dataset_size``; of
    ``dataset_graph`` everything; of ``custom_lineage_data`` everything, nested names joined by ``/``. The reader gives back all.
    """

    light = True

    def __init__(self, name: str, part: str) -> None:
        """Name a kind, and the part that it records."""
        self.name = name
        self.part = part

    def snapshot(self, value: Any, *, shown: dict[str, Any] | None = None, **options: Any) -> Told:
        """Freeze what is told.

        Args:
            value: the names and what they stand for.
            shown: of ``custom_lineage_data``: further names, for MindInsight's table alone.
            **options: none other.

        Raises:
            RefusedValueError: neither named values nor MindSpore's message.
        """
        no_options(self.name, options)
        members = members_of(value)
        if members is None:
            return Told(self._of_message(value))
        return Told(Lineage(self.part, json_value(members), json_value(shown or {})))

    def reduce(self, snapshot: Told) -> Lineage:
        """Give the part."""
        return snapshot.shape

    def _of_message(self, value: Any) -> Lineage:
        if not hasattr(value, "SerializeToString"):
            raise RefusedValueError(f"{self.name} takes a dict, dataclass or namespace of named values; got {described(value)}")
        try:
            return lineage.decode(self.part, value.SerializeToString())
        except Exception as error:  # of whatever library's message
            raise RefusedValueError(f"{self.name}: {described(value)} is no such message: {error}") from error


TRAIN_LINEAGE = LineageKind("train_lineage", Lineage.TRAIN)
EVAL_LINEAGE = LineageKind("eval_lineage", Lineage.EVALUATION)
DATASET_GRAPH = LineageKind("dataset_graph", Lineage.DATASET)
CUSTOM_LINEAGE_DATA = LineageKind("custom_lineage_data", Lineage.CUSTOM)
RUN_STATUS = LineageKind("run_status", Lineage.RUN)
CODE_VERSION = LineageKind("code_version", Lineage.CODE)
