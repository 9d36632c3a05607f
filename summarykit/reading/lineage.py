"""What a run came from and what came of it, from its lineage files: ours, and MindSpore's."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from summarykit.clock import DEAD_SECS
from summarykit.reading.segments import stamp_of
from summarykit.reading.source import Source, format_of
from summarykit.shapes import Lineage

RUNNING, DEAD = "RUNNING", "DEAD"

_OF_DATASETS = {
    "train": {"path": "train_dataset_path", "size": "train_dataset_size"},
    "valid": {"path": "valid_dataset_path", "size": "valid_dataset_size"},
}
_OF_MODEL = {"path": "model_path", "size": "model_size", "parameters": "model_parameters"}
_ELSEWHERE = {"network", "loss", "loss_kind", *_OF_MODEL.values(), *_OF_DATASETS["train"].values()}


@dataclass(frozen=True)
class RunLineage:
    """What a run came from and what came of it, as last told; empty where nobody told.

    Attributes:
        status: ``"RUNNING"``, ``"FINISHED"``, ``"FAILED"`` (an exception), ``"INTERRUPTED"`` (Ctrl-C, ``sys.exit``), or ``"DEAD"``: it
            was running and its process is gone, or gave no sign of life for three minutes. None where nobody told.
        started: seconds since the epoch; None where nobody told.
        ended: the same; of a dead run its last sign of life.
        step: optimizer updates completed when that was told.
        error: type of the exception that ended it.
        message: what it said.
        traceback: where it came from.
        network: class of the model.
        hyper_parameters: name -> value: ``optimizer``, ``learning_rate``, ``loss_function``, ``epoch``, ``batch_size`` and the like.
        custom: what the user told, nested as it was; of a run without lineage the settings of its TensorBoard session.
        loss: the last loss.
        loss_kind: what the loss is that the framework reports: ``"instant"`` (of the step), ``"running_mean"`` (of the epoch so far, as in
            Keras) or ``"window_mean"`` (since it was reported before, as in Transformers); empty where nobody told.
        metrics: name -> value, of the last evaluation.
        model: ``path`` of the last checkpoint, ``size`` in bytes, number of ``parameters``.
        train_dataset: ``path`` and ``size`` (number of samples).
        valid_dataset: the same.
        dataset_graph: how the training data came about: parameters of its last operation, and ``children``.
        code: ``commit``, ``branch``, ``dirty``, ``diff`` (against the commit), ``not_compared`` (files that only a filter of git's could
            compare), ``command``, ``python``, ``packages`` (name -> version), ``host``, ``platform``.
    """

    status: str | None = None
    started: float | None = None
    ended: float | None = None
    step: int | None = None
    error: str = ""
    message: str = ""
    traceback: str = ""
    network: str = ""
    hyper_parameters: Mapping[str, Any] = field(default_factory=dict)
    custom: Mapping[str, Any] = field(default_factory=dict)
    loss: float | None = None
    loss_kind: str = ""
    metrics: Mapping[str, Any] = field(default_factory=dict)
    model: Mapping[str, Any] = field(default_factory=dict)
    train_dataset: Mapping[str, Any] = field(default_factory=dict)
    valid_dataset: Mapping[str, Any] = field(default_factory=dict)
    dataset_graph: Mapping[str, Any] = field(default_factory=dict)
    code: Mapping[str, Any] = field(default_factory=dict)

    @property
    def duration(self) -> float | None:
        """Seconds from its start to its end, or until now where it runs; None where that is not known."""
        if self.started is None or (self.ended is None and self.status != RUNNING):
            return None
        return max(0.0, (self.ended or time.time()) - self.started)


def lineage_of(files: Iterable[Path], hparams: Callable[[], Mapping[str, Any]]) -> RunLineage:
    """Put together what the files of a run tell. Only those of lineage, which are small, are read, as they are now.

    Args:
        files: the run's summary files.
        hparams: gives settings of its TensorBoard session, for a run that tells none itself.
    """
    files = list(files)
    parts, teller = _latest(_read(path) for path in files if format_of(path.name) == "lineage")
    train, evaluation, run = (parts.get(part, {}) for part in (Lineage.TRAIN, Lineage.EVALUATION, Lineage.RUN))
    status = _status(run.get("status"), teller, files)
    return RunLineage(
        status=status,
        started=run.get("started"),
        ended=_last_sign(files) if status == DEAD else run.get("ended"),
        step=run.get("step"),
        error=str(run.get("error") or ""),
        message=str(run.get("message") or ""),
        traceback=str(run.get("traceback") or ""),
        network=str(train.get("network") or ""),
        hyper_parameters={name: value for name, value in train.items() if name not in _ELSEWHERE},
        custom=parts.get(Lineage.CUSTOM, {}) if teller else hparams(),
        loss=train.get("loss"),
        loss_kind=str(train.get("loss_kind") or ""),
        metrics=evaluation.get("metric") or {},
        model=_picked(train, _OF_MODEL),
        train_dataset=_picked(train, _OF_DATASETS["train"]),
        valid_dataset=_picked(evaluation, _OF_DATASETS["valid"]),
        dataset_graph=parts.get(Lineage.DATASET, {}),
        code=parts.get(Lineage.CODE, {}),
    )


def _read(path: Path) -> Source:
    source = Source(path, {})
    with suppress(FileNotFoundError):    # gone meanwhile
        source.poll()
    return source


def _latest(sources: Iterable[Source]) -> tuple[dict[str, Mapping[str, Any]], Source | None]:
    """The last of each part, and the file that told how the run went (or the last one).

    As in MindInsight, a file that tells of a training makes void what the files before it told.
    """
    parts: dict[str, Mapping[str, Any]] = {}
    teller = None
    for source in sorted(sources, key=lambda source: (stamp_of(source.path.name), source.path.name)):
        told = {shape.part: shape.values for shape in map(source.decode, source.entries) if isinstance(shape, Lineage)}
        if told:
            begins_anew = bool(told.keys() & {Lineage.TRAIN, Lineage.DATASET})
            parts = {**({} if begins_anew else parts), **told}
            teller = source if begins_anew or teller is None or Lineage.RUN in told else teller
    return parts, teller


def _status(status: str | None, teller: Source | None, files: Iterable[Path]) -> str | None:
    if status != RUNNING or teller is None:
        return status
    lives = teller.origin.process.lives() if teller.origin else None
    if lives is None:
        lives = time.time() - _last_sign(files) < DEAD_SECS
    return RUNNING if lives else DEAD


def _last_sign(files: Iterable[Path]) -> float:
    """When one of the files last changed, in seconds since the epoch."""
    times = [0.0]
    for path in files:
        with suppress(OSError):    # gone meanwhile
            times.append(path.stat().st_mtime)
    return max(times)


def _picked(values: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return {name: values[key] for name, key in names.items() if values.get(key) is not None}
