"""One object for all questions."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from summarykit.profiler.queries import processors, queues
from summarykit.profiler.queries.answer import Answer, Condition
from summarykit.profiler.queries.cluster import Cluster
from summarykit.profiler.queries.dynamic_shapes import KINDS as SHAPES
from summarykit.profiler.queries.dynamic_shapes import dynamic_shapes
from summarykit.profiler.queries.operators import KINDS, OLD_KINDS, UPSTREAM_KINDS, by_type, operators
from summarykit.profiler.queries.pipeline import Pipeline
from summarykit.profiler.queries.source import NotRecordedError, Source
from summarykit.profiler.queries.step_trace import StepTrace
from summarykit.profiler.recording import Recording

_DEVICE = re.compile(
    r"(?:profiler_info_|step_trace_raw_|(?:aicore|aicpu)_intermediate_|[cg]pu_op_(?:type|detail)_info_|pipeline_profiling_"
    r"|minddata_pipeline_raw_)(\d+)"
)
_GENERATIONS = {"2": KINDS, "2-upstream": UPSTREAM_KINDS, "0.5": OLD_KINDS}


class Queries:
    """What MindInsight's profiler pages ask, of one device; and of all ranks together, see ``cluster``.

    Attributes:
        source: the files.
        device: the number in their names.
    """

    def __init__(
        self, origin: str | os.PathLike[str] | Recording | Iterable[Recording], device: int | str | None = None, *, generation: str = "2"
    ) -> None:
        """Look at what is there.

        Args:
            origin: a folder with files of MindInsight, a recording, or those of several ranks.
            device: the number in the files' names; the first there is where not said.
            generation: whose lists of operators: ``"2"`` (MindInsight 2, in µs), ``"0.5"`` (in ms), or ``"2-upstream"``, which multiplies
                percents of old files by 100 as MindInsight 2.3.1 does.

        Raises:
            OSError: the folder cannot be read.
            ValueError: there is no such generation.
        """
        if generation not in _GENERATIONS:
            raise ValueError(f"generation must be one of {sorted(_GENERATIONS)}, not {generation!r}")
        self._kinds = {**KINDS, **_GENERATIONS[generation]}
        self.source = Source(origin)
        self.device = str(device) if device is not None else next(iter(self.devices()), "0")

    def devices(self) -> list[str]:
        """The devices that have files."""
        return sorted({match[1] for match in map(_DEVICE.match, self.source.names) if match}, key=int)

    def operators(self, kind: str, condition: Condition | None = None) -> Answer:
        """Which operators took the time.

        Args:
            kind: ``"aicore_type"``, ``"aicore_detail"``, ``"aicpu_type"``, ``"aicpu_detail"``, ``"pynative_type"``, ``"pynative_detail"``,
                ``"gpu_op_type"``, ``"gpu_op_info"``, ``"gpu_cuda_activity"``, ``"cpu_op_type"`` or ``"cpu_op_info"``.
            condition: what to show, in which order, which page: see ``answer.ask``.

        Raises:
            ValueError: there is no such kind, or the condition is none.
        """
        return operators(self.source, self._kind(kind), self.device, condition)

    def operators_by_type(self, kind: str, types: Sequence[str], wanted: Condition | None = None) -> Answer:
        """Operators of these types, type after type, within each those that take longest first.

        Args:
            kind: a list of details, see ``operators``.
            types: in order.
            wanted: a ``filter_condition``.

        Raises:
            ValueError: there is no such kind.
        """
        return by_type(self.source, self._kind(kind), self.device, wanted, types)

    def _kind(self, kind: str) -> Any:
        if kind not in self._kinds:
            raise ValueError(f"kind must be one of {sorted(self._kinds)}, not {kind!r}")
        return self._kinds[kind]

    @cached_property
    def steps(self) -> StepTrace:
        """The steps.

        Raises:
            NotRecordedError: there are none.
        """
        return StepTrace(self.source, self.device)

    def step_trace(self, wanted: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """How steps split, see ``StepTrace.ask``."""
        return self.steps.ask(wanted)

    @cached_property
    def pipeline(self) -> Pipeline:
        """The stages of the dataset's pipeline."""
        return Pipeline(self.source, self.device)

    def minddata_pipeline(self, condition: Condition | None = None) -> Answer:
        """How full the queues between stages are, see ``Pipeline.ask``."""
        return self.pipeline.ask(condition)

    def device_queue(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The queue to the device, see ``queues.device_queue``."""
        return queues.device_queue(self.source, self.device)

    def get_next(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """What the network found in it, see ``queues.get_next``."""
        return queues.get_next(self.source, self.device)

    def process_summary(self) -> dict[str, Any]:
        """Which part of the input is too slow, see ``queues.process_summary``."""
        return queues.process_summary(self.source, self.device)

    def cpu_utilization(self, wanted: Mapping[str, int] | None = None) -> dict[str, Any]:
        """Use of the processors, see ``processors.processors``."""
        return processors.processors(self.source, self.device, wanted)

    def idle(self) -> float:
        """Percent of the machine that was idle, see ``processors.idle``."""
        return processors.idle(self.source, self.device)

    @cached_property
    def cluster(self) -> Cluster:
        """All ranks together."""
        return Cluster(self.source)

    def timeline_summary(self) -> dict[str, Any]:
        """Numbers about the timeline: total_time (µs), num_of_streams, num_of_ops, op_exe_times, max_scope_name_num."""
        found = [f"{kind}timeline_summary_{self.device}.json" for kind in ("ascend_", "gpu_", "cpu_", "")]
        told: dict[str, Any] = next((self.source.object(name) for name in found if name in self.source), {})
        return {**told, "max_scope_name_num": told.get("max_scope_name_num", 0)}

    def timeline(self) -> list[dict[str, Any]]:
        """Events of the timeline; none where there is none. Old files have a comma too much at their end."""
        for name in (f"{kind}timeline_display_{self.device}.json" for kind in ("ascend_", "gpu_", "cpu_", "")):
            if name in self.source:
                return self.source.events(name)
        return []

    def flops_summary(self) -> dict[str, Any]:
        """Floating-point operations of the device; empty where it does not know them."""
        return self._told("flops_summary_{}.json")

    def flops_scope(self) -> dict[str, Any]:
        """The same by scope, as nodes and links; empty where it is not known."""
        return self._told("flops_scope_{}.json")

    def dynamic_shapes(self, kind: str | None = None, condition: Condition | None = None) -> dict[str, Any]:
        """Operators of each step where shapes change; empty where they do not.

        Args:
            kind: ``"gpu_op_type_info"`` or ``"gpu_cuda_type_info"``; all that is told where not said.
            condition: see ``dynamic_shapes.dynamic_shapes``.

        Raises:
            ValueError: there is no such kind, or the condition is none.
        """
        if kind is None:
            return self._told("dynamic_shape_info_{}.json")
        if kind not in SHAPES:
            raise ValueError(f"kind must be one of {sorted(SHAPES)}, not {kind!r}")
        return dynamic_shapes(self.source, self.device, SHAPES[kind], condition)

    def _told(self, name: str) -> dict[str, Any]:
        name = name.format(self.device)
        return self.source.object(name) if name in self.source else {}

    def memory_summary(self) -> dict[str, Any]:
        """Memory of the device: capacity and peak_mem (GiB) and so on.

        Raises:
            NotRecordedError: it is not known.
        """
        return self.source.object(f"memory_usage_summary_{self.device}.json")

    def memory_graphics(self) -> dict[str, Any]:
        """Memory while each node of each graph runs: graph -> nodes and lines.

        Raises:
            NotRecordedError: it is not known.
        """
        graphs = self._graphs()
        return {number: {name: value for name, value in graph.items() if name != "breakdowns"} for number, graph in graphs.items()}

    def _graphs(self) -> dict[str, dict[str, Any]]:
        graphs = self.source.object(f"memory_usage_details_{self.device}.json")
        return {number: graph for number, graph in graphs.items() if isinstance(graph, dict)}

    def memory_breakdowns(self, graph: int, node: int) -> list[Any]:
        """The tensors that are in memory while a node runs.

        Raises:
            NotRecordedError: it is not known.
        """
        for told in self._graphs().values():
            if str(told.get("graph_id")) == str(graph) and 0 <= node < len(told.get("breakdowns") or ()):
                return list(told["breakdowns"][node])
        raise NotRecordedError(f"no graph {graph} with a node {node}")
