"""Reading a million scalars: every checksum, every point."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

from contestants import OURS
from harness import Options, Row, main, run
from meters import Stopwatch

TAGS = [f"layer{number:02d}/loss" for number in range(50)]
POINTS = {OURS: 1_000_000, "EventAccumulator": 100_000, "tbparse": 100_000, "TensorBoard's Rust server": 1_000_000}


def measure(contestant: Any, directory: str, points: int, twins: bool = False) -> dict[str, Any]:
    """Write scalars (outside the clock), then read them all."""
    if twins:
        record(directory, points)
    else:
        write_as_torch_does(Path(directory, "events.out.tfevents.1700000000.host.1.0"), points)
    watch = Stopwatch()
    found = contestant.Reader().count(directory, TAGS)
    whole = watch.read()
    if found not in (points, -1):
        raise RuntimeError(f"{found} points read of {points}")
    return {"rate": points / whole.tree, "wall_rate": points / whole.wall}


def record(directory: str, points: int) -> None:
    """Both formats, by this library."""
    from contestants.ours import Writer

    writer = Writer(directory)
    for step in range(points // len(TAGS)):
        writer.log([(tag, step / 7 + number) for number, tag in enumerate(TAGS)], step)
    writer.close()


def write_as_torch_does(path: Path, points: int) -> None:
    """A TensorBoard file with the fields in torch's order: wall_time, step, summary{value{tag, simple_value}}."""
    from crc32c import crc32c

    def masked(data: bytes) -> bytes:
        crc = crc32c(data)
        return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)

    def framed(payload: bytes) -> bytes:
        length = struct.pack("<Q", len(payload))
        return length + masked(length) + payload + masked(payload)

    values = [_summary(tag.encode()) for tag in TAGS]
    with open(path, "wb") as file:
        file.write(framed(b"\x09" + struct.pack("<d", 1.7e9) + b"\x1a\x0dbrain.Event:2"))
        for step in range(points // len(TAGS)):
            head = b"\x09" + struct.pack("<d", 1.7e9 + step / 10) + b"\x10" + _varint(step)
            file.writelines(framed(head + value + struct.pack("<f", step / 7 + number)) for number, value in enumerate(values))


def _summary(tag: bytes) -> bytes:
    """All of a summary with one value but the last four bytes, the value itself."""
    content = b"\x0a" + bytes([len(tag)]) + tag + b"\x15"
    return b"\x2a" + bytes([len(content) + 6]) + b"\x0a" + bytes([len(content) + 4]) + content


def _varint(number: int) -> bytes:
    groups = b""
    while number > 0x7F:
        groups += bytes([number & 0x7F | 0x80])
        number >>= 7
    return groups + bytes([number])


def rows(options: Options) -> tuple[list[Row], list[str]]:
    """The claims on reading."""
    sizes = {name: options.count(points, len(TAGS)) for name, points in POINTS.items()}
    torch = run("reading", {name: {"points": points} for name, points in sizes.items()}, options)
    twins = run("reading", {OURS: {"points": sizes[OURS], "twins": True}}, options)
    read = ", ".join(f"{name} {points:,}" for name, points in sizes.items())
    return [
        Row("read scalars of a TensorBoard file: M a CPU second", torch.figures("rate", 1e-6), "reading.py", more_is_better=True),
        Row("… M a second of wall time", torch.figures("wall_rate", 1e-6), "reading.py", more_is_better=True),
        Row("read a run in both formats: M points a CPU second", twins.figures("rate", 1e-6), "reading.py", more_is_better=True),
    ], [f"reading.py reads so many scalars: {read}; the Rust server's start is included, its answers are not"]


if __name__ == "__main__":
    main(rows, __doc__)
