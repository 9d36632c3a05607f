"""Files of TensorBoard's projector beside the records: a folder an embedding, and the list of them in ``projector_config.pbtxt``."""

from __future__ import annotations

import errno
import itertools
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from summarykit.shapes import Embedding, Plugin, Point, strings

CONFIG = "projector_config.pbtxt"
FOLDERS = "embeddings"


class Projector:
    """Writes ``embeddings/<number>/tensors.tsv`` and what belongs to it. Numbers are generated: a tag may be any text."""

    def __init__(self, directory: str) -> None:
        """Nothing is made before the first embedding."""
        self._directory = Path(directory)
        self._numbers = itertools.count()

    def place(self, point: Point) -> Point:
        """Write an embedding's files, and list it; what is left for the record is the folder's name.

        Raises:
            OSError: it could not be written.
        """
        embedding = point.value
        assert isinstance(embedding, Embedding)
        folder = self._new_folder()
        _write(self._directory / folder, embedding.files)
        self._enlist(f"{point.tag}:{point.step:05d}", folder, embedding)
        return replace(point, value=Plugin("projector", strings(folder.encode())))

    def _new_folder(self) -> str:
        """A folder that no other embedding has, also of other writers in this directory."""
        (self._directory / FOLDERS).mkdir(parents=True, exist_ok=True)
        for number in self._numbers:
            folder = f"{FOLDERS}/{number:05d}"
            with suppress(FileExistsError):
                (self._directory / folder).mkdir()
                return folder
        raise AssertionError("numbers do not end")

    def _enlist(self, name: str, folder: str, embedding: Embedding) -> None:
        """Append to the list in one write: other processes may do the same."""
        path = self._directory / CONFIG
        known = path.read_text("utf-8", "replace") if path.exists() else ""
        text = _entry(_new_name(name, known), folder, embedding)
        before = "" if known.endswith("\n") or not known else "\n"
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            _append(descriptor, (before + text).encode())
        finally:
            os.close(descriptor)


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    try:
        for name, content in files.items():
            (folder / name).write_bytes(content)
    except OSError:
        for name in files:    # half of it is worse than none, and the disk may be full
            (folder / name).unlink(missing_ok=True)
        folder.rmdir()
        raise


def _append(descriptor: int, entry: bytes) -> None:
    """In one call, or not at all: half an entry would make the whole list unreadable."""
    written = os.write(descriptor, entry)
    if written < len(entry):
        os.ftruncate(descriptor, os.fstat(descriptor).st_size - written)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), CONFIG)


def _entry(name: str, folder: str, embedding: Embedding) -> str:
    lines = [f"tensor_name: {_quoted(name)}", f'tensor_path: "{folder}/tensors.tsv"']
    lines += [f"tensor_shape: {size}" for size in embedding.shape]
    if "metadata.tsv" in embedding.files:
        lines.append(f'metadata_path: "{folder}/metadata.tsv"')
    if embedding.thumbnail is not None:
        dimensions = " ".join(f"single_image_dim: {size}" for size in embedding.thumbnail)
        lines.append(f'sprite {{ image_path: "{folder}/sprite.png" {dimensions} }}')
    return "embeddings {\n" + "".join(f"  {line}\n" for line in lines) + "}\n"


def _new_name(name: str, known: str) -> str:
    """The page shows the first of one name only, which after a restart would be the older one."""
    candidates = itertools.chain([name], (f"{name} ({number})" for number in itertools.count(2)))
    return next(each for each in candidates if f"tensor_name: {_quoted(each)}\n" not in known)


def _quoted(text: str) -> str:
    """As protobuf's text format has it: bytes in octal but for plain ASCII."""
    return '"' + "".join(chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:03o}" for byte in text.encode()) + '"'
