"""Embedding: vectors with labels and pictures, for TensorBoard's projector."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from summarykit.errors import RefusedValueError
from summarykit.kinds import png
from summarykit.kinds.arrays import Frozen, Typed, freeze, guarded
from summarykit.kinds.image import IMAGE, Picture
from summarykit.kinds.kind import no_options
from summarykit.kinds.layout import as_batch
from summarykit.kinds.pixels import to_pixels
from summarykit.shapes import Array, Embedding

_LARGEST_SPRITE = 8192    # pixels on a side, which the page can show
_ESCAPES = str.maketrans({"\t": "\\t", "\n": "\\n", "\r": "\\r"})
_EMPTY = '""'    # a line of white space is no line to the page, and all labels behind it would belong to the wrong vectors

_FIXED = {str, int, float, bool, type(None)}    # values of these types cannot change
_CELL_BYTES = 64    # memory of one, about

Rows = tuple[tuple[Any, ...], ...]


@dataclass(frozen=True, eq=False)
class Vectors:
    """Frozen vectors, the cells of their table (the header first, where there is one) and their pictures."""

    vectors: Frozen
    table: Rows
    pictures: Picture | None

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        pictures = 0 if self.pictures is None else self.pictures.nbytes
        columns = len(self.table[0]) if self.table else 0
        return self.vectors.nbytes + pictures + _CELL_BYTES * columns * len(self.table)


class EmbeddingKind:
    """Vectors, as files in a folder of their own beside the records, which the projector's page finds through ``projector_config.pbtxt``.

    The record itself holds the folder's name. Values are written as float32.
    """

    name = "embedding"

    def snapshot(
        self,
        value: Any,
        *,
        metadata: Iterable[Any] | None = None,
        metadata_header: Sequence[object] | None = None,
        label_img: Any = None,
        **options: Any,
    ) -> Vectors:
        r"""Copy the arrays once, or keep them on their device, and take the labels as text.

        Args:
            value: shape ``[vectors, components]``, at least two of each: the page leaves out what is smaller.
            metadata: a label a vector, or a list of labels a vector, one a column. Tabs and line ends in them become ``\t`` and ``\n``.
            metadata_header: names of the columns, where there are several.
            label_img: a picture a vector, shape ``[vectors, channels, height, width]`` or ``[vectors, height, width, channels]``.
            **options: none other.

        Raises:
            RefusedValueError: another shape, or not as many labels or pictures as vectors, or labels that do not fit the header.
        """
        no_options(self.name, options)
        vectors = freeze(value)
        if len(vectors.shape) != 2 or min(vectors.shape) < 2:
            raise RefusedValueError(f"embedding takes vectors of shape [n, components], 2 or more of each; got {vectors.shape}")
        count = vectors.shape[0]
        return Vectors(vectors, _table(metadata, metadata_header, count), _pictures(label_img, count))

    def reduce(self, snapshot: Vectors) -> Embedding:
        """Make the files.

        Raises:
            RefusedValueError: a device value that could not be fetched.
        """
        data = snapshot.vectors.get().data
        files, thumbnail = {"tensors.tsv": tsv(data)}, None
        if snapshot.table:
            lines = ("\t".join(map(_cell, row)) + "\n" for row in snapshot.table)
            files["metadata.tsv"] = "".join(lines).encode("utf-8", "replace")
        if snapshot.pictures is not None:
            files["sprite.png"], thumbnail = _sprite(snapshot.pictures)
        return Embedding(files, (data.shape[0], data.shape[1]), thumbnail)


def tsv(vectors: Array) -> bytes:
    """Give a line a vector, with as many digits as float32 needs."""
    with np.errstate(all="ignore"):
        rows = vectors.astype(np.float32).tolist()
    line = "\t".join(["%.9g"] * vectors.shape[1]) + "\n"
    return "".join([line % tuple(row) for row in rows]).encode()


def _table(metadata: Iterable[Any] | None, header: Sequence[object] | None, count: int) -> Rows:
    if metadata is None:
        if header:
            raise RefusedValueError("embedding: metadata_header names columns, but there is no metadata")
        return ()
    rows = guarded(metadata, _rows)
    if len(rows) != count:
        raise RefusedValueError(f"embedding: {len(rows)} entries of metadata for {count} vectors")
    names = _row(list(header)) if header else tuple(f"column {number}" for number in range(1, len(rows[0]) + 1))
    if any(len(row) != len(names) for row in rows):
        model = "metadata_header" if header else "the first"
        raise RefusedValueError(f"embedding: each entry of metadata must have {len(names)} columns, as {model} has")
    return (names, *rows) if len(names) > 1 else rows    # of one column the page takes a header for a label


def _rows(metadata: Iterable[Any]) -> Rows:
    return tuple(_row(entry) for entry in metadata)


def _row(entry: Any) -> tuple[Any, ...]:
    if type(entry) in _FIXED:
        return (entry,)
    if isinstance(entry, (list, tuple)):
        return tuple(cell if type(cell) in _FIXED else _fixed(cell) for cell in entry)
    return (_fixed(entry),)


def _fixed(cell: Any) -> str:
    """Its text as of now; of a tensor of one element its number's."""
    return str(cell.item() if hasattr(cell, "item") and getattr(cell, "shape", None) == () else cell)


def _cell(cell: Any) -> str:
    text = str(cell).translate(_ESCAPES)
    return text if text.strip() else _EMPTY


def _pictures(label_img: Any, count: int) -> Picture | None:
    if label_img is None:
        return None
    pictures = IMAGE.snapshot(label_img)
    shape = pictures.pixels.shape
    if "N" not in pictures.layout or shape[0] != count:
        raise RefusedValueError(f"embedding: label_img of shape {shape} does not hold one picture for each of {count} vectors")
    height, width = (shape[pictures.layout.index(axis)] for axis in "HW")
    side = _columns(count) * max(height, width)
    if side > _LARGEST_SPRITE:
        sheet = f"{count} pictures of {height} x {width} make a sheet of {side} pixels on a side"
        raise RefusedValueError(f"embedding: {sheet}; allowed: {_LARGEST_SPRITE}")
    return pictures


def _columns(count: int) -> int:
    return math.isqrt(count - 1) + 1


def _sprite(pictures: Picture) -> tuple[bytes, tuple[int, int]]:
    """All pictures on one sheet of as many rows as columns, by rows."""
    pixels: Typed = pictures.pixels.get()
    batch = as_batch(to_pixels(pixels.data), pictures.layout)
    count, height, width, channels = batch.shape
    columns = _columns(count)
    sheet = np.zeros((columns * columns, height, width, channels), batch.dtype)
    sheet[:count] = batch
    rows = sheet.reshape(columns, columns, height, width, channels).swapaxes(1, 2)
    return png.encode(rows.reshape(columns * height, columns * width, channels)), (width, height)


EMBEDDING = EmbeddingKind()
