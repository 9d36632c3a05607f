"""Files with the names and columns of MindInsight, made of a recording from any source: its profiler pages open them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from summarykit.profiler.intermediate import (
    about,
    ai_cpu,
    cluster,
    communication,
    flops,
    framework,
    kernels,
    memory,
    minddata,
    operators,
    steps,
    timeline,
)
from summarykit.profiler.intermediate.dialect import MINDINSIGHT_0_5, MINDINSIGHT_2, MINDSPORE_1, Dialect
from summarykit.profiler.intermediate.target import Target
from summarykit.profiler.recording import Recording

__all__ = ["MINDINSIGHT_0_5", "MINDINSIGHT_2", "MINDSPORE_1", "Dialect", "render", "write_intermediate"]

_WRITERS = (about, steps, framework, kernels, flops, ai_cpu, operators, minddata, timeline, communication, cluster, memory)


def write_intermediate(
    recordings: Recording | Iterable[Recording], folder: str | os.PathLike[str], *, dialect: Dialect = MINDINSIGHT_2
) -> list[Path]:
    """Write what MindInsight's profiler pages read.

    Args:
        recordings: one, or those of several ranks: a file's name holds its rank, and the last of one rank stays. What several writers told
            of one rank is put together by ``merging.merged``.
        folder: made where it is not there. MindInsight looks for ``<run>/profiler``.
        dialect: the generation of MindInsight that shall read them.

    Returns:
        The files.

    Raises:
        OSError: a file cannot be written.
    """
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    each = [recordings] if isinstance(recordings, Recording) else recordings
    return [_put(place / name, parts) for recording in each for name, parts in _files(recording, dialect).items()]


def render(recording: Recording, *, dialect: Dialect = MINDINSIGHT_2) -> dict[str, str]:
    """The same files in memory: name -> content."""
    return {name: "".join(parts) for name, parts in _files(recording, dialect).items()}


def _files(recording: Recording, dialect: Dialect) -> dict[str, Iterable[str]]:
    target = Target(recording, dialect)
    for writer in _WRITERS:
        writer.write(recording, target)
    return target.files


def _put(path: Path, parts: Iterable[str]) -> Path:
    """Write a file, whole or not at all."""
    unfinished = path.with_name(path.name + ".part")
    with open(unfinished, "w", encoding="utf-8", newline="") as file:
        file.writelines(parts)
    unfinished.replace(path)
    return path
