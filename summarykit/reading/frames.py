"""Where records begin, by their length fields alone: predicted, then verified many at a time.

Training loops record the same tags step after step, so the lengths of their records repeat with a period. The period is learned from some
records that are walked one by one; the places that it predicts are then checked in NumPy, as many as fit the block, until one is not as
predicted. A wrong prediction costs time only.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

import numpy as np

from summarykit.formats.framing import FOOTER, HEADER
from summarykit.shapes import Array, Ints

FRAME = HEADER + FOOTER
"""Bytes of a record beside its payload."""

_FEW, _MANY = 128, 8192    # records walked one by one before the next attempt to predict
_REACH = 1024              # records predicted at first; more after each success, since what follows a wrong one was in vain
_TAIL = 48                 # lengths that must repeat for a period to be believed
_NONE = np.empty(0, np.int64)
_length_at = struct.Struct("<Q").unpack_from


@dataclass
class Walker:
    """Walks block after block of one file; remembers the period it learned."""

    _period: Ints = field(default_factory=lambda: _NONE)
    _patience: int = _FEW
    _reach: int = _REACH

    def walk(self, data: Array, start: int, stop: int) -> tuple[Ints, Ints]:
        """Whole records that follow on each other in ``data[start:stop]``, by unverified length fields.

        Returns:
            Their starts and the lengths of their payloads, int64 of one length.
        """
        found: list[tuple[Ints, Ints]] = []
        position, ended = start, False
        while not ended:
            if len(self._period):
                found.append(_predicted(data, position, stop, self._period, self._reach))
                position = _end(found[-1], position)
                self._learn_from(len(found[-1][0]))
            found.append(_one_by_one(data, position, stop, self._patience))
            position = _end(found[-1], position)
            ended = len(found[-1][0]) < self._patience
            if not ended:
                self._period = _find_period(found[-1][1])
                self._patience = _FEW if len(self._period) else min(2 * self._patience, _MANY)
        return np.concatenate([starts for starts, _ in found]), np.concatenate([lengths for _, lengths in found])

    def _learn_from(self, predicted: int) -> None:
        self._reach = max(_REACH, 4 * predicted)
        if predicted < len(self._period):
            self._period = _NONE
            self._patience = min(2 * self._patience, _MANY)


def _end(found: tuple[Ints, Ints], position: int) -> int:
    starts, lengths = found
    return int(starts[-1] + lengths[-1]) + FRAME if len(starts) else position


def _one_by_one(data: Array, position: int, stop: int, most: int) -> tuple[Ints, Ints]:
    starts, lengths = [], []
    raw = data.data
    for _ in range(most):
        if position + FRAME > stop:
            break
        (length,) = _length_at(raw, position)
        end = position + length + FRAME
        if end > stop:
            break
        starts.append(position)
        lengths.append(length)
        position = end
    return np.array(starts, np.int64), np.array(lengths, np.int64)


def _find_period(lengths: Ints) -> Ints:
    """The last lengths that repeat: what will come next, if it goes on like this. Empty where nothing repeats."""
    raw = lengths.tobytes()
    tail = raw[-8 * _TAIL :]
    before = raw.rfind(tail, 0, -8)
    while before % 8 and before >= 0:
        before = raw.rfind(tail, 0, before + len(tail) - 1)
    if before < 0:
        return _NONE
    distance = len(lengths) - _TAIL - before // 8
    return lengths[-distance:]


def _predicted(data: Array, position: int, stop: int, period: Ints, most: int) -> tuple[Ints, Ints]:
    """Records at the places that a period predicts, up to the first whose length field says otherwise; about ``most`` of them."""
    sizes = period + FRAME
    within = np.cumsum(sizes) - sizes
    stride = int(sizes.sum())
    repeats = min((stop - position) // stride, -(-most // len(period)))
    if repeats < 1:
        return _NONE, _NONE
    starts = (position + np.arange(repeats, dtype=np.int64)[:, None] * stride + within).reshape(-1)
    fields = np.ndarray((len(data) - 7,), "<u8", data, strides=(1,))
    lengths = np.tile(period, repeats)
    wrong = np.flatnonzero(fields[starts] != lengths.view(np.uint64))
    good = int(wrong[0]) if len(wrong) else len(starts)
    return starts[:good], lengths[:good]
