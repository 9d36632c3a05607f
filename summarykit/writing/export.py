"""Tensors as ``.npy`` files beside the records (``export_options={"tensor_format": "npy"}``), in MindSpore's places."""

from __future__ import annotations

import hashlib
import time
from pathlib import Path
from urllib.parse import quote

import numpy as np

from summarykit.shapes import Point, Tensor
from summarykit.writing.stats import Stats

_LONGEST = 200    # characters of a quoted tag that go into a file's name


class Exporter:
    """Writes ``export_<seconds>/tensor/<quoted tag>_<step>.npy``."""

    def __init__(self, directory: Path) -> None:
        """Choose the folder; it is made with the first tensor."""
        self.folder = directory / f"export_{int(time.time())}" / "tensor"

    def export(self, point: Point, stats: Stats) -> None:
        """Write one tensor; where that fails it is counted, and the tensor is in the record file all the same."""
        assert isinstance(point.value, Tensor)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            np.save(self.folder / f"{file_stem(point.tag)}_{point.step}.npy", point.value.data)
        except OSError as error:
            stats.drop(f"npy export: {error.strerror}", detail=repr(point.tag))


def file_stem(tag: str) -> str:
    """A tag as a file name: quoted, and cut where no file system would take it whole (a digest keeps it unique)."""
    quoted = quote(tag, safe="")
    if len(quoted) <= _LONGEST:
        return quoted
    return f"{quoted[: _LONGEST - 17]}~{hashlib.sha256(tag.encode()).hexdigest()[:16]}"
