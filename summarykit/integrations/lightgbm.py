"""LightGBM: our callbacks for ``train``, ``cv`` and the estimators.

::

    from summarykit.integrations.lightgbm import SummaryCollector

    lightgbm.train(params, data, 100, valid_sets=[held_out], callbacks=[SummaryCollector("./summary")])

A step is a round of boosting. Recorded are the metrics, as ``<data set>/<metric>`` (of ``cv`` their mean, and
``<data set>/<metric>_std``), the learning rate, and how important the features are.
"""

from __future__ import annotations

import re
import sys
import weakref
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any

import lightgbm

from summarykit.integrations.adapted import adapted
from summarykit.integrations.driver import Driver
from summarykit.integrations.importance import TAG, Scores
from summarykit.integrations.importance import SummaryCollector as Collector
from summarykit.training import Callback

__all__ = ["Callbacks", "SummaryCollector"]

KINDS = ("gain", "split")
RATES = ("learning_rate", "shrinkage_rate", "eta")
RATE = re.compile(r"\[learning_rate: (\S+)\]")
"""In a booster's text, whether the user chose one or not."""


class Callbacks:
    """Callbacks of this library as one of LightGBM's: ``callbacks=[Callbacks(StopAtStep(5, 8))]``.

    Where ``init_model`` is trained on, steps go on from its rounds. LightGBM tells its callbacks neither of early stopping nor of
    exceptions: such a run is closed when the object is no longer used, by the next training, or when the program ends.
    """

    order = 20
    """Before LightGBM's early stopping, which ends the round's callbacks."""
    before_iteration = False

    def __init__(self, callbacks: Callback | Iterable[Callback]) -> None:
        """Take one callback or several; see `CallbackList` for the errors."""
        self.driver = Driver(callbacks)
        weakref.finalize(self, _end, self.driver)

    def __call__(self, env: Any) -> None:
        """A round has ended.

        Raises:
            EarlyStopException: a callback asked for the end; LightGBM takes it as such.
        """
        if not self.driver.training or env.iteration == env.begin_iteration:
            self._begin(env)
        self.driver.step_begin()
        self.driver.step_end(dict(metrics(env.evaluation_result_list)), step=env.iteration + 1)
        if self.driver.stop_requested or env.iteration + 1 == env.end_iteration:
            self.driver.train_end()
            self.driver.params.pop(TAG, None)
        if self.driver.stop_requested:
            raise lightgbm.callback.EarlyStopException(env.iteration, env.evaluation_result_list)

    def _begin(self, env: Any) -> None:
        _end(self.driver)
        self.driver.train_begin(
            initial_step=env.begin_iteration, last_step_num=env.end_iteration, framework="lightgbm", booster=env.model,
            optimizer=Boosting(getattr(env.model, "boosters", [env.model])[0]),    # those of ``cv`` are alike
            hyper_parameters={name: value for name, value in env.params.items() if value is not None and name not in RATES},
        )  # fmt: skip
        if isinstance(env.model, lightgbm.Booster):    # ``cv`` trains several
            self.driver.params[TAG] = lambda: importance(env.model)


class Boosting:
    """In place of an optimizer: what the learning rate is looked up in."""

    __name__ = ""

    def __init__(self, booster: lightgbm.Booster) -> None:
        """Take the booster that was given its parameters, or goes by LightGBM's default."""
        self._booster = booster

    @property
    def learning_rate(self) -> float:
        """That of the current round; ``reset_parameter`` may change it.

        Raises:
            AttributeError: this LightGBM does not tell its default.
        """
        given = self._booster.params
        found = next((given[name] for name in RATES if name in given), None)
        return self._default if found is None else float(found)

    @cached_property
    def _default(self) -> float:
        told = RATE.search(self._booster.model_to_string(num_iteration=1))
        if told is None:
            raise AttributeError("no learning rate in the booster's configuration")
        return float(told[1])


def _end(driver: Driver) -> None:
    """Close a run whose end nobody told: it is finished where LightGBM stopped it early."""
    if getattr(driver.params.get("booster"), "best_iteration", 0) > 0:
        driver.train_end()
    elif error := getattr(sys, "last_value", None):    # nobody caught it
        driver.failed(error)
    else:
        driver.close()


def metrics(results: Iterable[Any] | None) -> Iterator[tuple[str, float]]:
    """Give every metric: a number, or the mean and the standard deviation over the folds."""
    for result in results or ():
        if isinstance(result, tuple):    # before LightGBM 4.7
            data, name, value, _, *deviation = result
            data, name = name.split(" ", 1) if data == "cv_agg" else (data, name)
        else:
            data, name, value = result.dataset_name, result.metric_name, result.metric_value
            deviation = [] if result.metric_std_dev is None else [result.metric_std_dev]
        yield f"{data}/{name}", value
        yield from ((f"{data}/{name}_std", each) for each in deviation)


def importance(model: lightgbm.Booster) -> Scores:
    """How important each feature is."""
    names = model.feature_name()
    return {kind: dict(zip(names, map(float, model.feature_importance(kind)), strict=True)) for kind in KINDS}


SummaryCollector = adapted(Collector, Callbacks)
"""`summarykit.SummaryCollector` for LightGBM: the same arguments, the same results."""
