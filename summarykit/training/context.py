"""What the hooks of a run share: its parameters, its status and the wish to stop."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from typing import Any


class Status(str, Enum):
    """How far a run has come, or how it ended."""

    RUNNING = "RUNNING"
    FINISHED = "FINISHED"
    FAILED = "FAILED"
    INTERRUPTED = "INTERRUPTED"

    @classmethod
    def after(cls, error: BaseException) -> Status:
        """How a run ends by an exception: errors fail it; Ctrl-C, ``sys.exit()`` and a closed generator interrupt it."""
        return cls.FAILED if isinstance(error, Exception) else cls.INTERRUPTED


class CallbackParams(dict[str, Any]):
    """The fields of a run, as items and as attributes; a field that is not there is an ``AttributeError``.

    ``Loop`` fills these, under MindSpore's names:

    ==========================  =======================================================================================
    ``mode``                    ``"train"`` or ``"eval"``
    ``epoch_num``               epochs to run
    ``batch_num``               steps per epoch (in an evaluation: its batches); None where the data set has no length
    ``cur_epoch_num``           1-based; absent before the first epoch
    ``cur_step_num``            optimizer updates completed; in ``step_begin`` the step about to run; in an evaluation
                                its own batches are counted, and the training's number comes back afterwards
    ``network``                 the bare network; ``train_network`` is what is trained (they differ where it is wrapped)
    ``optimizer loss_fn``       as given
    ``train_dataset``           as given; ``valid_dataset`` in an evaluation
    ``train_dataset_element``   the batch as it came; ``eval_dataset_element`` in an evaluation
    ``net_outputs``             what was reported as ``loss`` in this step
    ``metrics``                 what was reported in the last evaluation, until the epoch ends
    ``list_callback``           the callbacks
    ``dataset_sink_mode``       False
    ``device_number``           processes of the run; ``parallel_mode`` "stand_alone" or "data_parallel"
    ``initial_step``            updates done before this run
    ==========================  =======================================================================================

    and these of its own:

    ==========================  =======================================================================================
    ``reported``                what this step reported, by name; ``epoch_reported`` what was reported outside a step
    ``train_step_num``          in an evaluation: the training step it belongs to
    ``micro_step``              (micro-)batches that training began in this run: more than steps where gradients are accumulated
    ``data_wait``               seconds that training waited for its data in this run
    ``status``                  a ``Status``; ``exception`` what ended the run
    ==========================  =======================================================================================

    Adapters of frameworks may say more: ``last_step_num`` (the number of the last step, where that is known), ``rank``,
    ``framework``, ``loss_kind``, ``ends_with_update`` (True: a step's end is told right after the optimizer's update, which has left the
    gradients as they are); and leave out what they do not know.
    """

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"this run has no field {name!r}; it has: {', '.join(sorted(self))}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    def __delattr__(self, name: str) -> None:
        try:
            del self[name]
        except KeyError:
            raise AttributeError(f"this run has no field {name!r}") from None

    @contextmanager
    def restored(self, *names: str) -> Iterator[None]:
        """Put these fields back afterwards; those that were absent are removed."""
        before = {name: self[name] for name in names if name in self}
        try:
            yield
        finally:
            for name in names:
                self.pop(name, None)
            self.update(before)

    @contextmanager
    def marked(self) -> Iterator[None]:
        """Set ``status``, and ``exception`` where one passes."""
        self["status"] = Status.RUNNING
        try:
            yield
        except BaseException as error:
            self.update(status=Status.after(error), exception=error)
            raise
        self["status"] = Status.FINISHED


class RunContext:
    """What every hook is handed: the parameters of the run, and a way to end it."""

    def __init__(self, original_args: dict[str, Any]) -> None:
        """Make a context.

        Args:
            original_args: the parameters of the run; a plain dict becomes a ``CallbackParams`` (a copy).

        Raises:
            TypeError: it is not a dict.
        """
        if not isinstance(original_args, dict):
            raise TypeError(f"original_args: a dict is needed, got {type(original_args).__name__}")
        self._params = original_args if isinstance(original_args, CallbackParams) else CallbackParams(original_args)
        self._stop = False

    def original_args(self) -> CallbackParams:
        """The parameters of the run, shared by all hooks; further fields may be added."""
        return self._params

    def request_stop(self) -> None:
        """Ask the loop to end; it does so after the current step or epoch."""
        self._stop = True

    def get_stop_requested(self) -> bool:
        """True once ``request_stop`` was called."""
        return self._stop
