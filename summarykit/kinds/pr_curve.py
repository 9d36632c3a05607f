"""PR curve: precision and recall of a binary classifier at many thresholds."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any

import numpy as np

from summarykit.errors import RefusedValueError
from summarykit.formats import wire
from summarykit.kinds.arrays import Frozen, freeze
from summarykit.kinds.kind import no_options
from summarykit.notices import Notices
from summarykit.shapes import Array, Floats, Plugin

NOTICES = Notices()

ROWS = ("true positives", "false positives", "true negatives", "false negatives", "precision", "recall")
_LEAST = 1e-7    # as TensorBoard has it: 0 / 0 gives 0
_MOST_THRESHOLDS = 1 << 20


@dataclass(frozen=True, eq=False)
class Predictions:
    """Frozen labels, predictions and weights of as many samples."""

    labels: Frozen
    predictions: Frozen
    weights: Frozen | None
    thresholds: int

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        return sum(part.nbytes for part in (self.labels, self.predictions, self.weights) if part is not None)


class PRCurveKind:
    """The curve of predicted probabilities against what is true, at thresholds evenly spaced from 0 to 1.

    What is recorded are float32 numbers, shape ``[6, num_thresholds]``: true positives, false positives, true negatives, false negatives,
    precision, recall. Predictions outside of 0 to 1, and NaN, belong to no threshold and are left out, with one warning.
    """

    name = "pr_curve"

    def snapshot(self, value: Any, *, num_thresholds: int = 127, weights: Any = None, **options: Any) -> Predictions:
        """Copy the arrays once, or keep them on their device.

        Args:
            value: two arrays of as many values: labels (bool, or 0 and 1) and predictions (0 to 1).
            num_thresholds: 2 or more.
            weights: of the samples: an array of as many values, or one for all; None: all weigh 1.
            **options: none other.

        Raises:
            RefusedValueError: not two arrays of equal size, or weights of another.
        """
        no_options(self.name, options)
        labels, predictions = map(freeze, _pair(value))
        weight = None if weights is None else freeze(weights)
        sizes = [_size(part) for part in (labels, predictions)]
        sizes += [] if weight is None or _size(weight) == 1 else [_size(weight)]
        if len(set(sizes)) > 1 or not sizes[0]:
            got = ", ".join(map(str, sizes))
            raise RefusedValueError(f"pr_curve: labels, predictions and weights must be of one size, above 0; got {got}")
        return Predictions(labels, predictions, weight, _checked(num_thresholds))

    def reduce(self, snapshot: Predictions) -> Plugin:
        """Count and compute the curve.

        Raises:
            RefusedValueError: labels outside of 0 to 1, or a device value that could not be fetched.
        """
        labels, predictions = (np.asarray(part.get().data, np.float64).reshape(-1) for part in (snapshot.labels, snapshot.predictions))
        if not ((labels >= 0) & (labels <= 1)).all():
            raise RefusedValueError("pr_curve: labels must be bool, or from 0 to 1")
        weights = np.ones(1) if snapshot.weights is None else np.asarray(snapshot.weights.get().data, np.float64).reshape(-1)
        return curve(counted(labels, predictions, weights, snapshot.thresholds))


class PRCurveRawKind:
    """A curve that was computed elsewhere: true positives, false positives, true negatives, false negatives, precision, recall."""

    name = "pr_curve_raw"

    def snapshot(self, value: Any, **options: Any) -> Array:
        """Copy the numbers as float32.

        Args:
            value: six arrays of as many values, one a threshold, or an array of shape ``[6, thresholds]``.
            **options: none.

        Raises:
            RefusedValueError: not of that shape.
        """
        no_options(self.name, options)
        rows = freeze(list(value) if isinstance(value, (list, tuple)) else value).get().data
        if rows.ndim != 2 or rows.shape[0] != len(ROWS) or rows.shape[1] < 1:
            raise RefusedValueError(f"pr_curve_raw takes numbers of shape [6, thresholds] ({', '.join(ROWS)}); got {rows.shape}")
        return rows

    def reduce(self, snapshot: Array) -> Plugin:
        """Wrap the numbers."""
        return curve(snapshot)


def counted(labels: Floats, predictions: Floats, weights: Floats, thresholds: int) -> Floats:
    """Give the six rows: TensorBoard's computation (``tensorboard/plugins/pr_curve/summary.py``), one pass of counting.

    Args:
        labels: shape ``[n]``, 0 to 1.
        predictions: shape ``[n]``.
        weights: shape ``[n]``, or ``[1]``.
        thresholds: how many.
    """
    inside = (predictions >= 0) & (predictions <= 1)
    if not inside.all():
        NOTICES.once("range", "a PR curve has predictions outside of 0 to 1: left out")
    buckets = np.floor(np.where(inside, predictions, 0) * (thresholds - 1)).astype(np.intp)
    weights = np.where(inside, weights, 0)
    tp = _from_above(buckets, labels * weights, thresholds)
    fp = _from_above(buckets, (1 - labels) * weights, thresholds)
    tn, fn = fp[0] - fp, tp[0] - tp
    return np.stack([tp, fp, tn, fn, tp / np.maximum(_LEAST, tp + fp), tp / np.maximum(_LEAST, tp + fn)])


def _from_above(buckets: Array, weights: Floats, thresholds: int) -> Floats:
    """The weight in each bucket and all above it."""
    each: Floats = np.bincount(buckets, weights=weights, minlength=thresholds).astype(np.float64)
    return np.cumsum(each[::-1])[::-1]


def curve(rows: Array) -> Plugin:
    """Wrap six rows for TensorBoard's page."""
    data = np.ascontiguousarray(rows, "<f4")
    return Plugin("pr_curves", data, wire.integer(2, data.shape[1]))


def _pair(value: Any) -> tuple[Any, Any]:
    try:
        labels, predictions = value
    except (TypeError, ValueError):
        raise RefusedValueError("pr_curve takes two arrays: labels and predictions") from None
    return labels, predictions


def _size(part: Frozen) -> int:
    return int(np.prod(part.shape))


def _checked(thresholds: Any) -> int:
    try:
        number = operator.index(thresholds)
    except TypeError:
        number = 0
    if not 2 <= number <= _MOST_THRESHOLDS:
        raise RefusedValueError(f"pr_curve: num_thresholds={thresholds!r} must be an integer from 2 to {_MOST_THRESHOLDS}")
    return number


PR_CURVE = PRCurveKind()
PR_CURVE_RAW = PRCurveRawKind()
