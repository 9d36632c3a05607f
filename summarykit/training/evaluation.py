"""An evaluation: on its own, or within a training, which it leaves as it was."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from summarykit.training.batches import length
from summarykit.training.phase import Phase

_OF_TRAINING = ("mode", "batch_num", "cur_step_num", "train_step_num", "eval_dataset_element")


class Evaluation(Phase):
    """An evaluation: its steps are its own, and what it reports is its ``metrics``."""

    mode, element = "eval", "eval_dataset_element"

    @contextmanager
    def run(self) -> Iterator[None]:
        """The whole evaluation, as a ``with`` block; what it changed of a training around it is put back."""
        params = self._params
        with params.restored(*_OF_TRAINING), self._callbacks.entered():
            params["train_step_num"] = params["cur_step_num"]
            self.begin()
            yield
            self.end()

    def begin(self) -> None:
        """Begin the one pass over the data."""
        self._params.update(valid_dataset=self.dataset, metrics={}, batch_num=length(self.dataset))
        super().begin()
        self.begin_epoch()

    def report(self, values: Mapping[str, Any]) -> None:
        """Take values: of one name the last counts."""
        self._params["metrics"].update(values)
