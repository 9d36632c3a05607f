"""What an analysis gives: a profile of each recording, and what only several together can tell."""

from __future__ import annotations

from collections.abc import Sequence

from summarykit.profiler.analysis.profile import Profile
from summarykit.profiler.recording import Recording


class Report:
    """Where the time went, in tables that are made when they are first asked for.

    Attributes:
        profiles: one of each recording, by rank.
    """

    def __init__(self, recordings: Sequence[Recording]) -> None:
        """Make a report.

        Args:
            recordings: one, or those of several ranks.
        """
        self.profiles = [Profile(recording) for recording in sorted(recordings, key=lambda each: each.rank)]
