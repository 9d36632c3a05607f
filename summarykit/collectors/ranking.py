"""Which ranks of a distributed run record, and what."""

from __future__ import annotations

from summarykit.notices import Notices, logger
from summarykit.ranks import Rank, detect
from summarykit.training.context import CallbackParams

RANKS = ("first", "machine", "all")


class Ranking:
    """Decides by the rank, which may be known only when the run begins."""

    def __init__(self, rank: int | None, ranks: str, notices: Notices) -> None:
        """Keep to these rules.

        Args:
            rank: as the user says; None: find out.
            ranks: one of ``RANKS``.
            notices: for what is told once.
        """
        self._rank, self._ranks, self._notices = rank, ranks, notices

    def of(self, params: CallbackParams) -> int:
        """The rank of this process: what the user says, what the framework's adapter says, what can be detected."""
        if self._rank is None:
            self._rank = params.get("rank")
        if self._rank is None:
            self._rank = self._detected(detect())
        return self._rank

    def records(self, rank: int) -> bool:
        """True where it records anything."""
        return rank == 0 or self._ranks != "first"

    def wants(self, rank: int, of_machine: bool) -> bool:
        """True where it records what a part collects; ``of_machine``: that tells of its process and machine."""
        return rank == 0 or self._ranks == "all" or of_machine

    def _detected(self, found: Rank) -> int:
        if not self.records(found.rank):
            message = "rank %d of %d (says %s) records nothing; SummaryCollector(rank=0) records, and so does ranks='all' in rank_%d/"
            about = message, found.rank, found.world_size, found.source, found.rank
            if found.certain:
                logger.info(*about)
            else:    # a process that is on its own may have inherited the variables
                self._notices.once("rank", *about)
        return found.rank
