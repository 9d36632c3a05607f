"""How each step splits: MindInsight's ``training-trace/graph`` and ``training-trace/target-time-info``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from summarykit.profiler.queries.source import NotRecordedError, Source

TICKS_PER_MS = 100_000
POINTS = "_point"


class StepTrace:
    """The steps of one device.

    Attributes:
        columns: names of the file's columns.
        size: number of steps.
    """

    def __init__(self, source: Source, device: str) -> None:
        """Read the file of steps.

        Raises:
            NotRecordedError: there is none.
        """
        name = f"step_trace_raw_{device}_detail_time.csv"
        self.columns, _ = source.csv(name)
        self._rows = source.rows(name, self._row_of)
        self.size = max(len(self._rows) - 1, 0)
        self._source, self._device = source, device

    def _row_of(self, cells: list[str]) -> dict[str, int]:
        return {name: int(float(value)) for name, value in zip(self.columns[1:], cells[1:], strict=True)}

    def ask(self, wanted: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Answer a question.

        Args:
            wanted: ``mode``: ``"step"`` (the default) for the picture of one step, ``"proc"`` for one column of all steps or of one;
                ``step_id``: from 1 on, 0 for the average of all but the first (in mode ``"step"`` also where it is not said);
                ``proc_name``: the column; ``time_type``: ``"realtime"`` (ms) or ``"systime"`` (ticks).

        Returns:
            ``{size, training_trace_graph}`` or ``{size, info: {proc_name: […]}}``.

        Raises:
            ValueError: one of these is none.
        """
        wanted = wanted or {}
        mode, step, real = wanted.get("mode", "step"), wanted.get("step_id"), wanted.get("time_type", "realtime")
        self._check(mode, step, real)
        if mode == "step":
            return {"size": self.size, "training_trace_graph": self.graph(0 if step is None else step, real)}
        name = wanted.get("proc_name")
        if name not in self.columns[1:]:
            raise ValueError(f"proc_name must be one of {self.columns[1:]}, not {name!r}")
        rows = self._rows[:-1] if step is None else [self._row(step)]
        return {"size": self.size, "info": {name: [_time(row[name], real) for row in rows]}}

    def _check(self, mode: Any, step: Any, real: Any) -> None:
        if mode not in ("step", "proc"):
            raise ValueError(f'mode must be "step" or "proc", not {mode!r}')
        if real not in ("realtime", "systime"):
            raise ValueError(f'time_type must be "realtime" or "systime", not {real!r}')
        if step is not None and not (isinstance(step, int) and 0 <= step <= self.size):
            raise ValueError(f"step_id must be from 0 to {self.size}, not {step!r}")

    def _row(self, step: int) -> dict[str, int]:
        if not self._rows:
            raise NotRecordedError(f"step_trace_raw_{self._device}_detail_time.csv has no steps")
        return self._rows[step - 1]

    def graph(self, step: int, time_type: str = "realtime") -> list[list[dict[str, Any]]]:
        """Lines of bars: the whole, its parts, then a line for each stream of communication with the gaps between.

        Raises:
            NotRecordedError: there is no step at all.
        """
        row = {name: _time(value, time_type) for name, value in self._row(step).items()}
        start = row.get("start_point", 0)
        parts = [_bar("iteration_interval", 0, row.get("iteration_interval", 0))]
        if "fp" in row:
            parts.append(_bar("fp", row.get("fp_point", 0) - start, row["fp"]))
        else:
            parts.append(_bar("fp_and_bp", row.get("fp_point", 0) - start, row.get("fp_and_bp", 0)))
            parts.append(_bar("tail", row.get("bp_point", 0) - start, row.get("tail", 0)))
        return [[_bar("", 0, row.get("total", 0))], parts, *self._communication(row)]

    def _communication(self, row: Mapping[str, float]) -> list[list[dict[str, Any]]]:
        streams: dict[str, list[tuple[float, float, float, str]]] = {}
        for name in self._streams():
            begin, end, duration = row[f"{name}_start_point"], row[f"{name}_end_point"], row[name]
            if begin and end and duration:
                streams.setdefault(name.split("_", 2)[1], []).append((begin, end, duration, name))
        return [_line(sorted(each, key=lambda run: run[1]), row) for each in streams.values()]

    def _streams(self) -> list[str]:
        """The columns of communication that have their two points."""
        places = [name for name in self.columns if name.startswith("stream_") and not name.endswith(POINTS)]
        return [name for name in places if {f"{name}_start_point", f"{name}_end_point"} <= set(self.columns)]

    def summary(self) -> dict[str, Any]:
        """The average step: total_time and its parts in ms, the parts in percent, and the number of steps."""
        row = {name: _time(value, "realtime") for name, value in self._rows[-1].items()} if self._rows else {}
        parts = [name for name in ("iteration_interval", "fp_and_bp", "tail", "fp") if name in row]
        total = row.get("total", 0)
        percents = {f"{name}_percent": f"{round(row[name] / total * 100, 2) if total else 0}%" for name in parts}
        return {"total_time": total, **{name: row[name] for name in parts}, **percents, "total_steps": self.size}

    def points(self, step: int = 0) -> Any:
        """The operators that begin the forward pass and end the backward pass.

        Raises:
            NotRecordedError: their file is damaged.
        """
        names = [f"step_trace_point_info_{self._device}.json", "step_trace_point_info.json"]
        told: Any = next((self._source.json(name) for name in names if name in self._source), {})
        return told[step - 1] if isinstance(told, list) and -len(told) < step <= len(told) and told else told

    def communication(self) -> list[list[Any]]:
        """All communication of all steps: name, stream, start and duration in ms, 10000 (its process in the timeline)."""
        runs = []
        for row in self._rows[:-1]:
            for name in self._streams():
                if row[f"{name}_start_point"] and row[name]:
                    times = row[f"{name}_start_point"] / TICKS_PER_MS, row[name] / TICKS_PER_MS
                    runs.append([name, int(name.split("_", 2)[1]), *times, 10_000])
        return runs


def _time(ticks: int, time_type: str) -> float:
    return round(ticks / TICKS_PER_MS, 4) if time_type == "realtime" else ticks


def _bar(name: str, start: float, duration: float) -> dict[str, Any]:
    """A bar of the picture; none where it would begin before the step or run backwards."""
    return {"name": name, "start": round(start, 4), "duration": round(duration, 4)} if start >= 0 and duration >= 0 else {}


def _line(runs: list[tuple[float, float, float, str]], row: Mapping[str, float]) -> list[dict[str, Any]]:
    start, place = row.get("start_point", 0), row.get("fp_point", 0)
    line = []
    for begin, end, duration, name in runs:
        line += [_bar("", place - start, begin - place), _bar(name, begin - start, duration)]
        place = end
    return [*line, _bar("", place - start, row.get("end_point", 0) - place)]
