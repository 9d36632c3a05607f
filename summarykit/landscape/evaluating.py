"""Measures points of a plane, in whatever process: the model is made there, once, by the user's own function."""

from __future__ import annotations

import random
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from summarykit.landscape.models import Evaluation, LandscapeModel, model_of
from summarykit.landscape.plane import Plane
from summarykit.notices import Notices
from summarykit.shapes import Floats


@dataclass(frozen=True)
class Maker:
    """Makes the model; the same one however often it is sent to a process.

    Attributes:
        callback_fn: the user's function.
        call: tells the calls of `SummaryLandscape` apart: a function that was sent is not the same object.
    """

    callback_fn: Callable[[], Any] = field(compare=False)
    call: str = field(default_factory=lambda: uuid.uuid4().hex)

    def __post_init__(self) -> None:
        if not callable(self.callback_fn):
            raise TypeError(f"callback_fn: a function that makes the model is needed, got {self.callback_fn!r}")


@dataclass(frozen=True)
class Task:
    """What a process needs to know to measure points.

    Attributes:
        maker: makes the model.
        plane: the plane's file; every process must be able to open it.
        evaluation: how to measure.
    """

    maker: Maker
    plane: str
    evaluation: Evaluation


@dataclass(frozen=True, eq=False)
class Measured:
    """Values of some points.

    Attributes:
        names: of the metrics, ``"Loss"`` first.
        values: float64, shape ``[points, metrics]``.
    """

    names: tuple[str, ...]
    values: Floats


class Workshop:
    """A model and a plane that stand ready; as long as tasks ask for the same ones they are not made anew."""

    def __init__(self) -> None:
        """Begin without them."""
        self._model: tuple[Maker, LandscapeModel] | None = None
        self._plane: tuple[Maker, str, Plane] | None = None

    def measure(self, task: Task, points: Floats) -> Measured:
        """Measure points; everything random begins anew for each block of them, so that their order does not matter."""
        model, plane = self._model_for(task), self._plane_for(task)
        _seed(task.evaluation.seed)
        found = model.survey(plane, points)
        names = ("Loss", *(name for name in found[0] if name != "Loss"))
        return Measured(names, np.array([[float(each[name]) for name in names] for each in found]).reshape(len(found), len(names)))

    def make(self, task: Task) -> LandscapeModel:
        """Make the model, ready to measure."""
        _seed(task.evaluation.seed)
        model = model_of(task.maker.callback_fn(), task.evaluation)
        model.prepare()
        return model

    def _model_for(self, task: Task) -> LandscapeModel:
        if self._model is None or self._model[0] != task.maker:
            self._model = task.maker, self.make(task)
        return self._model[1]

    def _plane_for(self, task: Task) -> Plane:
        if self._plane is None or self._plane[:2] != (task.maker, task.plane):
            self._plane = task.maker, task.plane, Plane(Path(task.plane))
            _tell_of_missing(self._model_for(task), self._plane[2])
        return self._plane[2]


class Guest(Workshop):
    """In the user's own process: random generators and the model come back as they were."""

    def __init__(self) -> None:
        """Begin without a model."""
        super().__init__()
        self._open = ExitStack()

    def make(self, task: Task) -> LandscapeModel:
        """See `Workshop.make`."""
        self.close()
        self._open.enter_context(_random_state_kept())
        _seed(task.evaluation.seed)
        model = model_of(task.maker.callback_fn(), task.evaluation)
        self._open.enter_context(model.restored())
        model.prepare()
        return model

    def close(self) -> None:
        """Give everything back."""
        self._model = self._plane = None
        self._open.close()


class _Workshops(threading.local):
    """One for each thread: an executor's threads must not share a model."""

    def __init__(self) -> None:
        self.mine = Workshop()


_workshops = _Workshops()
_notices = Notices()


def measure(task: Task, points: Floats) -> Measured:
    """Measure points in a worker, whose model stays ready for the next ones."""
    return _workshops.mine.measure(task, points)


def _tell_of_missing(model: LandscapeModel, plane: Plane) -> None:
    missing = [name for name in model.weights.state() if name not in plane.centre]
    if missing:
        message = "landscape: the checkpoints have no %s: there the model keeps what callback_fn gave it"
        _notices.once(("missing", *missing), message, ", ".join(missing[:10]))


def _seed(seed: int) -> None:
    random.seed(seed)
    np.random.seed(seed)
    if (torch := sys.modules.get("torch")) is not None:
        torch.manual_seed(seed)
    if (mindspore := sys.modules.get("mindspore")) is not None:
        mindspore.set_seed(seed + 1)    # it takes no 0


@contextmanager
def _random_state_kept() -> Iterator[None]:
    """Leave the generators of Python, NumPy, torch and MindSpore as they were."""
    put_back: list[Callable[[], Any]] = [*_mindspore_state()]    # first: its data sets seed Python's and NumPy's, too
    put_back += partial(random.setstate, random.getstate()), partial(np.random.set_state, np.random.get_state())
    if (torch := sys.modules.get("torch")) is not None:
        put_back.append(partial(torch.set_rng_state, torch.get_rng_state()))
        if torch.cuda.is_initialized():
            put_back.append(partial(torch.cuda.set_rng_state_all, torch.cuda.get_rng_state_all()))
    try:
        yield
    finally:
        for each in put_back:
            each()


def _mindspore_state() -> Iterator[Callable[[], Any]]:
    """What puts MindSpore's seeds back: its own, those of operators, which count calls, that of its data sets, and its generator.

    Its ``set_seed`` begins those counts anew, and cannot say again that no seed was set: both are told to the module that it is in.
    """
    mindspore = sys.modules.get("mindspore")
    if mindspore is None:
        return
    seeds = getattr(sys.modules.get("mindspore.common.seed"), "__dict__", {})    # private: another version may count elsewhere
    own, calls = mindspore.get_seed(), seeds.get("_KERNEL_SEED", {})
    counted = dict(calls)

    def put_back() -> None:
        """Set the seed that was there before."""
        if own is None:
            seeds["_GLOBAL_SEED"] = None
        else:
            mindspore.set_seed(own)
        calls.clear()
        calls.update(counted)

    yield put_back
    yield partial(mindspore.dataset.config.set_seed, mindspore.dataset.config.get_seed())
    if hasattr(mindspore, "get_rng_state"):    # since MindSpore 2.3
        yield partial(mindspore.set_rng_state, mindspore.get_rng_state())
