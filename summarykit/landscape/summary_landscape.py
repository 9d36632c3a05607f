"""SummaryLandscape: from the checkpoints that training left behind to recorded landscapes; MindSpore's class, without its traps."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from summarykit.landscape import metadata
from summarykit.landscape.evaluating import Maker
from summarykit.landscape.executors import InProcess, LocalProcesses, checked_devices
from summarykit.landscape.metadata import TrainMetadata
from summarykit.landscape.models import Evaluation
from summarykit.landscape.progress import ProgressLine
from summarykit.landscape.recipe import Recipe
from summarykit.landscape.settings import FEWEST, SIZES, LandscapeSettings, integer
from summarykit.landscape.surveying import Report
from summarykit.landscape.work import Bounds, Interpolation, Result, Work
from summarykit.local import path_text, refuse_url
from summarykit.notices import logger
from summarykit.reading.surface import LossSurface
from summarykit.summary.record import SummaryRecord

_SCRATCH = "unfinished"


class SummaryLandscape:
    """Draws the loss surface around the path that a training took, and around its result.

    Example::

        def make():                                     # at the top of a module, for several processes
            net = LeNet()
            return net, net, test_batches(), {"Loss": torch.nn.CrossEntropyLoss()}

        SummaryLandscape("./summary").gen_landscapes_with_multi_process(make, device_ids=[0, 1])

    ``make()`` gives ``(model, network, dataset, metrics)``: the network is a torch module, a Keras model, a MindSpore cell (with its
    ``Model``, as in MindSpore), a pytree of JAX or a mapping of NumPy arrays; the metrics have the key ``"Loss"``, and each gives the
    mean over a batch. A metric is called as its framework does: ``(outputs, target)`` in torch, ``(target, outputs)`` in Keras,
    ``(parameters, batch)`` in JAX, ``(network, batch)`` in NumPy. Or it gives a `LandscapeModel` of your own. A network that was there
    before comes back as it was, bit by bit.
    """

    def __init__(self, summary_dir: str | os.PathLike[str]) -> None:
        """Look at a run.

        Args:
            summary_dir: the directory that a training with ``collect_landscape`` wrote into.

        Raises:
            RemotePathError: it is a URL.
        """
        self._directory = Path(path_text("summary_dir", summary_dir))
        refuse_url("summary_dir", summary_dir)
        self._checkpoints = self._directory / metadata.DIRECTORY

    def clean_ckpt(self) -> None:
        """Delete the checkpoints, and what unfinished landscapes have left."""
        shutil.rmtree(self._checkpoints, ignore_errors=True)

    def gen_landscapes_with_multi_process(
        self,
        callback_fn: Callable[[], Any],
        collect_landscape: Mapping[str, Any] | None = None,
        device_ids: Sequence[int] | None = None,
        device_target: str | None = None,
        output: str | os.PathLike[str] | None = None,
        *,
        recipe: Recipe | None = None,
        batch_norm: str = "stored",
        x_range: Bounds = None,
        y_range: Bounds = None,
        executor: Executor | None = None,
        resume: bool = True,
        report: Report | None = None,
    ) -> list[LossSurface]:
        """Compute and record every landscape that was asked for.

        A call that was interrupted, however, is taken up where it was when it is made again; the values are the same, bit by bit.

        Args:
            callback_fn: makes the model; see the class.
            collect_landscape: what to draw in another way than the training was told, under the same keys.
            device_ids: a process for each of these devices; None or a single one: in this process.
            device_target: ``"GPU"`` or ``"Ascend"``: each process sees its own device only; ``"CPU"``.
            output: directory for the record; by default the run's.
            recipe: how directions are made; ``MindSporeRecipe()`` for MindSpore's numbers.
            batch_norm: ``"stored"``, or ``"estimated"`` anew at each point. Where the network is a mapping (JAX, NumPy), the ``model`` of
                ``callback_fn`` is then a function ``(network, batch)`` that gives the entries of it that are statistics of that batch, such
                as ``{"batch_stats": ...}``.
            x_range: bounds of the first axis, by default the path's with a margin, and (-1, 1) around the result.
            y_range: bounds of the second axis.
            executor: measures the points instead of processes of ours: anything with the interface of ``concurrent.futures``, such as
                ``dask.distributed.Client(...).get_executor()``, or a few lines around Ray's tasks (examples/landscape_ray.py). Its
                workers must see ``summary_dir``.
            resume: False: begin anew, also where a call was interrupted (after a change of ``callback_fn``).
            report: told how far each landscape is; by default a line in the terminal.

        Returns:
            The surfaces: one per interval, then that of the result.

        Raises:
            FileNotFoundError: the run has no checkpoints.
            TypeError, ValueError: an argument is wrong, or not enough checkpoints are there; the message says which.
            Exception: whatever ``callback_fn`` and its model raised.
        """
        rules = Recipe() if recipe is None else recipe
        told = metadata.read(self._checkpoints)
        settings = told.settings.changed(collect_landscape)
        evaluation = Evaluation(settings.num_samples, rules.seed, rules.training, batch_norm)
        if not resume:
            shutil.rmtree(self._checkpoints / _SCRATCH, ignore_errors=True)
        maker = Maker(callback_fn)
        place = self._directory if output is None else path_text("output", output)
        works = list(self._works(told, settings, rules, evaluation, (x_range, y_range)))
        with _chosen(executor, device_ids, device_target) as chosen, SummaryRecord(place) as record:
            found = [_recorded(work.surface(maker, chosen, report or ProgressLine(work.scratch.name)), record) for work in works]
        shutil.rmtree(self._checkpoints / _SCRATCH, ignore_errors=True)
        return found

    def interpolate(
        self,
        callback_fn: Callable[[], Any],
        first: int,
        last: int,
        *,
        points: int = 41,
        x_range: Bounds = (-0.25, 1.25),
        num_samples: int | None = None,
        batch_norm: str = "stored",
        executor: Executor | None = None,
        report: Report | None = None,
    ) -> LossSurface:
        """Compute the losses on the line from one checkpoint (x = 0) through another (x = 1).

        Args:
            callback_fn: makes the model; see the class.
            first: step (or epoch) of a stored checkpoint.
            last: that of another.
            points: their number, in 3 … 256.
            x_range: bounds of the line.
            num_samples: samples that a loss is averaged over; by default as the training was told.
            batch_norm: ``"stored"`` (running statistics lie on the line too), or ``"estimated"`` anew at each point.
            executor: where; by default in this process.
            report: told how far it is; by default a line in the terminal.

        Returns:
            A surface of one row.

        Raises:
            KeyError: there is no such checkpoint; the message names those that there are.
            Exception: as `gen_landscapes_with_multi_process`.
        """
        told = metadata.read(self._checkpoints)
        for number in (first, last):
            if number not in told.files:
                raise KeyError(f"no checkpoint of {told.settings.unit} {number}; there are {', '.join(map(str, told.files))}")
        evaluation = Evaluation(num_samples or told.settings.num_samples, batch_norm=batch_norm)
        work = Interpolation(
            (first, last), self._files(told, (first, last)), Recipe(), evaluation, integer("points", points, SIZES),
            self._checkpoints / _SCRATCH / f"from {first} to {last}", _told(told, told.settings), (x_range, None),
        )  # fmt: skip
        with _chosen(executor, None, None) as chosen:
            surface = work.surface(Maker(callback_fn), chosen, report or ProgressLine(work.scratch.name))
        shutil.rmtree(work.scratch)
        return surface

    def _works(
        self, told: TrainMetadata, settings: LandscapeSettings, recipe: Recipe, evaluation: Evaluation, bounds: tuple[Bounds, Bounds]
    ) -> Iterator[Work]:
        """What to draw: the intervals of which enough was reached, and the last weights."""
        intervals = [reached for interval in settings.intervals if (reached := _reached(interval, told, settings))]
        if not intervals:
            raise ValueError(f"none of the intervals has {FEWEST} checkpoints; there are those of {settings.unit}s {sorted(told.files)}")
        kinds: list[tuple[type[Work], tuple[int, ...]]] = [(Work, interval) for interval in intervals] if settings.train else []
        kinds += [(Result, intervals[-1][-1:])] if settings.result else []
        for kind, steps in kinds:
            title = f"landscape {list(steps[:: max(1, len(steps) - 1)])}"
            scratch, files = self._checkpoints / _SCRATCH / title, self._files(told, steps)
            yield kind(steps, files, recipe, evaluation, settings.landscape_size, scratch, _told(told, settings), bounds)

    def _files(self, told: TrainMetadata, steps: tuple[int, ...]) -> tuple[Path, ...]:
        return tuple(self._checkpoints / told.files[step] for step in steps)


def _recorded(surface: LossSurface, record: SummaryRecord) -> LossSurface:
    record.add_value("landscape", surface.name, surface)
    record.record(0)
    record.flush()
    return surface


def _reached(interval: tuple[int, ...], told: TrainMetadata, settings: LandscapeSettings) -> tuple[int, ...]:
    """The part of an interval that training came to; nothing where that spans no plane."""
    reached = tuple(number for number in interval if number in told.files)
    if len(reached) < len(interval):
        drawn = f"the path of the other {len(reached)} is drawn" if len(reached) >= FEWEST else "it is left out"
        missing = sorted(set(interval) - set(reached))
        logger.warning("interval %s: there is no checkpoint of %s %s; %s", list(interval), settings.unit, missing, drawn)
    return reached if len(reached) >= FEWEST else ()


def _told(told: TrainMetadata, settings: LandscapeSettings) -> dict[str, Any]:
    return {"unit": settings.unit, "step_per_epoch": told.step_per_epoch}


def _chosen(executor: Executor | None, device_ids: Sequence[int] | None, device_target: str | None) -> AbstractContextManager[Executor]:
    """The executor to use, as a context: one that was given stays open."""
    if executor is not None:
        return nullcontext(executor)
    devices = [0] if device_ids is None else checked_devices(device_ids)
    alone = len(devices) == 1 and device_target in (None, "CPU")
    return InProcess() if alone else LocalProcesses(devices, device_target)
