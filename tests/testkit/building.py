"""Summary files made for a test, record by record, through the layouts of the package but without its writer."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from summarykit.clock import Process
from summarykit.formats import FORMATS, framing, names
from summarykit.formats.origin import Origin
from summarykit.shapes import Histogram, Image, Point, Scalar, Tensor

PROCESS = Process(1, 1, "boot", 1, "host")


def scalar(tag: str, step: int, value: float, wall_time: float | None = None) -> Point:
    return Point("scalar", tag, step, float(1000 + step) if wall_time is None else wall_time, Scalar(float(value)))


def heavy(kind: str, tag: str, step: int, value: Histogram | Image | Tensor) -> Point:
    return Point(kind, tag, step, float(1000 + step), value)


def payloads(form: str, points: Iterable[Point]) -> list[bytes]:
    layout = FORMATS.get(form)()
    return [b"".join(map(bytes, layout.payload(point) or [])) for point in points]


def opening(form: str, session: str | None = None, segment: int = 0, resume: int | None = None, rank: int = 0) -> list[bytes]:
    """What a file of ours begins with; without a session, what others write: the version only."""
    if session is None:
        number, version = (3, b"MindSpore.Event:1") if form == "mindspore" else (3, b"brain.Event:2")
        return [b"\x09" + bytes(8) + bytes([number << 3 | 2, len(version)]) + version]
    return FORMATS.get(form)().opening(Origin(session, segment, PROCESS, resume, rank, "test"), 1.0)


def write(path: Path, payloads: Iterable[bytes]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(framing.frame(payload) for payload in payloads))
    return path


def file(directory: Path, form: str, points: Iterable[Point], *, stamp: int = 1700000000, **origin: object) -> Path:
    """A file of ours (with ``session=``) or of somebody else; twins have one stamp."""
    stem = names.Stem(stamp, int(origin.get("rank", 0)), "host", 1, 0)
    name = FORMATS.get(form)().file_name("events", stem, "_MS" if form == "mindspore" else "")
    return write(directory / name, opening(form, **origin) + payloads(form, points))


def twins(directory: Path, points: Iterable[Point], **origin: object) -> tuple[Path, Path]:
    points = list(points)
    return file(directory, "mindspore", points, **origin), file(directory, "tensorboard", points, **origin)
