"""scikit-learn: its callbacks (from 1.9 on), its ``monitor=``, its ``partial_fit``, and what an estimator tells after ``fit``.

::

    from summarykit.integrations.sklearn import SummaryCollector, partial_fit, replay

    LogisticRegression().set_callbacks(SummaryCollector("./summary")).fit(X, y)                 # an iteration is a step
    GridSearchCV(model, grid).set_callbacks(SummaryCollector("./summary")).fit(X, y)            # a candidate is a step
    GradientBoostingClassifier().fit(X, y, monitor=SummaryCollector("./summary"))               # a tree is a step
    partial_fit(SGDClassifier(), batches, SummaryCollector("./summary"), epochs=3, classes=[0, 1])    # a batch is a step
    replay(HistGradientBoostingClassifier().fit(X, y), SummaryCollector("./summary"))           # what it remembers of each iteration
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np

from summarykit.integrations.adapted import adapted
from summarykit.integrations.driver import Driver
from summarykit.integrations.importance import TAG, Scores
from summarykit.integrations.importance import SummaryCollector as Collector
from summarykit.training import Callback, Loop

__all__ = ["Callbacks", "SummaryCollector", "partial_fit", "replay"]

HISTORIES = {
    "loss_curve_": "loss", "train_score_": "train_score", "validation_score_": "validation_score",
    "validation_scores_": "validation_score", "oob_improvement_": "oob_improvement", "oob_scores_": "oob_score",
}  # fmt: skip
"""Attributes of fitted estimators that hold a value for each iteration, and their tags."""


class Callbacks:
    """Callbacks of this library for ``estimator.set_callbacks(Callbacks(...))`` and ``fit(monitor=Callbacks(...))``.

    Set them on the outermost estimator: they are not passed on to those within it. A step is an iteration after which the estimator
    could predict; ``score`` is its ``score`` on the training data, computed at the steps that are collected only. Of a search every
    candidate becomes a step, from ``cv_results_``, when all are through, and ``eval/best_score`` is the best one's.
    """

    def __init__(self, callbacks: Callback | Iterable[Callback]) -> None:
        """Take one callback or several; see `CallbackList` for the errors."""
        self.callbacks = callbacks
        self.driver = Driver(callbacks)
        weakref.finalize(self, self.driver.close)    # a ``monitor`` is not told of the end

    def setup(self, estimator: Any, context: Any) -> None:
        """``fit`` begins."""
        _begin(self.driver, estimator)

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """A task begins; whether it is an iteration is only known when it has ended."""

    def on_fit_task_end(
        self, estimator: Any, context: Any, *, X: Any = None, y: Any = None, fitted_estimator: Any = None  # noqa: N803 - their name
    ) -> bool:
        """A task has ended; True stops the iterations, where the estimator listens to that."""
        if fitted_estimator is not None and _is_iteration(context):
            self.driver.params["network"] = fitted(fitted_estimator)
            self.driver.step_begin()
            self.driver.step_end(step=self.driver.step + 1, more=lambda: _score(fitted_estimator, X, y))
        return self.driver.stop_requested

    def teardown(self, estimator: Any, context: Any) -> None:
        """``fit`` has ended, by an exception perhaps."""
        if (error := sys.exc_info()[1]) is not None:
            self.driver.failed(error)
            return
        for candidate in _candidates(getattr(estimator, "cv_results_", {})):
            self.driver.step_begin()
            self.driver.step_end(candidate)
        if hasattr(estimator, "best_score_"):
            self.driver.eval_begin()
            self.driver.eval_end({"best_score": estimator.best_score_})
        self.driver.train_end()

    def __call__(self, iteration: int, estimator: Any, local: Any) -> bool:
        """Called as ``monitor`` after an iteration; True stops."""
        if not self.driver.training or iteration < self.driver.step:
            _begin(self.driver, estimator, iteration, last_step_num=estimator.n_estimators)
        self.driver.step_begin()
        self.driver.step_end({tag: values[iteration] for tag, values in _histories(estimator)}, step=iteration + 1)
        if self.driver.stop_requested or iteration + 1 == estimator.n_estimators:
            self.driver.train_end()
        return self.driver.stop_requested


def _begin(driver: Driver, estimator: Any, done: int = 0, **fields: Any) -> None:
    rate = getattr(estimator, "learning_rate", None)
    optimizer = {"learning_rate": rate} if isinstance(rate, float) else None
    about = {"network": fitted(estimator), "optimizer": optimizer, "hyper_parameters": settings(estimator)}
    driver.train_begin(initial_step=done, framework="sklearn", **about, **fields)
    driver.params[TAG] = lambda: _importance(estimator)


def settings(estimator: Any) -> dict[str, Any]:
    """The arguments that an estimator was made with: numbers, texts and switches; ``model__C`` where they are of one within it."""
    rate = {"learning_rate"} if isinstance(getattr(estimator, "learning_rate", None), float) else set()    # told by itself
    return {
        name: value for name, value in estimator.get_params().items()
        if isinstance(value, (bool, int, float, str)) and name not in rate and value != "deprecated"
    }  # fmt: skip


def _is_iteration(context: Any) -> bool:
    return context.max_subtasks == 0 and context.parent is not None and context.parent.sequential_subtasks


def _score(estimator: Any, inputs: Any, targets: Any) -> dict[str, float]:
    if inputs is None or targets is None or not hasattr(estimator, "score"):
        return {}
    return {"score": float(estimator.score(inputs, targets))}


def _candidates(results: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """What a search found of each candidate: the means and deviations over the splits."""
    names = [name for name in results if name.startswith(("mean_", "std_"))]
    yield from ({name: results[name][place] for name in names} for place in range(len(results.get("params", ()))))


def _histories(estimator: Any) -> Iterator[tuple[str, Any]]:
    found = ((tag, getattr(estimator, name, None)) for name, tag in HISTORIES.items())
    yield from ((tag, values) for tag, values in found if values is not None and len(values))


def _importance(estimator: Any) -> Scores:
    importances = getattr(estimator, "feature_importances_", None)
    if importances is None:
        return {}
    names = getattr(estimator, "feature_names_in_", [f"f{number}" for number in range(len(importances))])
    return {"impurity": dict(zip(map(str, names), map(float, importances), strict=True))}


def fitted(estimator: Any) -> Any:
    """Give what shows the fitted arrays of floats (``coef_``, ``intercepts_`` …) as parameters, whenever it is looked at."""
    return _fitted_kind(type(estimator).__name__)(estimator)


@cache
def _fitted_kind(name: str) -> type[_Fitted]:
    return type(name, (_Fitted,), {})


class _Fitted:
    def __init__(self, estimator: Any) -> None:
        self._estimator = estimator

    @property
    def parameters(self) -> dict[str, Any]:
        """The arrays that the estimator holds, by name."""
        return dict(_arrays(vars(self._estimator)))


def _arrays(attributes: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in attributes.items():
        if name.endswith("_") and not name.startswith("_") and name not in HISTORIES:
            several = {f"{name}/{place}": each for place, each in enumerate(value)} if isinstance(value, list) else {name: value}
            yield from ((tag, each) for tag, each in several.items() if _is_floats(each))


def _is_floats(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.ndim > 0


def partial_fit(
    estimator: Any, batches: Iterable[tuple[Any, Any]], callbacks: Callback | Callbacks, *, epochs: int = 1,
    held_out: tuple[Any, Any] | None = None, **options: Any,
) -> Any:  # fmt: skip
    """Train an estimator batch by batch: its ``loss_`` is recorded where it has one, its parameters, and its score on other data.

    Args:
        estimator: one with ``partial_fit``.
        batches: pairs of inputs and targets; a list, or an iterable that can be gone through once for each epoch.
        callbacks: a `SummaryCollector`, of this module or of `summarykit`, or another callback.
        epochs: how often to go through the batches, ≥ 0.
        held_out: inputs and targets to compute ``eval/score`` on after every epoch.
        **options: handed to every call of ``partial_fit``: ``classes=[0, 1]`` …

    Returns:
        The estimator.
    """
    ours = callbacks.callbacks if isinstance(callbacks, Callbacks) else callbacks
    with Loop(fitted(estimator), None, batches, epochs, ours) as loop:
        for _ in loop.epochs():
            for inputs, targets in loop.steps():
                estimator.partial_fit(inputs, targets, **options)
                if hasattr(estimator, "loss_"):
                    loop.report(loss=estimator.loss_)
            if held_out is not None:
                with loop.evaluation():
                    loop.report(score=estimator.score(*held_out))
    return estimator


def replay(estimator: Any, callbacks: Callbacks) -> Any:
    """Record what a fitted estimator remembers of each iteration: losses, scores, and how important the features are.

    Args:
        estimator: one that has ``train_score_``, ``loss_curve_`` or the like.
        callbacks: a `SummaryCollector`.

    Returns:
        The estimator.

    Raises:
        ValueError: it remembers nothing.
    """
    histories = dict(_histories(estimator))
    if not histories:
        raise ValueError(f"estimator: one with any of {', '.join(HISTORIES)} is needed, got {type(estimator).__name__}")
    driver = callbacks.driver
    count = max(map(len, histories.values()))
    steps = min(count, int(getattr(estimator, "n_iter_", count)))    # the first value may be from before the first iteration
    _begin(driver, estimator, last_step_num=steps)
    for left in range(steps, 0, -1):
        driver.step_begin()
        driver.step_end({tag: values[-left] for tag, values in histories.items() if left <= len(values)})
    driver.train_end()
    return estimator


SummaryCollector = adapted(Collector, Callbacks)
"""`summarykit.SummaryCollector` for scikit-learn: the same arguments, the same results."""
