"""What an analysis gives: a profile of each recording, and what only several together can tell."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from summarykit.profiler.analysis.costs import costs
from summarykit.profiler.analysis.profile import Profile
from summarykit.profiler.analysis.stragglers import stragglers
from summarykit.profiler.recording import Recording, Table

if TYPE_CHECKING:
    from summarykit.profiler.advice import Advice


class Report:
    """Where the time went, in tables that are made when they are first asked for.

    Attributes:
        profiles: one of each recording, by rank and path.
        last: the last one of each rank: of several windows the latest.
    """

    def __init__(self, recordings: Sequence[Recording]) -> None:
        """Make a report.

        Args:
            recordings: one, or those of several ranks.
        """
        ordered = sorted(recordings, key=lambda recording: (recording.rank, str(recording.path)))
        self.profiles = [Profile(recording) for recording in ordered]
        self.last = list({profile.recording.rank: profile for profile in self.profiles}.values())

    @property
    def recordings(self) -> list[Recording]:
        """What was recorded, by rank."""
        return [profile.recording for profile in self.profiles]

    def table(self, name: str) -> Table:
        """A table of all recordings, one below the other, with a column ``rank`` in front.

        Raises:
            ValueError: there is no such table; ``Profile.TABLES`` has the names.
        """
        found = [(profile.recording.rank, profile.table(name)) for profile in self.profiles]
        filled = [(rank, table) for rank, table in found if table.rows]
        if not filled:
            return found[0][1] if found else Table()
        ranks = np.repeat([rank for rank, _ in filled], [table.rows for _, table in filled])
        columns = [column for column in filled[0][1] if all(column in table for _, table in filled)]
        return Table(rank=ranks, **{column: np.concatenate([table[column] for _, table in filled]) for column in columns})

    @cached_property
    def stragglers(self) -> Table:
        """Which rank the others wait for; see ``stragglers.stragglers``."""
        return stragglers([profile.recording for profile in self.last], self.last[0].steps) if self.last else Table()

    @cached_property
    def advice(self) -> list[Advice]:
        """What to change, what gains most first; empty where there is nothing to gain."""
        from summarykit.profiler.advice import advise  # its rules look at reports

        return advise(self)

    @cached_property
    def costs(self) -> Table:
        """What the profiler itself took: ``rank``, ``collector``, ``calls``, and in ms ``time``, ``start``, ``stop``."""
        return costs(self.recordings)

    @property
    def skipped(self) -> Counter[str]:
        """What could not be read, by reason."""
        return sum((recording.skipped for recording in self.recordings), Counter())

    def __str__(self) -> str:
        """The report for the terminal."""
        from summarykit.profiler.report_text import text  # it knows reports

        return text(self)

    def to_json(self) -> str:
        """The report for programs; see ``report_json.document``."""
        from summarykit.profiler.report_json import text

        return text(self)

    def to_html(self) -> str:
        """The report as one page that loads nothing, with a picture of the timeline."""
        from summarykit.profiler.report_html import page

        return page(self)

    def write_timeline(self, path: str | os.PathLike[str]) -> None:
        """Write a Chrome trace for Perfetto; see ``timeline.write_timeline``.

        Raises:
            OSError: it cannot be written.
        """
        from summarykit.profiler.timeline import write_timeline

        write_timeline(self.recordings, path)
