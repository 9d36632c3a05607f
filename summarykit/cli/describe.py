"""A value of any kind in a few words, and as facts for JSON."""

from __future__ import annotations

import math
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from summarykit.cli import spell
from summarykit.shapes import Array, Blob, Embedding, Graph, Histogram, Image, Lineage, LossLandscape, Plugin, Scalar, Tensor

_TEXT = 60
_BARS = " ▁▂▃▄▅▆▇█"
_SIGNATURES = {b"\x89PNG": "PNG", b"\xff\xd8\xff": "JPEG", b"GIF8": "GIF"}


class Description(NamedTuple):
    """What is said of a value: in a line for people, and as facts for JSON."""

    line: str
    facts: Any


@singledispatch
def describe(value: Any) -> Description:
    """Describe a value: every shape has its own way."""
    return Description(type(value).__name__.lower(), None)


def dtype_of(value: Tensor | Plugin) -> str:
    """Name of the dtype that was recorded; ``"string"`` of texts and files."""
    if isinstance(value, Tensor):
        return value.dtype
    return "string" if value.data.dtype == object else value.data.dtype.name


@describe.register
def _(value: Scalar) -> Description:
    return Description(spell.number(value.value), value.value)


@describe.register
def _(value: Histogram) -> Description:
    facts: dict[str, Any] = {
        "count": value.count, "nan": value.nan, "pos_inf": value.pos_inf, "neg_inf": value.neg_inf,
        "min": value.min, "max": value.max, "mean": value.sum / value.finite if value.finite else math.nan, "sum": value.sum,
        "edges": value.edges, "counts": value.counts,
    }  # fmt: skip
    span = _span(facts) if value.finite else ""
    return Description(f"{spell.some(value.count, 'value')}{span}{_not_finite(value.nan, value.pos_inf + value.neg_inf)}", facts)


@describe.register(Tensor)
@describe.register(Plugin)
def _(value: Tensor | Plugin) -> Description:
    data, dtype, shape = value.data, dtype_of(value), "×".join(map(str, value.data.shape))
    facts: dict[str, Any] = {"dtype": dtype, "shape": list(data.shape), **_statistics(data)}
    if isinstance(value, Plugin) and not data.size:
        return Description(f"{spell.size(len(value.metadata))} of {value.plugin}", facts)
    if data.dtype == object:
        return Description(f"{f'{shape} ' if data.size > 1 else ''}{dtype}{_first_text(data)}", facts)
    span = "" if facts.get("min") is None else _span(facts)
    return Description(f"{dtype} {shape or 'single value'}{span}{_not_finite(facts.get('nan', 0), facts.get('inf', 0))}", facts)


@describe.register
def _(value: Image) -> Description:
    form, channels = file_format(value.encoded), {1: "grey", 2: "grey + alpha", 3: "RGB", 4: "RGBA"}.get(value.channels, "")
    facts = {"width": value.width, "height": value.height, "channels": value.channels, "format": form, "bytes": len(value.encoded)}
    return Description(f"{value.width}×{value.height} {channels} {form}, {spell.size(len(value.encoded))}".replace("  ", " "), facts)


@describe.register
def _(value: Blob) -> Description:
    return Description(f"{spell.size(len(value.content))} of {value.plugin}", {"plugin": value.plugin, "bytes": len(value.content)})


@describe.register
def _(value: Graph) -> Description:
    return Description(f"{spell.some(len(value.nodes), 'node')} {value.name}".rstrip(), {"name": value.name, "nodes": len(value.nodes)})


@describe.register
def _(value: LossLandscape) -> Description:
    rows, columns = value.z.shape
    path = "" if value.path is None else f", path of {len(value.path.steps)}"
    finite = value.z[np.isfinite(value.z)]
    span = f", loss {spell.short(float(finite.min()))} … {spell.short(float(finite.max()))}" if finite.size else ""
    facts = {"x": value.x, "y": value.y, "z": value.z, "decomposition": value.decomposition, "convergence": value.convergence}
    return Description(f"{rows}×{columns} {value.decomposition}{span}{path}", facts)


@describe.register
def _(value: Lineage) -> Description:
    names = ", ".join(value.values)
    return Description(names if len(names) <= _TEXT else f"{names[:_TEXT]} ...", dict(value.values))


@describe.register
def _(value: Embedding) -> Description:
    return Description(f"{value.shape[0]:,} vectors of {value.shape[1]}", {"shape": list(value.shape), "files": list(value.files)})


def file_format(content: bytes) -> str:
    """What an encoded picture or sound is, by its first bytes: ``"PNG"``, ``"JPEG"``, ``"GIF"``, ``"WAV"``; empty where it is none."""
    known = next((name for signature, name in _SIGNATURES.items() if content.startswith(signature)), "")
    return known or ("WAV" if content[:4] == b"RIFF" and content[8:12] == b"WAVE" else "")


def bars(heights: Array) -> str:
    """Numbers as a row of blocks, the largest a full one; what is not 0 is seen; a blank where a number is not finite."""
    heights = np.where(np.isfinite(heights), heights, 0)
    top = heights.max(initial=0)
    return "".join(_BARS[math.ceil(height / top * 8) if top > 0 else 0] for height in heights.tolist())


def _first_text(data: Array) -> str:
    first = data.ravel()[0] if data.size else b""
    text = " ".join(first.decode("utf-8", "replace").split()) if isinstance(first, bytes) else str(first)
    if not text.isprintable() or "\ufffd" in text:
        return f", {file_format(first) or 'bytes'}: {spell.size(len(first))}"
    return f" {text[:_TEXT]!r}{' ...' if len(text) > _TEXT else ''}"


def _statistics(data: Array) -> dict[str, Any]:
    """Of the finite numbers, in float64; nothing for what is no number."""
    if data.dtype.kind not in "biuf":
        return {}
    numbers = data.astype(np.float64)
    finite = numbers[np.isfinite(numbers)]
    nan = int(np.isnan(numbers).sum())
    found: dict[str, Any] = {"nan": nan, "inf": numbers.size - finite.size - nan, "zeros": int((numbers == 0).sum())}
    with np.errstate(over="ignore", invalid="ignore"):
        moments = {"min": finite.min(), "max": finite.max(), "mean": finite.mean(), "std": finite.std()} if finite.size else {}
    return {"min": None, "max": None, "mean": None, "std": None} | {name: float(each) for name, each in moments.items()} | found


def _span(facts: dict[str, Any]) -> str:
    return f" in {spell.short(facts['min'])} … {spell.short(facts['max'])}, mean {spell.short(facts['mean'])}"


def _not_finite(nan: int, inf: int) -> str:
    return "".join(f", {number:,} {what}" for number, what in ((nan, "NaN"), (inf, "±Inf")) if number)
