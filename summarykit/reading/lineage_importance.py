"""How much each hyper-parameter has to do with a metric, over many runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from summarykit import lazy
from summarykit.errors import MissingExtraError
from summarykit.shapes import Floats

FEWEST = 3
"""Runs that are needed at least."""

FEWEST_FOR_FOREST = 10
"""Runs that are needed for a random forest."""


@dataclass(frozen=True)
class Importance:
    """What was found.

    Attributes:
        metric: the column that was to be explained.
        method: how it was found, in words.
        runs: number of runs that have the metric.
        scores: hyper-parameter -> importance, the largest first. Of a forest: shares that add up to 1. Of correlations: their size, 0 to 1.
    """

    metric: str
    method: str
    runs: int
    scores: Mapping[str, float]


def importance(metric: str, target: Sequence[Any], settings: Mapping[str, Sequence[Any]]) -> Importance:
    """Tell how much each setting has to do with a metric.

    With scikit-learn and ten runs or more: by how much the predictions of a random forest (100 trees, seed 0) become worse where a setting
    is shuffled (permutation importance, Breiman 2001; 10 repeats, mean). Else: the size of Spearman's rank correlation; of settings that
    are no numbers the correlation ratio of the ranks. Settings that do not differ are left out; a missing number counts as the median.

    Args:
        metric: its name.
        target: its value in each run; runs where it is no finite number are left out.
        settings: the values of each setting in each run.

    Raises:
        ValueError: fewer than three runs have the metric.
    """
    numbers = np.array([_number(value) for value in target], np.float64)
    kept = np.argsort(numbers, kind="stable")    # the order of the runs has no say
    kept = kept[np.isfinite(numbers[kept])]
    if len(kept) < FEWEST:
        raise ValueError(f"importance for {metric!r}: {len(kept)} of these runs have a finite number there, {FEWEST} are needed")
    chosen = {name: [values[place] for place in kept.tolist()] for name, values in settings.items()}
    chosen = {name: values for name, values in chosen.items() if len(set(map(repr, values))) > 1}
    scores = _by_forest(numbers[kept], chosen) if len(kept) >= FEWEST_FOR_FOREST and chosen else None
    method = "permutation importance in a random forest of 100 trees"
    if scores is None:
        scores = {name: _correlation(numbers[kept], values) for name, values in chosen.items()}
        method = "size of Spearman's rank correlation; of texts the correlation ratio of the ranks"
    ordered = dict(sorted(scores.items(), key=lambda item: -item[1]))
    return Importance(metric, method, len(kept), ordered)


def _by_forest(target: Floats, settings: Mapping[str, Sequence[Any]]) -> dict[str, float] | None:
    """Shares; None without scikit-learn, and where the forest finds nothing."""
    try:
        ensemble = lazy.optional("sklearn.ensemble", extra="demo", purpose="importance()")
        inspection = lazy.optional("sklearn.inspection", extra="demo", purpose="importance()")
    except MissingExtraError:
        return None
    table = np.column_stack([_encoded(values) for values in settings.values()])
    forest = ensemble.RandomForestRegressor(n_estimators=100, random_state=0).fit(table, target)
    found = inspection.permutation_importance(forest, table, target, n_repeats=10, random_state=0).importances_mean
    shares = np.maximum(found, 0.0)
    return dict(zip(settings, (shares / shares.sum()).tolist(), strict=True)) if shares.sum() > 0 else None


def _encoded(values: Sequence[Any]) -> Floats:
    """Numbers as they are (a missing one is the median), anything else numbered as it first came."""
    numbers = _numbers(values)
    if numbers is not None:
        return np.where(np.isfinite(numbers), numbers, np.nanmedian(np.where(np.isfinite(numbers), numbers, np.nan)))
    seen: dict[str, int] = {}
    return np.array([seen.setdefault(repr(value), len(seen)) for value in values], np.float64)


def _correlation(target: Floats, values: Sequence[Any]) -> float:
    ranks = _ranks(target)
    if _numbers(values) is not None:
        other = _ranks(_encoded(values))
        spread = float(ranks.std() * other.std())
        return abs(float(((ranks - ranks.mean()) * (other - other.mean())).mean())) / spread if spread else 0.0
    groups: dict[str, list[float]] = {}
    for value, rank in zip(values, ranks.tolist(), strict=True):
        groups.setdefault(repr(value), []).append(rank)
    between = sum(len(group) * (np.mean(group) - ranks.mean()) ** 2 for group in groups.values())
    return float(np.sqrt(between / (len(ranks) * ranks.var()))) if ranks.var() else 0.0


def _ranks(values: Floats) -> Floats:
    """From 0 on; equal values share their mean rank."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    first = np.cumsum(counts) - counts
    return (first + (counts - 1) / 2)[place]


def _numbers(values: Sequence[Any]) -> Floats | None:
    """A column of numbers, NaN where there is none; None where something else is in it, or nothing."""
    numbers = np.array([_number(value) for value in values], np.float64)
    others = [value for value, number in zip(values, numbers, strict=True) if value is not None and np.isnan(number) and value == value]
    return None if others or not np.isfinite(numbers).any() else numbers


def _number(value: Any) -> float:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e300 else float("nan")
