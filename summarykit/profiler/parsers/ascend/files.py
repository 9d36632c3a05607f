"""Which raw files of an Ascend job are there: by kind and device, slices in order."""

from __future__ import annotations

import gzip
import re
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

GZIP = b"\x1f\x8b"
BLOCK = 4 << 20
_SLICE = r"\.slice_(?P<slice>\d+)(?:\.gz)?$"
_DEVICE = r"\.(?P<device>\d+)"
PATTERNS = {
    kind: re.compile(pattern)
    for kind, pattern in {
        "hwts": rf"hwts\.(?:log\.)?data(?:\..+)?{_DEVICE}{_SLICE}",
        "training_trace": rf"training_trace(?:\..+)?{_DEVICE}{_SLICE}",
        "aicore": rf"aicore\.data(?:\..+)?{_DEVICE}{_SLICE}",
        "aicpu": rf"DATA_PREPROCESS(?:\.dev)?\.AICPU{_DEVICE}{_SLICE}",
        "aicpu_queue": rf"DATA_PREPROCESS(?:\.dev)?\.AICPUMI{_DEVICE}{_SLICE}",
        "tdt": rf"DATA_PREPROCESS(?:\.dev)?\.TDT{_DEVICE}{_SLICE}",
        "task_desc": rf"Framework\.host\.(?:vm\.)?task_desc_info{_DEVICE}(?:\.[^.]+)?{_SLICE}",
        "graph_desc": rf"Framework\.host\.(?:vm\.)?graph_desc_info{_DEVICE}(?:\.[^.]+)?{_SLICE}",
        "point": rf"Framework\.host\.(?:vm\.)?point{_DEVICE}(?:\.[^.]+)?{_SLICE}",
        "task_desc_binary": rf"Framework\.task_desc_info{_DEVICE}{_SLICE}",
        "step_info": rf"Framework\.step_info{_DEVICE}{_SLICE}",
        "tensor_data": rf"Framework\.tensor_data_info{_DEVICE}{_SLICE}",
        "hash_dic": rf"Framework\.hash_dic{_DEVICE}{_SLICE}",
        "host_start": rf"host_start\.log{_DEVICE}$",
        "memory": r"memory_usage_(?P<device>\d+)\.pb$",
    }.items()
}


def kind_of(name: str) -> tuple[str, int, int] | None:
    """Kind, device and slice that a file's name says; None for any other file, and for the marks ``*.done``."""
    for kind, pattern in PATTERNS.items():
        match = pattern.match(name)
        if match:
            return kind, int(match["device"]), int(match.groupdict().get("slice") or 0)
    return None


class JobFiles:
    """The raw files of one job.

    A kind of file is looked for in the job's folder, then in ``data`` below it; what the framework says of operators also in
    ``container/<device>/data``. The first place that has it counts.
    """

    def __init__(self, job: Path) -> None:
        """Look at what is there; contents are not read.

        Args:
            job: the job's folder, or one raw file.
        """
        self._found: dict[tuple[int, str], list[Path]] = {}
        if job.is_dir():
            for place in (job, job / "data"):
                self._look(sorted(place.iterdir()) if place.is_dir() else [])
        else:
            self._look([job])
        if self._found:            # a container alone makes no job of the folder around it
            for place in sorted(job.glob("container/*/data")):
                self._look(sorted(place.iterdir()))

    def _look(self, entries: list[Path]) -> None:
        here: dict[tuple[int, str], list[tuple[int, Path]]] = {}
        for entry in entries:
            what = kind_of(entry.name)
            if what is not None and entry.is_file():
                here.setdefault((what[1], what[0]), []).append((what[2], entry))
        for key, slices in here.items():
            self._found.setdefault(key, [path for _, path in sorted(slices)])

    @property
    def devices(self) -> list[int]:
        """The devices that have files."""
        return sorted({device for device, _ in self._found})

    def slices(self, device: int, kind: str) -> list[Path]:
        """The slices of one kind of file of one device, in order."""
        return self._found.get((device, kind), [])


def opened(path: Path) -> IO[bytes]:
    """A file's content, unpacked where it is packed.

    Raises:
        OSError: it cannot be read.
    """
    with open(path, "rb") as stream:
        packed = stream.read(2) == GZIP
    return cast(IO[bytes], gzip.open(path, "rb")) if packed else open(path, "rb")


def pieces(paths: list[Path], skipped: Counter[str], size: int = BLOCK) -> Iterator[bytes]:
    """The content of each slice in pieces; a packed file that is damaged ends there, which is counted."""
    for path in paths:
        with opened(path) as stream:
            try:
                while piece := stream.read(size):
                    yield piece
            except (EOFError, OSError, zlib.error) as error:
                skipped[f"{path.name} cannot be read to its end: {error}"] += 1


def text(paths: list[Path], skipped: Counter[str]) -> str:
    """The content of slices of text, one after the other; what is no UTF-8 is replaced."""
    return b"".join(pieces(paths, skipped)).decode("utf-8", "replace")
