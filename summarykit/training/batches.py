"""What a loop goes through: how many batches there are, and which is the last."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

_END = object()


def iterable(where: str, dataset: Any) -> Iterable[Any]:
    """A data set that one can go through; nothing of it is touched yet.

    Raises:
        TypeError: it cannot be iterated; the message says ``where`` it was given.
    """
    if not any(hasattr(type(dataset), name) for name in ("__iter__", "__getitem__")):
        raise TypeError(f"{where}: a data set that gives batches is needed, got {dataset!r}")
    found: Iterable[Any] = dataset
    return found


def told_last(batches: Iterator[Any]) -> Iterator[tuple[Any, bool]]:
    """With each batch, whether it is the last."""
    batch = next(batches, _END)
    while batch is not _END:
        following = next(batches, _END)
        yield batch, following is _END
        batch = following


def length(dataset: Any) -> int | None:
    """Number of batches, or None where the data set cannot say."""
    size = getattr(dataset, "get_dataset_size", getattr(dataset, "__len__", None))
    try:
        return None if size is None else int(size())
    except Exception:  # noqa: BLE001 - a data set's own code; all that is lost is a number
        return None
