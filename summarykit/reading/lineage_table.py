"""The lineage of many runs as one table: a row a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from summarykit import lazy
from summarykit.kinds.flatten import flatten
from summarykit.reading.lineage import RunLineage
from summarykit.reading.lineage_importance import Importance, importance

if TYPE_CHECKING:
    import pandas

METRIC = "metric/"
CUSTOM = "custom/"

_OWN = ("run", "status", "started", "duration", "step", "network")
_OTHERS = ("loss", "parameters", "train_dataset_size", "valid_dataset_size", "commit", "dirty", "host", "error")


@dataclass(frozen=True)
class LineageTable:
    """A row for each run. What a run does not tell is None.

    Columns, in this order: ``run``, ``status``, ``started`` (seconds since the epoch), ``duration`` (seconds), ``step``, ``network``; the
    hyper-parameters; what users told, under their own names (nested ones joined by ``/``; where there is such a column already as
    ``custom/<name>``); ``loss``; the metrics of the last evaluation as ``metric/<name>``; ``parameters``, ``train_dataset_size``,
    ``valid_dataset_size``, ``commit``, ``dirty``, ``host``, ``error``. Columns that no run fills are left out, but for the first two.

    Attributes:
        rows: column -> value, for each run.
        hyper_parameters: columns that say how a run was set up.
        metrics: columns that say what came of it.
    """

    rows: tuple[Mapping[str, Any], ...]
    hyper_parameters: tuple[str, ...]
    metrics: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns, in order."""
        names = (*_OWN, *self.hyper_parameters, *self.metrics, *_OTHERS)
        filled = {name for row in self.rows for name, value in row.items() if value is not None}
        return tuple(dict.fromkeys(name for name in names if name in filled or name in _OWN[:2]))

    def __len__(self) -> int:
        return len(self.rows)

    def column(self, name: str) -> list[Any]:
        """A column's values.

        Raises:
            KeyError: there is none of that name.
        """
        if name not in self.columns:
            raise KeyError(f"no column {name!r}; there are {', '.join(self.columns)}")
        return [row.get(name) for row in self.rows]

    def importance(self, metric: str) -> Importance:
        """How much each hyper-parameter has to do with a metric; see `summarykit.reading.lineage_importance.importance`.

        Raises:
            KeyError: there is no such column.
            ValueError: fewer than three runs have the metric.
        """
        settings = {name: self.column(name) for name in self.hyper_parameters if name in self.columns}
        return importance(metric, self.column(metric), settings)

    def to_pandas(self) -> pandas.DataFrame:
        """A ``pandas.DataFrame``.

        Raises:
            MissingExtraError: pandas is not installed.
        """
        pandas = lazy.optional("pandas", extra="pandas", purpose="to_pandas()")
        return pandas.DataFrame({name: self.column(name) for name in self.columns})


def table_of(lineages: Mapping[str, RunLineage]) -> LineageTable:
    """Make the table of runs by name."""
    settings = {name: _settings(each) for name, each in lineages.items()}
    metrics = {name: _metrics(each) for name, each in lineages.items()}
    rows = tuple({**_own(name, each), **settings[name], **metrics[name]} for name, each in lineages.items())
    return LineageTable(rows, _names(settings.values()), ("loss", *_names(metrics.values())))


def _names(mappings: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for each in mappings for name in each))


def _metrics(lineage: RunLineage) -> dict[str, Any]:
    return {f"{METRIC}{name}": value for name, value in flatten(lineage.metrics).items() if name}


def _settings(lineage: RunLineage) -> dict[str, Any]:
    """Hyper-parameters, and what the user told; empty mappings say nothing."""
    taken = {*_OWN, *_OTHERS, *lineage.hyper_parameters}
    custom = {name: value for name, value in flatten(lineage.custom).items() if name and value != {}}
    return {**lineage.hyper_parameters, **{f"{CUSTOM}{name}" if name in taken else name: value for name, value in custom.items()}}


def _own(name: str, lineage: RunLineage) -> dict[str, Any]:
    told = {"run": name, "status": lineage.status, "started": lineage.started, "duration": lineage.duration, "step": lineage.step}
    made = {"network": lineage.network or None, "loss": lineage.loss, "parameters": lineage.model.get("parameters")}
    data = {"train_dataset_size": lineage.train_dataset.get("size"), "valid_dataset_size": lineage.valid_dataset.get("size")}
    code = {"commit": _short(lineage.code.get("commit")), "dirty": lineage.code.get("dirty"), "host": lineage.code.get("host")}
    return {**told, **made, **data, **code, "error": lineage.error or None}


def _short(commit: Any) -> str | None:
    return commit[:10] if isinstance(commit, str) else None
