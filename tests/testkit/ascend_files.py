"""Writes raw files of Ascend from their layouts; of the binary ones no capture is public: these say what the layout says."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from pathlib import Path

HWTS = "hwts.log.data.45.dev.profiler_default_tag.{}.slice_{}"
TRACE = "training_trace.46.dev.profiler_default_tag.{}.slice_{}"
MAGIC = 0x6BD3


def hwts_record(kind: int, count: int, task: int, time: int, stream: int, *, core: int = 0, block: int = 0, overflow: int = 0) -> bytes:
    """64 bytes of the hardware's task log."""
    head = struct.pack("<BBHHH", kind | overflow << 3 | (count & 15) << 4, core, MAGIC, block, task)
    if kind == 4:
        return head + struct.pack("<QI4xQ", 0, stream, time).ljust(56, b"\0")
    return head + struct.pack("<QI", time, stream).ljust(56, b"\0")


def hwts(events: Iterable[tuple[int, int, int, int]]) -> bytes:
    """Records of ``(kind, task, time, stream)``, counted without a gap."""
    return b"".join(hwts_record(kind, count, task, time, stream) for count, (kind, task, time, stream) in enumerate(events))


def trace(events: Iterable[tuple[int, int, int]]) -> bytes:
    """Records of ``(tag, stream, time)`` of the training trace."""
    return b"".join(struct.pack("<QHHQ", tag, 0, stream, time) for tag, stream, time in events)


def mixed(text: str, size: int, hashed: int | None = None) -> bytes:
    """A text of a binary record: inline, or a hash of it."""
    return (b"\x01" + bytes(7) + text.encode() if hashed is None else bytes(8) + struct.pack("<Q", hashed)).ljust(size, b"\0")


def task_desc(name: bytes, kind: bytes, stream: int, task: int, *, block_dim: int = 1, iteration: int = 1) -> bytes:
    """256 bytes: a task of the binary framework file; names as ``mixed`` gives them."""
    content = struct.pack("<HHI", 0x5A5A, 0, 0) + name + kind + struct.pack("<QQ6I", iteration, 0, 0, block_dim, 0, stream, task, 0)
    assert len(content) == 240
    return content.ljust(256, b"\0")


def step_info(tag: int, stream: int, task: int) -> bytes:
    """64 bytes: a point of the step."""
    return struct.pack("<HH3IQQIB", 0x5A5A, 0, 0, stream, task, 0, 1, 0, tag).ljust(64, b"\0")


def tensor_data(stream: int, task: int, tensors: Sequence[tuple[int, int, int, Sequence[int]]], iteration: int = 1) -> bytes:
    """256 bytes: ``(0 in or 1 out, format, data type, shape)`` of up to five tensors."""
    content = struct.pack("<HHIQIIB3x", 0x5A5A, 0, 0, iteration, stream, task, len(tensors))
    for side, form, dtype, shape in tensors:
        content += struct.pack("<11I", side, form, dtype, *shape, *[0] * (8 - len(shape)))
    return content.ljust(256, b"\0")


def ai_cpu(stream: int, task: int, start: int, end: int, dispatch: int, total: int) -> bytes:
    """128 bytes of the AI CPU: start and end in ticks of 10 ns, the others in µs."""
    content = struct.pack("<HHHH7Q", 0x5A5A, 0, stream, task, 0, start, 0, 0, 0, 0, end)
    content += struct.pack("<II4QIIIHB", 1, 0, 0, 0, 0, 0, 0, dispatch, total, 0, 1)
    assert len(content) == 119
    return content.ljust(128, b"\0")


def ai_core(stream: int, task: int, counters: Sequence[int]) -> bytes:
    """128 bytes of the AI Core's counters."""
    return struct.pack("<BBHHHII10Q8I", 0, 0, 0, 0, task, 0, 0, 0, 0, *counters, stream, *[0] * 7)


def put(folder: Path, **files: bytes | str) -> Path:
    """Write files; in their names ``__`` stands for a point."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name.replace("__", ".")).write_bytes(content.encode() if isinstance(content, str) else content)
    return folder
