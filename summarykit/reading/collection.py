"""Many runs below one directory."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from summarykit.local import path_text, refuse_url
from summarykit.reading.files import run_directories
from summarykit.reading.lineage_table import LineageTable, table_of
from summarykit.reading.run import Run
from summarykit.reading.tables import Table, Tabular, by_run


def runs(base_dir: str | os.PathLike[str], *, raw: bool = False) -> Runs:
    """Every directory at or below ``base_dir`` that holds summary files, as runs by name.

    Ranks other than 0 write into ``rank_<k>/`` below their run: these are runs of their own.

    Raises:
        FileNotFoundError: there is no such directory.
        RemotePathError: it is a URL.
    """
    return Runs(base_dir, raw=raw)


class Runs(Tabular, Mapping[str, Run]):
    """Runs by name: the path relative to the base directory, ``"."`` for that itself.

    Attributes:
        base_dir: the directory.
    """

    def __init__(self, base_dir: str | os.PathLike[str], *, raw: bool = False) -> None:
        self.base_dir = Path(path_text("base_dir", base_dir))
        if not self.base_dir.is_dir():
            refuse_url("base_dir", base_dir)
            what = "is a file, which Run() reads" if self.base_dir.is_file() else "no such directory"
            raise FileNotFoundError(f"base_dir {os.fspath(base_dir)!r}: {what}")
        found = run_directories(self.base_dir)
        self._runs = {path.relative_to(self.base_dir).as_posix(): Run(path, raw=raw) for path in found}

    def __getitem__(self, name: str) -> Run:
        try:
            return self._runs[name]
        except KeyError:
            raise KeyError(f"no run {name!r} below {self.base_dir}; there are {', '.join(map(repr, self._runs)) or 'none'}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._runs)

    def __len__(self) -> int:
        return len(self._runs)

    def __repr__(self) -> str:
        return f"<Runs {str(self.base_dir)!r}: {', '.join(self._runs)}>"

    def tags(self) -> dict[str, list[str]]:
        """The sorted tags of each kind, of all runs together."""
        found: dict[str, set[str]] = {}
        for run in self._runs.values():
            for kind, tags in run.tags().items():
                found.setdefault(kind, set()).update(tags)
        return {kind: sorted(tags) for kind, tags in found.items()}

    def scalars(self, tag: str) -> Table:
        """Scalars of one tag in long form: columns ``run``, ``step``, ``wall_time``, ``value``; runs without it are left out.

        Raises:
            KeyError: no run has it.
        """
        having = {name: run for name, run in self._runs.items() if tag in run.tags().get("scalar", ())}
        if not having:
            there = ", ".join(map(repr, self.tags().get("scalar", []))) or "none"
            raise KeyError(f"no run below {self.base_dir} has a scalar with tag {tag!r}; there are {there}")
        table = by_run({name: run.scalars(tag).table() for name, run in having.items()})
        return Table({name: table.columns[name] for name in ("run", "step", "wall_time", "value")}, table.is_scalar)

    def lineage(self) -> LineageTable:
        """Status, hyper-parameters, metrics and code version of all runs: a row for each; ``to_pandas()`` gives a data frame."""
        return table_of({name: run.lineage() for name, run in self._runs.items()})

    def table(self) -> Table:
        """All points of all runs in columns: run, kind, tag, step, wall_time, value (float64; NaN for what is no scalar)."""
        return by_run({name: run.table() for name, run in self._runs.items()})
