"""Where a run comes from and what comes of it: hyper-parameters, data, code, status; and the results of evaluations."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from typing import Any

from summarykit.collectors import lineage_facts
from summarykit.collectors.code_version import Survey
from summarykit.collectors.part import Part, Sink
from summarykit.collectors.reported import flatten
from summarykit.kinds import secrets
from summarykit.training.context import CallbackParams, Status
from summarykit.training.outcome import Outcome
from summarykit.training.triggers import first

HYPER_CONFIG = "MINDINSIGHT_HYPER_CONFIG"
"""Environment variable in which MindInsight's optimizer hands over settings."""

PATIENCE = 0.3
"""Seconds that the end of a run waits for the code version, where that is not there yet."""

_SESSION = {Status.FINISHED: "success", Status.FAILED: "failure", Status.INTERRUPTED: "unknown"}
_GROWING = ("model_path", "model_size")
_NO_SETTINGS = ("loss", "loss_kind", "model_path", "model_size", "train_dataset_path")
_LONGEST_TRACE = 2**16


class TrainLineage(Part):
    """Training: told when it begins, again when the first batch has told more, and when it has ended, however it did.

    The same hyper-parameters are a session on TensorBoard's HPARAMS page.
    """

    key = "collect_train_lineage"

    def __init__(self, *args: Any) -> None:
        """See `Part`."""
        super().__init__(*args)
        self._code = Survey()
        self.trigger = first() | self._code
        self._started = time.time()
        self._told: dict[str, Any] = {}
        self._is_told = self._in_session = False
        self._commit: str | None = None
        self._loss: Any = None
        self._settings: dict[str, Any] = {}

    def begin(self, params: CallbackParams, sink: Sink) -> None:
        """See `Part.begin`."""
        self._code.start()
        self._settings = {**secrets.settings(params.get("hyper_parameters") or {}), **custom_data(self)}
        self._tell(params, sink)
        self._tell_status(sink, {"status": Status.RUNNING.value, "started": self._started, "step": params.get("cur_step_num")})
        self._tell_code(sink)

    def collect(self, params: CallbackParams, sink: Sink) -> None:
        """See `Part.collect`."""
        self._tell(params, sink)
        self._begin_session(sink)
        self._tell_code(sink)

    def collect_report(self, values: Mapping[str, Any], prefix: str, sink: Sink) -> None:
        """See `Part.collect_report`; some frameworks tell the loss of an epoch only."""
        if not prefix and "loss" in values:
            self._loss = values["loss"]

    def ended(self, params: CallbackParams, outcome: Outcome, sink: Sink) -> None:
        """See `Part.ended`."""
        self._tell_code(sink, PATIENCE)
        loss = lineage_facts.number(_last_loss(params))
        self._tell(params, sink, loss=lineage_facts.number(self._loss) if loss is None else loss)
        self._begin_session(sink)
        sink.add("hparams_session", "session_end", {}, status=_SESSION.get(outcome.status, "unknown"))
        message, trace = map(secrets.without_secrets, (outcome.message, outcome.traceback))    # before it is cut
        how = {"error": outcome.error, "message": message, "traceback": trace[-_LONGEST_TRACE:]}
        when = {"started": self._started, "ended": time.time(), "step": params.get("cur_step_num")}
        self._tell_status(sink, {"status": outcome.status.value, **when, **how})

    def _tell(self, params: CallbackParams, sink: Sink, **more: Any) -> None:
        """Write what is known, where that is more than before. What was told first counts: a learning rate falls, a last batch is small."""
        facts = lineage_facts.of_training(params)
        later = {name: value for name, value in {**{name: facts.get(name) for name in _GROWING}, **more}.items() if value is not None}
        known = {**facts, **self._told, **later}
        if known != self._told or not self._is_told:
            self._told, self._is_told = known, True
            sink.add("train_lineage", "train_lineage", known)

    def _tell_status(self, sink: Sink, status: Mapping[str, Any]) -> None:
        sink.add("run_status", "run_status", status)
        shown = {"status": status["status"], "commit": self._commit and self._commit[:10], "parameters": self._told.get("model_parameters")}
        if "ended" in status:
            shown["duration"] = round(status["ended"] - self._started, 3)
        shown = {name: value for name, value in shown.items() if value is not None}
        sink.add("custom_lineage_data", "custom_lineage_data", self._settings, shown=shown)

    def _tell_code(self, sink: Sink, patience: float = 0.0) -> None:
        found = self._code.take(patience)
        if found is not None:
            self._commit = found.get("commit")
            sink.add("code_version", "code_version", found)

    def _begin_session(self, sink: Sink) -> None:
        """TensorBoard keeps the first settings that it sees, so they are told once: when they are complete."""
        if not self._in_session:
            self._in_session = True
            settings = {name: value for name, value in self._told.items() if name not in _NO_SETTINGS}
            sink.add("hparams_session", "session_start", {**settings, **self._settings})


class EvalLineage(Part):
    """Evaluations: of every metric the last value, and what the data were."""

    key = "collect_eval_lineage"

    def __init__(self, *args: Any) -> None:
        """See `Part`."""
        super().__init__(*args)
        self._metrics: dict[str, float] = {}
        self._alone = True

    def begin(self, params: CallbackParams, sink: Sink) -> None:
        """See `Part.begin`."""
        self._alone = not TrainLineage.wanted(self.settings)

    def evaluation_end(self, params: CallbackParams, sink: Sink) -> None:
        """See `Part.evaluation_end`."""
        numbers = {name: lineage_facts.number(value) for name, value in flatten(params.get("metrics") or {})}
        self._metrics |= {name: value for name, value in numbers.items() if value is not None}
        if not self._metrics:
            return
        sink.add("eval_lineage", "eval_lineage", {"metric": self._metrics, **lineage_facts.of_validation(params)})
        if self._alone and (data := custom_data(self)):
            sink.add("custom_lineage_data", "custom_lineage_data", data)


def custom_data(part: Part) -> dict[str, Any]:
    """What the user told: in the collector's argument, and before that in the environment variable ``HYPER_CONFIG``."""
    return secrets.settings({**_from_environment(part), **part.settings.custom_lineage_data})


def _from_environment(part: Part) -> dict[str, Any]:
    text = os.environ.get(HYPER_CONFIG)
    if not text:
        return {}
    try:
        found = json.loads(text).get("custom_lineage_data") or {}
        return {str(name): value for name, value in found.items()}
    except (ValueError, AttributeError):
        part.notices.once(HYPER_CONFIG, '%s is not JSON such as {"custom_lineage_data": {"name": 1}}; it is ignored', HYPER_CONFIG)
        return {}


def _last_loss(params: CallbackParams) -> Any:
    """The loss of the last step."""
    reported = params.get("reported") or {}
    return reported["loss"] if "loss" in reported else params.get("net_outputs")
