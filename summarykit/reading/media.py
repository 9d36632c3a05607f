"""Sounds and embeddings, decoded when asked for."""

from __future__ import annotations

import io
import wave
from pathlib import Path
from typing import NamedTuple

import numpy as np

from summarykit.reading.series import Series
from summarykit.shapes import Array, Plugin


class Sound(NamedTuple):
    """A sound.

    Attributes:
        samples: shape ``[samples, channels]``; of 8 bits uint8, else int16 or int32.
        sample_rate: samples a second.
    """

    samples: Array
    sample_rate: int


class Sounds(Series):
    """Sounds of one tag."""

    def at(self, step: int) -> Sound:    # type: ignore[override]  # not as it was recorded
        """The sound of a step.

        Raises:
            KeyError: there is none.
            ValueError: it is no WAV file of 8, 16 or 32 bits.
        """
        return decode_wav(_content(self, step))


class Vectors(NamedTuple):
    """An embedding.

    Attributes:
        values: float32, shape ``[vectors, components]``.
        metadata: the cells of its table, a row a vector; empty where there is none.
        columns: names of the table's columns; empty where there is only one.
    """

    values: Array
    metadata: list[list[str]]
    columns: list[str]


class Embeddings(Series):
    """Embeddings of one tag."""

    def at(self, step: int) -> Vectors:    # type: ignore[override]  # not as they were recorded
        """The embedding of a step, read from its files beside the records.

        Raises:
            KeyError: there is none at that step.
            OSError: its files are not there (any more).
            ValueError: the record names a folder outside of the run's.
        """
        run = self._reader.path(self._track.values[self.place(step)]).parent
        folder = (run / _content(self, step).decode("utf-8", "replace")).resolve()
        if not folder.is_relative_to(run.resolve()):
            raise ValueError(f"embedding {self.tag!r} at step {step} names a folder outside of {run}")
        values = np.loadtxt(folder / "tensors.tsv", np.float32, delimiter="\t", ndmin=2)
        rows = _table(folder / "metadata.tsv")
        columns = rows.pop(0) if rows and len(rows[0]) > 1 else []
        return Vectors(values, rows, columns)


def decode_wav(content: bytes) -> Sound:
    """Samples and rate of a WAV file.

    Raises:
        ValueError: it is none of 8, 16 or 32 bits.
    """
    try:
        with wave.open(io.BytesIO(content)) as file:
            width, channels, rate = file.getsampwidth(), file.getnchannels(), file.getframerate()
            frames = file.readframes(file.getnframes())
        dtype = {1: "u1", 2: "<i2", 4: "<i4"}[width]
    except (wave.Error, EOFError, KeyError) as error:
        raise ValueError(f"no WAV file of 8, 16 or 32 bits: {error}") from error
    whole = len(frames) // (width * channels) * channels
    return Sound(np.frombuffer(frames, dtype, whole).reshape(-1, channels), rate)


def _content(series: Series, step: int) -> bytes:
    shape = series[series.place(step)].value
    if not isinstance(shape, Plugin) or shape.data.dtype != object or not shape.data.size:
        raise ValueError(f"{series.kind} {series.tag!r} at step {step} is not in the form that TensorBoard gives it")
    content: bytes = shape.data.reshape(-1)[0]
    return content


def _table(path: Path) -> list[list[str]]:
    if not path.exists():
        return []
    return [line.split("\t") for line in path.read_text("utf-8", "replace").split("\n") if line]
