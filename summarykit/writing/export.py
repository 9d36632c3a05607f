"""Tensors as ``.npy`` files beside the records (``export_options={"tensor_format": "npy"}``), in MindSpore's places."""

from __future__ import annotations

import itertools
import time
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

import numpy as np

from summarykit.shapes import Array, Point, Tensor
from summarykit.writing.stats import Stats

_LONGEST = 200    # characters of a quoted tag that go into a file's name


class Exporter:
    """Writes ``export_<seconds>/tensor/<quoted tag>_<step>.npy``."""

    def __init__(self, directory: str) -> None:
        """Choose no folder yet: that is made with the first tensor."""
        self._directory = Path(directory)
        self._folder: Path | None = None

    def export(self, point: Point, stats: Stats) -> None:
        """Write one tensor; where that fails it is said once, and the tensor is in the record file all the same."""
        assert isinstance(point.value, Tensor)
        try:
            self._folder = self._folder or _new_folder(self._directory)
            self._folder.mkdir(parents=True, exist_ok=True)
            _save(self._folder / f"{file_stem(point.tag)}_{point.step}.npy", point.value.data)
        except (OSError, MemoryError) as error:
            message = "tensor %r was not exported as .npy (%s); it is in the summary file"
            stats.say(("export", getattr(error, "errno", None)), message, point.tag, error)


def _new_folder(directory: Path) -> Path:
    """A folder that no other writer has, also where several begin in one second."""
    for second in itertools.count(int(time.time())):
        with suppress(FileExistsError):
            (directory / f"export_{second}").mkdir(parents=True)
            break
    return directory / f"export_{second}" / "tensor"


def _save(path: Path, array: Array) -> None:
    try:
        np.save(path, array)
    except BaseException:
        path.unlink(missing_ok=True)    # half an array is worse than none
        raise


def file_stem(tag: str) -> str:
    """A tag as a file name: quoted, and cut where no file system would take it whole (a digest keeps it unique)."""
    quoted = quote(tag, safe="")
    if len(quoted) <= _LONGEST:
        return quoted
    import hashlib  # seldom needed, and OpenSSL takes milliseconds to load

    return f"{quoted[: _LONGEST - 17]}~{hashlib.sha256(tag.encode()).hexdigest()[:16]}"
