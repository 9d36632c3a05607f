"""Several ranks beside each other: MindInsight's ``cluster-step-trace-summary``, ``cluster-flops``, ``search-cluster-link`` and so on."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from summarykit.profiler.parsers.rows import number
from summarykit.profiler.queries.answer import Answer, Condition, Row, ordered, paged
from summarykit.profiler.queries.source import NotRecordedError, Source

LINK_COLUMNS = ("src_dst", "link_type", "communication_cost", "communication_size", "band_width")
_STEPS = re.compile(r"step_trace_raw_(\d+)_detail_time\.csv$")
_MODE = re.compile(r"(?P<device>ascend|gpu)_cluster_analyse_(?P<mode>[a-z]+-parallel)_(?P<stages>\d+)_(?P<ranks>\d+)_\d+\.csv$")
_AVERAGE = "-"


class Cluster:
    """The ranks whose files lie in one folder.

    Attributes:
        ranks: their numbers.
        mode: ``"data-parallel"``, ``"model-parallel"`` or ``"pipeline-parallel"``.
        stages: number of stages of the pipeline.
        size: number of ranks that ran, of which some may lack here.
    """

    def __init__(self, source: Source) -> None:
        """Look at the names of the files."""
        self._source = source
        self.ranks = sorted(int(match[1]) for match in map(_STEPS.match, source.names) if match)
        modes = [match for match in map(_MODE.match, source.names) if match]
        self._device, self.mode, self.stages, self.size = "gpu", "data-parallel", 1, 1
        if modes:
            last = modes[-1]
            self._device, self.mode, self.stages, self.size = last["device"], last["mode"], int(last["stages"]), int(last["ranks"])

    def step_trace(self, wanted: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """How a step splits on each rank.

        Args:
            wanted: ``step_id``: from 1 on, 0 (also where not said) for the average; ``stage_id``: from 1 on, 0 for all.

        Returns:
            ``{total_step_num, stage_num, info: [{step_trace_info or step_bottleneck_info, rank_id, profiler_dir}], size, parallel-mode}``.
            The info, in ms: data parallel interval, fp_and_bp, tail, total; else interval, computation, communication alone and, of a
            pipeline, stage, receiving alone, collective communication alone.

        Raises:
            NotRecordedError: a rank lacks a file.
        """
        step, stage = (int((wanted or {}).get(name, 0)) for name in ("step_id", "stage_id"))
        if self.mode == "data-parallel":
            infos = [{"step_trace_info": self._steps(rank, step), "rank_id": rank, "profiler_dir": "profiler"} for rank in self.ranks]
        else:
            chosen = [rank for rank in self.ranks if stage in (0, self.stage_of(rank))]
            infos = [{"step_bottleneck_info": self.bottleneck(rank, step), "rank_id": rank, "profiler_dir": "profiler"} for rank in chosen]
        return {
            "total_step_num": self._total(), "stage_num": self.stages, "info": infos, "size": len(infos), "parallel-mode": self.mode,
        }

    def _total(self) -> str | int:
        rows = self._source.csv(f"step_trace_raw_{self.ranks[0]}_detail_time.csv")[1] if self.ranks else []
        return rows[-2][0] if len(rows) > 1 else 0

    def stage_of(self, rank: int) -> int:
        """The stage of the pipeline that a rank works for, from 1 on."""
        return rank // max(self.size // self.stages, 1) + 1

    def _steps(self, rank: int, step: int) -> list[float]:
        name = f"step_trace_raw_{rank}_detail_time.csv"
        columns, rows = self._source.csv(name)
        row = dict(zip(columns, _at(rows, step, name), strict=False))
        return [_number(row.get(part), name, 1e5) for part in ("iteration_interval", "fp_and_bp", "tail", "total")]

    def bottleneck(self, rank: int, step: int = 0) -> list[float]:
        """The interval of a rank, then what its file of the analysis says, in ms.

        Raises:
            NotRecordedError: there is no such file.
        """
        name = f"{self._device}_cluster_analyse_{self.mode}_{self.stages}_{self.size}_{rank}.csv"
        row = _at(self._source.csv(name)[1], step, name)
        return [self._steps(rank, step)[0], *(_number(cell, name) for cell in row)]

    def flops(self) -> list[dict[str, Any]]:
        """Floating-point operations of each rank that knows them, with ``FLOPs_norm``: relative to the rank that has most."""
        found: list[dict[str, Any]] = []
        for rank in self.ranks:
            name = f"flops_summary_{rank}.json"
            if name in self._source:
                told = {key: value for key, value in self._source.object(name).items() if number(value)}
                found.append({"rank_id": rank, **told, "FLOPs": told.get("FLOPs") or told.get("cube_FLOPs", 0) + told.get("vec_FLOPs", 0)})
        most = max((each["FLOPs"] for each in found), default=0)
        return [{**each, "FLOPs_norm": each["FLOPs"] / most if most else 0.0} for each in found]

    def flops_per_second(self) -> list[dict[str, Any]]:
        """``{rank_id, FLOPS}`` of each rank, in 10^9 a second."""
        return [
            {"rank_id": each["rank_id"], "FLOPS": each.get("FLOPS") or each.get("cube_FLOPS", 0) + each.get("vec_FLOPS", 0)}
            for each in self.flops()
        ]

    def peak_memory(self) -> list[dict[str, Any]]:
        """``{rank_id, capacity, peak_mem}`` of each rank, in GiB.

        Raises:
            NotRecordedError: a rank does not know it.
        """
        told = {rank: self._source.object(f"memory_usage_summary_{rank}.json") for rank in self.ranks}
        return [{"rank_id": rank, "capacity": each.get("capacity"), "peak_mem": each.get("peak_mem")} for rank, each in told.items()]

    def communication(self, wanted: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """What communication cost on each rank.

        Args:
            wanted: ``step_id``: from 1 on, 0 (also where not said) for the average.

        Returns:
            ``{total_step_num, communication: [{communication_info: [ms, ms of waiting, links, operators], rank_id}], size}``.

        Raises:
            NotRecordedError: a rank does not know it.
        """
        rows = {rank: self._communication(rank, (wanted or {}).get("step_id", 0)) for rank in self.ranks}
        infos = [{"communication_info": row, "rank_id": rank} for rank, row in rows.items()]
        total = max((len(self._source.csv(f"hccl_raw_{rank}.csv")[1]) - 1 for rank in self.ranks), default=0)
        return {"total_step_num": total, "communication": infos, "size": len(infos)}

    def _communication(self, rank: int, step: int) -> list[Any]:
        wanted = str(step) if int(step) else _AVERAGE
        name = f"hccl_raw_{rank}.csv"
        rows = self._source.rows(name, lambda row: _communicated(row) if row[0] == wanted else [])
        found = next((row for row in rows if row), None)
        if found is None:
            raise NotRecordedError(f"no {name} in the profile, or no step {step} in it")
        return found

    def links(self, condition: Condition | None = None) -> Answer:
        """What went over each link.

        Args:
            condition: see ``answer.ask``; its filter: ``step_id``, and ``src_rank``, ``dst_rank``, ``link_type`` as regular expressions.

        Raises:
            NotRecordedError: a rank does not know it.
            ValueError: the condition is none.
        """
        condition = condition or {}
        wanted = condition.get("filter_condition") or {}
        rows = [row for rank in self.ranks for row in _links(self._communication(rank, wanted.get("step_id", 0))[2])]
        try:
            ends = re.compile(f"^{wanted.get('src_rank', '.*')}-{wanted.get('dst_rank', '.*')}$")
            kind = re.compile(wanted.get("link_type", "."))
        except re.error as error:
            raise ValueError(f"filter_condition: src_rank, dst_rank and link_type must be regular expressions: {error}") from error
        rows = [row for row in rows if ends.match(row[0]) and kind.match(row[1])]
        shown = paged(ordered(LINK_COLUMNS, rows, condition.get("sort_condition") or {}), condition.get("group_condition") or {})
        return Answer(list(LINK_COLUMNS), shown, len(rows))

    def step_intervals(self) -> list[dict[str, Any]]:
        """``{rank_id, step_interval}`` of each rank, in ms.

        Raises:
            NotRecordedError: a rank lacks a file.
        """
        return [{"rank_id": rank, "step_interval": self._steps(rank, 0)[0]} for rank in self.ranks]

    def communication_rate(self) -> float:
        """Communication alone, as part of it and computation.

        Raises:
            NotRecordedError: a rank lacks a file.
        """
        return self._rate([self.bottleneck(rank) for rank in self.ranks], 2)

    def receive_rate(self) -> float:
        """Receiving from other stages, as part of communication and computation; 0 without a pipeline.

        Raises:
            NotRecordedError: a rank lacks a file.
        """
        return self._rate([self.bottleneck(rank) for rank in self.ranks], 4) if self.mode == "pipeline-parallel" else 0.0

    def _rate(self, infos: list[list[float]], place: int) -> float:
        whole = sum(info[1] + info[2] for info in infos)
        return round(sum(info[place] for info in infos) / whole, 4) if whole else 0.0

    def stage_rates(self) -> list[dict[str, Any]]:
        """``{stage_id, rate}``: communication within each stage, as part of communication and computation; none without a pipeline.

        Raises:
            NotRecordedError: a rank lacks a file.
        """
        if self.mode != "pipeline-parallel":
            return []
        sums: dict[int, list[float]] = {}
        for rank in self.ranks:
            info, told = self.bottleneck(rank), sums.setdefault(self.stage_of(rank), [0.0, 0.0])
            told[0] += info[5]
            told[1] += info[1] + info[2]
        return [{"stage_id": stage, "rate": part / whole if whole else 0.0} for stage, (part, whole) in sums.items()]


def _at(rows: list[list[str]], step: int, name: str) -> list[str]:
    """The row of a step; the last one, which is the average, for 0."""
    if not 0 <= step <= len(rows) or not rows:
        raise NotRecordedError(f"{name} has no step {step}")
    return rows[step - 1]


def _number(cell: str | None, name: str, unit: float | None = None) -> float:
    try:
        value = float(cell or "")
    except ValueError as error:
        raise NotRecordedError(f"{name}: {cell!r} is no number") from error
    return round(value / unit, 4) if unit else value


def _communicated(row: list[str]) -> list[Any]:
    links, *operators = map(json.loads, row[3:5])
    if not isinstance(links, dict) or not all(isinstance(kinds, dict) for kinds in links.values()):
        raise ValueError(f"no links: {row[3]!r}")
    return [float(row[1]), float(row[2]), links, *operators]


def _links(info: Mapping[str, Mapping[str, list[float]]]) -> list[Row]:
    return [[key, kind, *values[:3]] for key, kinds in info.items() for kind, values in kinds.items()]
