"""The samples that a loss is averaged over: taken from the data set once, so that every point of a surface sees the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np

from summarykit.notices import Notices
from summarykit.training.batches import iterable

_notices = Notices()


def take(dataset: Iterable[Any], num_samples: int) -> list[Any]:
    """The first batches of a data set, the last one cut, so that they hold so many samples together.

    Args:
        dataset: gives batches: arrays, or tuples, lists and mappings of arrays, whose first axis counts the samples. It needs no length;
            an iterator is read as far as is needed.
        num_samples: how many; a data set with fewer is taken whole, which is told once.

    Raises:
        ValueError: there is no batch, or one without arrays.
        TypeError: it gives no batches.
    """
    found: list[Any] = []
    count = 0
    for batch in iterable("callback_fn", dataset):
        size = min(size_of(batch), num_samples - count)
        found.append(changed(batch, partial(_first, size)))
        count += size
        if count >= num_samples:
            return found
    if not count:
        raise ValueError("the data set gives no samples; an iterator that was used before is empty")
    _notices.once(("short", count), "the data set has %d samples, fewer than num_samples=%d: all of them are used", count, num_samples)
    return found


def size_of(batch: Any) -> int:
    """Number of samples of a batch.

    Raises:
        ValueError: it has no array.
    """
    for leaf in leaves(batch):
        if getattr(leaf, "shape", ()):
            return int(leaf.shape[0])
    raise ValueError(f"a batch of the data set has no array whose first axis counts the samples: {type(batch).__name__}")


def leaves(batch: Any) -> list[Any]:
    """The arrays of a batch."""
    if isinstance(batch, Mapping):
        return [leaf for each in batch.values() for leaf in leaves(each)]
    if isinstance(batch, (tuple, list)):
        return [leaf for each in batch for leaf in leaves(each)]
    return [batch]


def changed(batch: Any, change: Callable[[Any], Any]) -> Any:
    """A batch of the same structure with every array changed; what is no array stays."""
    if isinstance(batch, Mapping):
        return {name: changed(each, change) for name, each in batch.items()}
    if isinstance(batch, (tuple, list)):
        return type(batch)(changed(each, change) for each in batch) if type(batch) in (tuple, list) else [changed(e, change) for e in batch]
    return change(batch) if getattr(batch, "shape", ()) else batch


def merged(batches: list[Any], join: Callable[[list[Any]], Any], most: int) -> list[Any]:
    """Fewer, larger batches of the same samples in the same order, where their forms allow it.

    Args:
        batches: of `take`.
        join: makes one array of several, along their first axes.
        most: elements that the arrays of a batch may have together.
    """
    found: list[list[Any]] = []
    size = 0
    for batch in batches:
        elements = sum(int(np.prod(getattr(leaf, "shape", ()))) for leaf in leaves(batch))
        if found and size + elements <= most and _form(batch) == _form(found[-1][0]):
            found[-1].append(batch)
            size += elements
        else:
            found.append([batch])
            size = elements
    return [group[0] if len(group) == 1 else _joined(group, join) for group in found]


def _joined(group: list[Any], join: Callable[[list[Any]], Any]) -> Any:
    columns = iter([join(list(column)) for column in zip(*map(leaves, group), strict=True)])
    return changed(group[0], lambda _: next(columns))


def _form(batch: Any) -> Any:
    """Two batches of one form can be joined; one that holds something without a first axis never can."""
    if not all(getattr(leaf, "shape", ()) for leaf in leaves(batch)):
        return object()
    names = sorted(batch) if isinstance(batch, Mapping) else len(batch) if isinstance(batch, (tuple, list)) else 0
    return names, [(tuple(leaf.shape[1:]), str(leaf.dtype)) for leaf in leaves(batch)]


def _first(size: int, leaf: Any) -> Any:
    """So many samples of an array; a copy, since a loader may fill the same array again and again."""
    return leaf[:size].copy() if isinstance(leaf, np.ndarray) else leaf[:size]
