"""An independent walk over record files: shares no code with the package, so it can judge what the package wrote.

A file is a row of records: u64 length, u32 masked CRC-32C of these eight bytes, payload, u32 masked CRC-32C of it
(all little-endian), until the last byte.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path


class BadRecord(AssertionError):
    """What is wrong with a file, and where."""


def _table() -> list[int]:
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = (byte >> 1) ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


TABLE = _table()


def crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc = TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


def masked(data: bytes) -> int:
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def frame(payload: bytes) -> bytes:
    """A record around a payload: for tests that build files of their own."""
    head = struct.pack("<Q", len(payload))
    return head + struct.pack("<I", masked(head)) + payload + struct.pack("<I", masked(payload))


def walk(data: bytes, name: str = "data") -> Iterator[tuple[int, bytes]]:
    """Offset and payload of every record; raises BadRecord at the first byte that is not as it should be."""
    offset = 0
    while offset < len(data):
        head = data[offset : offset + 12]
        if len(head) < 12:
            raise BadRecord(f"{name}: torn header at {offset} ({len(head)} bytes)")
        length, head_crc = struct.unpack("<QI", head)
        if head_crc != masked(head[:8]):
            raise BadRecord(f"{name}: wrong length checksum at {offset}")
        tail = data[offset + 12 : offset + 12 + length + 4]
        if len(tail) < length + 4:
            raise BadRecord(f"{name}: torn record at {offset} ({len(tail)} of {length + 4} bytes)")
        payload = tail[:length]
        if struct.unpack("<I", tail[length:]) != (masked(payload),):
            raise BadRecord(f"{name}: wrong data checksum at {offset}")
        yield offset, payload
        offset += 16 + length


def payloads(path: Path) -> list[bytes]:
    """All payloads of a sound file; raises BadRecord for any other."""
    return [payload for _, payload in walk(Path(path).read_bytes(), str(path))]


def record_files(directory: Path) -> list[Path]:
    """Every record file below a directory, of both formats, sorted."""
    return sorted(p for p in Path(directory).rglob("*") if p.is_file() and ("tfevents" in p.name or "summary." in p.name))


def check_directory(directory: Path) -> dict[str, int]:
    """Walk all record files below a directory; gives the number of records by relative name."""
    return {str(p.relative_to(directory)): len(payloads(p)) for p in record_files(directory)}
