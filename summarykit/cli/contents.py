"""What a value is as files."""

from __future__ import annotations

import dataclasses
import io
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from summarykit.cli import spell
from summarykit.cli.describe import file_format
from summarykit.shapes import Array, Blob, Embedding, Graph, Image, Lineage, LossLandscape, Plugin, Tensor


class Content(NamedTuple):
    """What goes into one file, and the ending of its name."""

    content: bytes | Array
    ending: str


@singledispatch
def contents(value: Any) -> list[Content]:
    """The files of a value.

    Raises:
        TypeError: there is no way to write such a value.
    """
    raise TypeError(f"no file can hold a {type(value).__name__}")


@contents.register
def _(value: Image) -> list[Content]:
    return [_known(value.encoded)]


@contents.register
def _(value: Blob) -> list[Content]:
    return [Content(value.content, "bin")]


@contents.register(Tensor)
@contents.register(Plugin)
def _(value: Tensor | Plugin) -> list[Content]:
    """Numbers are an array; of texts and pictures each has a file; what has neither is all in its description."""
    if isinstance(value, Plugin) and not value.data.size:
        return [Content(value.metadata, "bin")]
    if value.data.dtype != object:
        return [Content(value.data, "npy")]
    items = [_known(item) for item in value.data.ravel().tolist() if isinstance(item, bytes)]
    return [item for item in items if item.ending != "bin"] or items    # before pictures stand their width and height


@contents.register
def _(value: Graph) -> list[Content]:
    return [Content(spell.text(dataclasses.asdict(value)).encode(), "json")]


@contents.register
def _(value: Lineage) -> list[Content]:
    return [Content(spell.text(value.values).encode(), "json")]


@contents.register
def _(value: Embedding) -> list[Content]:
    return [Content(content, name.rpartition(".")[2]) for name, content in value.files.items()]


@contents.register
def _(value: LossLandscape) -> list[Content]:
    stream = io.BytesIO()
    path = {} if value.path is None else {f"path_{name}": array for name, array in vars(value.path).items()}
    np.savez(stream, x=value.x, y=value.y, z=value.z, **path)
    return [Content(stream.getvalue(), "npz")]


def _known(content: bytes) -> Content:
    return Content(content, file_format(content).lower() or "bin")
