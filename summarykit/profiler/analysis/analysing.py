"""The question to ask of recordings: where did the time go."""

from __future__ import annotations

import os
from collections.abc import Iterable

from summarykit.profiler.analysis.report import Report
from summarykit.profiler.merging import merged
from summarykit.profiler.parsers import read
from summarykit.profiler.recording import Recording


def analyse(recordings: Recording | Iterable[Recording] | str | os.PathLike[str]) -> Report:
    """Say where the time went.

    Args:
        recordings: one, or those of several ranks; or a path, at which every recording is read: what lies beside our own records
            becomes part of them.

    Raises:
        OSError: there is nothing at the path.
    """
    if isinstance(recordings, str | os.PathLike):
        recordings = merged(read(recordings))
    return Report([recordings] if isinstance(recordings, Recording) else list(recordings))
