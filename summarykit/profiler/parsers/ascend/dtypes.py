"""Numbers of data types and formats in the framework's files."""

from __future__ import annotations

DIFFERENCE = 200           # binary files add it to some numbers
_KINDS = (
    "INT", "INT8", "INT16", "INT32", "INT64", "UINT", "UINT8", "UINT16", "UINT32", "UINT64", "FLOAT", "FLOAT16", "FLOAT32", "FLOAT64",
)
_UNTIL_1_5 = {27 + place: name for place, name in enumerate(("BOOL", *_KINDS))}
_SINCE_1_6 = {30 + place: name for place, name in enumerate(("BOOL", *_KINDS, "COMPLEX"))}
_ENGINE_NAMES = (
    "FLOAT", "FLOAT16", "INT8", "INT32", "UINT8", "UNKNOWN", "INT16", "UINT16", "UINT32", "INT64", "UINT64", "DOUBLE", "BOOL", "STRING",
    "DUAL_SUB_INT8", "DUAL_SUB_UINT8", "COMPLEX64", "COMPLEX128", "QINT8", "QINT16", "QINT32", "QUINT8", "QUINT16", "RESOURCE",
    "STRING_REF", "DUAL", "UNDEFINED",
)
_ENGINE = dict(enumerate(_ENGINE_NAMES))
_FORMATS = dict(enumerate(["NCHW", "NHWC", "ND", "NC1HWC0", "FRACTAL_Z"]))


def graph_dtype(number: int) -> str:
    """The name of a data type in text files of the VM backend (up to MindSpore 1.5)."""
    return _named(_UNTIL_1_5, number)


def binary_dtype(number: int) -> str:
    """The name of a data type in binary files (MindSpore 1.6 to 2.2)."""
    return _named(_SINCE_1_6, plain(number))


def engine_dtype(number: int) -> str:
    """The name of a data type in text files of the graph engine."""
    return _ENGINE.get(number, "UNKNOWN")


def engine_format(number: int) -> str:
    """The name of a tensor format by its number; the number itself where no name is known."""
    return _FORMATS.get(plain(number), str(plain(number)))


def plain(number: int) -> int:
    """A number without what binary files add to it."""
    return number - DIFFERENCE if number >= DIFFERENCE else number


def _named(names: dict[int, str], number: int) -> str:
    return f"NUMBER_TYPE_{names[number]}" if number in names else "UNKNOWN"
