"""XGBoost: our callbacks for ``train``, ``cv`` and the estimators.

::

    from summarykit.integrations.xgboost import SummaryCollector

    xgboost.train(params, data, 100, evals=[(data, "train"), (held_out, "test")], callbacks=[SummaryCollector("./summary")])

A step is a round of boosting. Recorded are the metrics, as ``<data set>/<metric>`` (of ``cv`` their mean, and
``<data set>/<metric>_std``), the learning rate, and how important the features are.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

import xgboost
from xgboost.callback import TrainingCallback

from summarykit.integrations.adapted import adapted
from summarykit.integrations.driver import Driver
from summarykit.integrations.importance import TAG, Scores
from summarykit.integrations.importance import SummaryCollector as Collector
from summarykit.training import Callback

__all__ = ["Callbacks", "SummaryCollector"]

KINDS = ("gain", "weight")
SETTINGS = (
    "objective", "booster", "max_depth", "max_leaves", "max_bin", "min_child_weight", "gamma", "subsample", "colsample_bytree", "lambda",
    "alpha", "grow_policy", "num_parallel_tree",
)  # fmt: skip
"""Of a booster's configuration what its users choose; the learning rate is told with every round."""


class Callbacks(TrainingCallback):
    """Callbacks of this library as one of XGBoost's: ``callbacks=[Callbacks(StopAtStep(5, 8))]``.

    Where ``xgb_model`` is trained on, steps go on from its rounds. XGBoost does not tell its callbacks of exceptions: a run that one
    ends is closed by the next training, or when the program ends.
    """

    def __init__(self, callbacks: Callback | Iterable[Callback]) -> None:
        """Take one callback or several; see `CallbackList` for the errors."""
        super().__init__()
        self.driver = Driver(callbacks)

    def before_training(self, model: Any) -> Any:
        """Training begins."""
        alone = isinstance(model, xgboost.Booster)    # ``cv`` trains several
        about: dict[str, Any] = {"optimizer": Boosting(model), "hyper_parameters": dict(settings(model))} if alone else {}
        self.driver.train_begin(initial_step=model.num_boosted_rounds(), framework="xgboost", **about, **_rank())
        if alone:
            self.driver.params[TAG] = lambda: importance(model)
        return model

    def before_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        """A round begins."""
        self.driver.step_begin()
        return self.driver.stop_requested

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        """A round has ended; True stops the training."""
        self.driver.step_end(dict(metrics(evals_log)), step=model.num_boosted_rounds())
        return self.driver.stop_requested

    def after_training(self, model: Any) -> Any:
        """Training has ended well."""
        self.driver.train_end()
        self.driver.params.pop(TAG, None)
        return model


class Boosting:
    """In place of an optimizer: what the learning rate is looked up in; looking takes about 0.1 ms."""

    __name__ = ""

    def __init__(self, model: xgboost.Booster) -> None:
        """Take the model whose configuration says it."""
        self._model = model

    @property
    def learning_rate(self) -> float:
        """The ``eta`` of the current round; `LearningRateScheduler` may change it.

        Raises:
            AttributeError: this booster has none.
        """
        booster = json.loads(self._model.save_config())["learner"]["gradient_booster"]
        found = next(_find(booster, ("learning_rate", "eta")), None)
        if found is None:
            raise AttributeError("no learning rate in the booster's configuration")
        return float(found)


def settings(model: xgboost.Booster) -> Iterator[tuple[str, Any]]:
    """Give what was chosen of the trees and of what they are to learn: numbers as such."""
    learner = json.loads(model.save_config())["learner"]
    for name in SETTINGS:
        for text in islice((found for found in _find(learner, (name,)) if isinstance(found, str)), 1):
            yield name, _setting(text)


def _setting(text: str) -> Any:
    """A number as such, of the digits that 32 bits hold."""
    try:
        return float(f"{float(text):.7g}")
    except ValueError:
        return text


def _find(tree: Any, names: tuple[str, ...]) -> Iterator[Any]:
    if isinstance(tree, dict):
        yield from (tree[name] for name in names if name in tree)
        for branch in tree.values():
            yield from _find(branch, names)
    elif isinstance(tree, list):
        for branch in tree:
            yield from _find(branch, names)


def metrics(evals_log: Mapping[str, Mapping[str, list[Any]]]) -> Iterator[tuple[str, float]]:
    """Give the newest of each metric: a number, or the mean and the standard deviation over the folds."""
    for data, named in evals_log.items():
        for name, history in named.items():
            newest = history[-1]
            mean, *deviation = newest if isinstance(newest, (list, tuple)) else (newest,)
            yield f"{data}/{name}", mean
            yield from ((f"{data}/{name}_std", each) for each in deviation)


def importance(model: xgboost.Booster) -> Scores:
    """How important each feature is; what no tree uses has 0. Linear models have their weights."""
    names = model.feature_names or [f"f{number}" for number in range(model.num_features())]
    linear = json.loads(model.save_config())["learner"]["gradient_booster"].get("name") == "gblinear"
    found = {kind: model.get_score(importance_type=kind) for kind in (KINDS[1:] if linear else KINDS)}
    return {kind: {name: _one(scores.get(name, 0.0)) for name in names} for kind, scores in found.items()}


def _one(score: Any) -> float:
    """A linear model of several classes has one for each."""
    return float(max(score, key=abs)) if isinstance(score, list) else float(score)


def _rank() -> dict[str, int]:
    collective = xgboost.collective
    return {"rank": collective.get_rank(), "device_number": collective.get_world_size()} if collective.is_distributed() else {}


SummaryCollector = adapted(Collector, Callbacks)
"""`summarykit.SummaryCollector` for XGBoost: the same arguments, the same results."""
