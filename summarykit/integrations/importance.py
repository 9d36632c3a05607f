"""How much each feature matters to a model of trees: a part that XGBoost's, LightGBM's and scikit-learn's adapters share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from summarykit import collectors
from summarykit.collectors.lineage import EvalLineage
from summarykit.collectors.part import Part, Sink
from summarykit.collectors.settings import Settings
from summarykit.integrations.results import Results
from summarykit.training.context import CallbackParams
from summarykit.training.triggers import Doubling, last

TAG = "feature_importance"
"""What the tags begin with; under this name an adapter leaves the function to ask in the parameters of the run."""

MOST = 20
"""So many features are named in the text."""

Scores = Mapping[str, Mapping[str, float]]
"""Kind of importance -> feature -> its importance."""


class Importance(Part):
    """Tensor ``feature_importance/<kind>``, in the order of the features, and a text that names the most important ones.

    Asking a model takes time that grows with it, so it is asked at ever longer distances, and at the end. ``collect_tensor=False``
    switches this off.
    """

    key = ""    # that of tensors switches it

    def __init__(self, *args: Any) -> None:
        """See `Part`."""
        super().__init__(*args)
        self.trigger = Doubling(self.settings.collect_freq) | last()

    @classmethod
    def wanted(cls, settings: Settings) -> bool:
        """True where arrays are collected."""
        return bool(settings.specified.get("collect_tensor"))

    def collect(self, params: CallbackParams, sink: Sink) -> None:
        """Ask the function that the adapter left in the parameters of the run."""
        ask: Callable[[], Scores] | None = params.get(TAG)
        for kind, scores in (ask() if ask else {}).items():
            sink.add("tensor", f"{TAG}/{kind}", np.array([*scores.values()], np.float64))
            sink.add("text", f"{TAG}/{kind}/features", table(scores))


def table(scores: Mapping[str, float]) -> str:
    """The most important features, as a table of Markdown."""
    best = sorted(scores.items(), key=lambda item: -item[1])[:MOST]
    rows = "".join(f"| {name} | {score:.6g} |\n" for name, score in best)
    return f"| feature | importance |\n|---|---|\n{rows}"


class SummaryCollector(collectors.SummaryCollector):
    """With the importance of features, and the last round's metrics as results."""

    __doc__ = collectors.SummaryCollector.__doc__

    @classmethod
    def part_types(cls) -> list[type[Part]]:
        """See `summarykit.SummaryCollector.part_types`."""
        return [*(Results if kind is EvalLineage else kind for kind in super().part_types()), Importance]
