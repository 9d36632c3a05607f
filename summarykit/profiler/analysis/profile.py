"""One recording, analysed: each table is made when it is first asked for, and kept."""

from __future__ import annotations

from summarykit.profiler.recording import Recording


class Profile:
    """Where the time of one process went.

    Attributes:
        recording: what was recorded.
    """

    def __init__(self, recording: Recording) -> None:
        """Make a profile of a recording."""
        self.recording = recording
