"""What a parser is."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from summarykit.profiler.recording import Recording


class Parser(Protocol):
    """A module with these two functions."""

    def sniff(self, path: Path) -> bool:
        """Whether this parser reads what is there: a file or a directory that exists.

        It looks at names and at the first bytes only, and answers False to what it cannot look at. It never raises.
        """

    def parse(self, path: Path) -> list[Recording]:
        """Read what ``sniff`` said yes to: one recording of each process or device.

        It reads in pieces, never a whole trace at once, and steps over what it cannot read: ``Recording.skipped`` counts that by reason.

        Raises:
            OSError: a file cannot be read at all.
        """
