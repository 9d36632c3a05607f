"""When a worker may be started in place of one that ended: at once, later, or never again."""

from __future__ import annotations

import time

MOST_FAILURES = 3
"""Workers that ended before they were ready, in a row, after which no more are started."""

_BACK_OFF_SECS = (0.0, 0.5, 2.0, 10.0, 60.0)    # before the next start, by the number of ends in a row
_STEADY_SECS = 60.0    # a worker that has lived so long makes the ends before it forgotten


class Vacancies:
    """How many workers there are to be, and from when on the next one may be started.

    Attributes:
        posts: how many; 0 once it is given up.
        not_before: seconds of the monotonic clock.
    """

    def __init__(self, posts: int) -> None:
        """So many may be started at once."""
        self.posts = posts
        self.not_before = 0.0
        self._ends = 0    # in a row
        self._failures = 0    # of those, before they were ready

    def open(self, hired: int) -> bool:
        """Whether one may be started now, where there are so many."""
        return hired < self.posts and time.monotonic() >= self.not_before

    def ended(self, age: float) -> None:
        """A worker that had been ready has ended, so many seconds old."""
        self._failures = 0
        self._defer(0 if age > _STEADY_SECS else self._ends)

    def failed(self) -> bool:
        """A worker did not come, or ended before it was ready; True where it is given up with that."""
        self._failures += 1
        self._defer(self._ends)
        if self._failures >= MOST_FAILURES:
            self.posts = 0
        return not self.posts

    def _defer(self, ends: int) -> None:
        self.not_before = time.monotonic() + _BACK_OFF_SECS[min(ends, len(_BACK_OFF_SECS) - 1)]
        self._ends = ends + 1
