"""What a profiler was asked for, checked: wrong arguments are refused where they are given."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Any

from summarykit.local import refuse_url
from summarykit.profiler.collectors import COLLECTORS, Collector
from summarykit.profiler.keeping import KEEP
from summarykit.profiler.scheduling import Schedule
from summarykit.whole import check_integer

LEAST_BYTES = 1 << 16


@dataclass(frozen=True)
class Plan:
    """The arguments of ``Profiler``; see there."""

    output_path: Path
    collectors: str | tuple[str, ...]
    schedule: Schedule | None
    max_bytes: int
    max_seconds: float | None
    keep: str
    max_overhead: float
    rank: int | None
    world_size: int | None

    @classmethod
    def checked(
        cls, output_path: Any, collectors: Any, schedule: Any, max_bytes: Any, max_seconds: Any, keep: Any, max_overhead: Any, *ranks: Any
    ) -> Plan:
        """Check the arguments.

        Raises:
            TypeError, ValueError: the message names the argument, what came and what is allowed.
        """
        if not isinstance(output_path, (str, os.PathLike)) or not os.fspath(output_path):
            raise TypeError(f"output_path: a path is needed, got {output_path!r}")
        refuse_url("output_path", output_path)
        if schedule is not None and not isinstance(schedule, Schedule):
            raise TypeError(f"schedule: summarykit.schedule(...) or None is needed, got {schedule!r}")
        if keep not in KEEP:
            raise ValueError(f"keep: one of {', '.join(map(repr, KEEP))} is needed, got {keep!r}")
        max_bytes = check_integer("max_bytes", max_bytes, LEAST_BYTES)
        if max_seconds is not None and (isinstance(max_seconds, bool) or not isinstance(max_seconds, Real) or not float(max_seconds) > 0):
            raise ValueError(f"max_seconds: a number above 0 or None is needed, got {max_seconds!r}")
        if isinstance(max_overhead, bool) or not isinstance(max_overhead, Real) or not 0 < float(max_overhead) <= 1:
            raise ValueError(f"max_overhead: a share of the time, above 0 and up to 1, is needed, got {max_overhead!r}")
        rank, world_size = _ranks(*ranks)
        seconds = None if max_seconds is None else float(max_seconds)
        place = Path(os.path.abspath(os.path.expanduser(output_path)))    # the program may go elsewhere before the first window
        return cls(place, _collectors(collectors), schedule, max_bytes, seconds, keep, float(max_overhead), rank, world_size)

    def classes(self) -> list[type[Collector]]:
        """The collectors that a window has now: what ``"auto"`` takes depends on what the program has loaded."""
        every = [COLLECTORS.get(name) for name in names() if self.collectors == "auto" or name in self.collectors]
        return [one for one in every if self.collectors != "auto" or one.useful()]

    def place(self) -> tuple[int, int]:
        """Rank and number of processes: as given, else of ``torch.distributed``, else of the launcher's environment, else 0 and 1."""
        rank, size = _distributed() or (_environment("RANK", 0), _environment("WORLD_SIZE", 1))
        rank = rank if self.rank is None else self.rank
        return rank, max(size if self.world_size is None else self.world_size, 1)


@functools.cache
def names() -> tuple[str, ...]:
    """All collectors, those of third parties too: to look for these takes as long as all the rest of opening a window."""
    return tuple(COLLECTORS)


def _collectors(given: Any) -> str | tuple[str, ...]:
    if given == "auto":
        return "auto"
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise TypeError(f'collectors: "auto" or a list of names is needed, got {given!r}')
    chosen = tuple(given)
    unknown = [name for name in chosen if not isinstance(name, str) or name not in COLLECTORS]
    if unknown:
        raise ValueError(f"collectors: {unknown[0]!r} is not known; allowed: {', '.join(COLLECTORS)}")
    return chosen


def _ranks(rank: Any, world_size: Any) -> tuple[int | None, int | None]:
    if rank is not None:
        rank = check_integer("rank", rank, 0)
    if world_size is not None:
        world_size = check_integer("world_size", world_size, 1)
        if (rank or 0) >= world_size:
            raise ValueError(f"rank: a number below world_size={world_size} is needed, got {rank!r}")
    return rank, world_size


def _distributed() -> tuple[int, int] | None:
    distributed: Any = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return None
    return distributed.get_rank(), distributed.get_world_size()


def _environment(name: str, default: int) -> int:
    text = os.environ.get(name, "")
    return int(text) if text.isdecimal() else default
