"""One run of a collector: what is due, when, and that no step comes twice."""

from __future__ import annotations

import time
import weakref
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from typing import Any

from summarykit.collectors.part import Part
from summarykit.collectors.part_list import PartList
from summarykit.collectors.record_sink import RecordSink
from summarykit.collectors.reported import flatten, values_of
from summarykit.collectors.schedule import Schedule
from summarykit.collectors.tensor import total_steps
from summarykit.notices import Notices
from summarykit.summary.record import SummaryRecord
from summarykit.training.context import CallbackParams
from summarykit.training.outcome import Outcome
from summarykit.training.triggers import Place


class Collection:
    """Asks the parts that are due at a step, and hands what they give to the record.

    Every part decides by its own trigger. The decision falls before the step, so that a part can prepare; it stands when the
    step has ended. The last step of a run is collected whatever the triggers say, at the latest when the run ends.
    """

    def __init__(self, record: SummaryRecord, parts: Iterable[Part], notices: Notices, strict: bool, step: int = 0) -> None:
        """Begin to collect.

        Args:
            record: where to.
            parts: what.
            notices: for what is told once.
            strict: let exceptions of parts and of the record through.
            step: where training stands, if it does not begin here.
        """
        self.record = record
        weakref.finalize(self, bool, record).atexit = False    # holds the record: a run that is garbage closes, and it not before that
        self.step = step
        """The last step that was seen."""
        self.closed = False
        self._parts = PartList(parts, notices, strict)
        self._sink = RecordSink(record, notices, strict)
        self._notices = notices
        self._begun = time.monotonic()
        self._schedule = Schedule(self._parts)
        self.wakes_at = 0
        """At earlier steps nothing is due, and most steps are such."""
        self._asked = -1
        self._decided: list[Part] = []
        self._previous: Place | None = None
        self._collected: dict[Part, int] = {}
        self._total: int | None = None
        self._params: CallbackParams | None = None
        self._reported: Any = None
        self._outputs: Any = None
        self._ended = False

    @property
    def begun(self) -> bool:
        """True between a training's beginning and the end of all."""
        return self._params is not None

    def begin(self, params: CallbackParams) -> None:
        """Training begins."""
        self._params = params
        self.step = params.get("cur_step_num") or 0
        self._total = _last_step(params)
        self._parts.ask("begin", params, self._sink)
        self._schedule, self.wakes_at = Schedule(self._parts), 0
        self.record.record(self.step)

    def step_begin(self, params: CallbackParams) -> None:
        """A step begins."""
        if params["cur_step_num"] >= self.wakes_at and (due := self._due(params)):
            self._parts.ask("prepare", params, of=due)

    def step_end(self, params: CallbackParams) -> None:
        """A step has ended; a step that was seen before is left alone."""
        step = params["cur_step_num"]
        if step <= self.step:
            return
        if step > max(self.step + 1, self.wakes_at):    # of those before that the callbacks need not be told
            self._notice_jump(step)
        self.step, self._params = step, params
        self._reported, self._outputs = params.get("reported"), params.get("net_outputs")
        if step >= self.wakes_at:
            self._step_asked_about(params)

    def epoch_end(self, params: CallbackParams) -> None:
        """An epoch has ended; its last step was seen."""
        self._parts.ask("epoch_end", params)

    def reported_outside(self, values: Mapping[str, Any], prefix: str, step: int, of: Iterable[Part] | None = None) -> None:
        """Values came from outside a step, for all parts or ``of`` some: of an epoch, or of an evaluation."""
        if values:
            self._record_open_step()
            self._parts.ask("collect_report", values, prefix, self._sink, of=of)
            self.record.record(step)

    def evaluation_begin(self, params: CallbackParams) -> None:
        """An evaluation begins."""
        self._parts.ask("evaluation_begin", params)

    def evaluation_end(self, params: CallbackParams) -> None:
        """An evaluation has ended; it belongs to the training step that it says, or to the last one that was seen."""
        step = params.get("train_step_num") or self.step
        self._record_open_step()
        self.reported_outside(params.get("metrics", {}), "eval/", step)
        self._parts.ask("evaluation_end", params, self._sink)
        self.record.record(step)

    def train_end(self) -> None:
        """Training has ended: collect the last step, from what it still holds; of one that an exception ended, what it reported."""
        params = self._params
        if params is None or self._ended:
            return
        self._ended = True
        step = params["cur_step_num"]
        if step > self.step:
            late = [part for part in self._parts if self._collected.get(part) != self.step]
            self.reported_outside(self._last_report(), "", self.step, of=late)
        if rest := [part for part in self._rest(params) if self._collected.get(part) != step]:
            self._collect(rest, params)
        self.reported_outside(params.get("epoch_reported", {}), "", step)

    def close(self, error: BaseException | None = None) -> None:
        """All is over, by this exception or by none: collect what is left, let the parts end, close the record."""
        if self.closed:
            return
        self.closed = True
        with ExitStack() as stack:
            stack.callback(self._let_go)
            stack.callback(self.record.close)
            stack.callback(self._parts.end)
            if self._params is not None:
                self._close_training(self._params, error)

    def _close_training(self, params: CallbackParams, error: BaseException | None) -> None:
        outcome = Outcome.of(params, error, ended=self._ended)
        try:
            self.train_end()
        finally:    # where exceptions are let through, how it ended is told nevertheless
            self._parts.ask("ended", params, outcome, self._sink)
            self.record.record(params["cur_step_num"])

    def _let_go(self) -> None:
        """What is kept for ``stats()`` must not keep the network alive."""
        self._params = self._reported = self._outputs = None
        self._schedule, self._decided, self._collected = Schedule([]), [], {}

    def _rest(self, params: CallbackParams) -> Iterable[Part]:
        """The parts that have a say at the end of the run."""
        if params["cur_step_num"] > self.step:
            # An exception ended this step. Where nothing can be reported, what is there is of the step before.
            return [part for part in self._parts if not part.whole_step and "reported" in params]
        return self._parts if self._previous else []

    def _due(self, params: CallbackParams) -> list[Part]:
        step = params["cur_step_num"]
        if step != self._asked:
            self._asked, self._decided = step, self._schedule.due(self._place(params), self._previous, step == self._total)
        return self._decided

    def _step_asked_about(self, params: CallbackParams) -> None:
        """Collect what is due, and sleep until the rules may fire again, or the last step comes."""
        due, step = self._due(params), self.step
        self._previous = self._place(params)
        self.wakes_at = self._schedule.wakes if self._total is None or self._total <= step else min(self._schedule.wakes, self._total)
        if due:
            self._collect(due, params)

    def _collect(self, parts: list[Part], params: CallbackParams) -> None:
        step = params["cur_step_num"]
        self._parts.ask("collect", params, self._sink, of=parts)
        self._collected.update(dict.fromkeys(parts, step))
        if not all(part.whole_step for part in parts):    # these took what was reported
            self._keep_for([part for part in self._parts if not part.whole_step and self._collected.get(part) != step])
        self.record.record(step)

    def _keep_for(self, waiting: list[Part]) -> None:
        """Let go of what no part would take any more, should this be the last whole step: its memory is needed no longer."""
        left = flatten(self._last_report()) if waiting else ()
        self._reported, self._outputs = {tag: value for tag, value in left if any(part.takes(value) for part in waiting)}, None

    def _last_report(self) -> Mapping[str, Any]:
        return values_of({"reported": self._reported, "net_outputs": self._outputs})

    def _record_open_step(self) -> None:
        """What hooks in the model and the optimizer gave of a step that is open has its number, not that of what is recorded meanwhile."""
        if self._asked > self.step:
            self.record.record(self._asked)

    def _place(self, params: CallbackParams) -> Place:
        return Place(params["cur_step_num"], params.get("cur_epoch_num", 1), time.monotonic() - self._begun)

    def _notice_jump(self, step: int) -> None:
        if self._previous:
            message = "the loop calls its callbacks once every %d steps (%d after %d): only such steps can be collected"
            self._notices.once("jump", message, step - self.step, step, self.step)


def _last_step(params: CallbackParams) -> int | None:
    if (last := params.get("last_step_num")) is not None:
        return int(last)
    total = total_steps(params)
    return None if total is None else int(params.get("initial_step") or 0) + total
