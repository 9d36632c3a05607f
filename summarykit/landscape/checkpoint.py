"""MindSpore's ``.ckpt`` files, and which format a checkpoint is in.

A ``.ckpt`` is one protobuf message: ``Checkpoint {1 value: Value {1 tag, 2 tensor: Tensor {1 dims, 2 type, 3 content}}}``; of a large
parameter there are several values with its tag, one piece after the other. Only the places are taken from it here.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from summarykit.landscape.weights import Place, Weights, open_safetensors
from summarykit.reading import wire

VALUE, TAG, TENSOR, DIMS, TYPE, CONTENT = 1, 1, 2, 1, 2, 3
_DTYPES = {"Bool": "bool", "BFloat16": "bfloat16"}


def open_ckpt(file: Path) -> Weights:
    """Find what is where in a checkpoint of MindSpore.

    Raises:
        OSError: it cannot be read.
        ValueError: it is no such file, or a parameter is in pieces.
    """
    places: dict[str, Place] = {}
    with open(file, "rb") as stream:
        size = stream.seek(0, 2)
        window = wire.FileWindow(stream.fileno(), 0)
        for value in wire.fields(window, 0, size):
            if (value.number, value.wire) == (VALUE, wire.BYTES):
                _add(places, window, value)
    if not places:
        raise ValueError("no checkpoint of MindSpore")
    return Weights(file, places, {})


def _add(places: dict[str, Place], window: Any, value: wire.Field) -> None:
    parts = {each.number: each for each in wire.fields(window, value.start, value.stop)}
    if not {TAG, TENSOR} <= parts.keys():
        return
    name = wire.text(window[parts[TAG].start : parts[TAG].stop])
    if name in places:
        raise ValueError(f"{name!r} is stored in several pieces (MindSpore does so above 512 MB), which is not read")
    place = _place(window, parts[TENSOR])
    if place is not None:
        places[name] = place


def _place(window: Any, tensor: wire.Field) -> Place | None:
    dims, dtype, content = [], "", None
    for each in wire.fields(window, tensor.start, tensor.stop):
        if each.number == DIMS and each.wire == wire.VARINT:
            dims.append(wire.signed(each.value))
        elif each.number == TYPE:
            dtype = wire.text(window[each.start : each.stop])
        elif each.number == CONTENT:
            content = each
    if content is None or dtype == "str":
        return None
    place = Place(content.start, _DTYPES.get(dtype, dtype.lower()), tuple(dims))
    length = content.stop - content.start
    if math.prod(place.shape) * place.itemsize != length:    # MindSpore gives a scalar no dims, or [0]
        place = Place(place.offset, place.dtype, (length // np.dtype(place.dtype).itemsize,))
    return place


def open_weights(file: Path) -> Weights:
    """Open a checkpoint: ``.ckpt`` is MindSpore's, anything else a safetensors file.

    Raises:
        OSError: it cannot be read.
        ValueError: it is something else.
    """
    try:
        return open_ckpt(file) if file.suffix == ".ckpt" else open_safetensors(file)
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{file}: no checkpoint: {error}") from error
