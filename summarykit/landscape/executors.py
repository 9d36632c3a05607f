"""Where points are measured: here, or in processes of this machine. Any other ``concurrent.futures.Executor`` will do as well."""

from __future__ import annotations

import multiprocessing
import os
import pickle
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any

from summarykit.landscape.evaluating import Guest

TARGETS = ("CPU", "GPU", "Ascend")
_VISIBLE = {"GPU": "CUDA_VISIBLE_DEVICES", "Ascend": "ASCEND_RT_VISIBLE_DEVICES"}
_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


class InProcess(Executor):
    """Measures in the calling thread, with the model that ``callback_fn`` gives; it comes back as it was."""

    def __init__(self) -> None:
        """Begin without a model."""
        self._guest = Guest()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Measure at once."""
        future: Future[Any] = Future()
        future.set_result(self._guest.measure(*args, **kwargs))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Give the model back."""
        self._guest.close()


class LocalProcesses(Executor):
    """One process per device, each with a model of its own; where one dies, all begin anew with what is still to be done.

    The cores are shared out evenly: a process that used all of them would slow the others down.
    """

    def __init__(self, device_ids: Sequence[int], device_target: str | None = None) -> None:
        """Begin without processes.

        Args:
            device_ids: a process for each.
            device_target: ``"GPU"`` or ``"Ascend"``: each process sees its device only. ``"CPU"`` or None: as the user's function says.

        Raises:
            TypeError, ValueError: the message names the argument, what came and what is allowed.
        """
        self._devices = checked_devices(device_ids)
        if device_target not in (None, *TARGETS):
            raise ValueError(f"device_target must be one of {', '.join(map(repr, TARGETS))} or None, got {device_target!r}")
        self._target = device_target or "CPU"
        self._pool: ProcessPoolExecutor | None = None

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Measure in the next process that is free.

        Raises:
            TypeError: the arguments cannot be sent to another process.
        """
        if self._pool is None:
            _expect_picklable(args)
            self._begin()
        assert self._pool is not None
        try:
            with _environment({name: str(self._threads) for name in _THREADS if name not in os.environ}):
                return self._pool.submit(fn, *args, **kwargs)
        except BrokenProcessPool:
            self._begin()
            return self.submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes."""
        if self._pool is not None:
            self._pool.shutdown(wait, cancel_futures=cancel_futures)
            self._pool = None

    @property
    def _threads(self) -> int:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1    # macOS and Windows tell all
        return max(1, cores // len(self._devices))

    def _begin(self) -> None:
        self.shutdown(wait=False)
        context = multiprocessing.get_context("spawn")    # a forked CUDA or MindSpore process does not work
        free = context.SimpleQueue()
        for device in self._devices:
            free.put(device)
        self._pool = ProcessPoolExecutor(len(self._devices), context, initializer=_pin, initargs=(free, self._target))


def checked_devices(device_ids: Any) -> list[int]:
    """Refuse what is no list of device numbers.

    Raises:
        TypeError, ValueError: the message names the argument, what came and what is allowed.
    """
    if not isinstance(device_ids, (list, tuple)) or any(isinstance(each, bool) or not isinstance(each, int) for each in device_ids):
        raise TypeError(f"device_ids must be a list of integers, got {device_ids!r}")
    if not device_ids or min(device_ids) < 0:
        raise ValueError(f"device_ids must hold at least one number of 0 or more, got {device_ids!r}")
    return list(device_ids)


def _pin(free: Any, target: str) -> None:
    """In a new process, before it imports a framework: take one of the devices."""
    device = free.get()
    if target in _VISIBLE:
        os.environ[_VISIBLE[target]] = str(device)


def _expect_picklable(arguments: Any) -> None:
    try:
        pickle.dumps(arguments)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise TypeError(
            f"callback_fn cannot be sent to another process ({error}): define it at the top of a module, behind no other function, or "
            "give one device only"
        ) from error


@contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    """Set variables for processes that are started in the block."""
    os.environ.update(variables)
    try:
        yield
    finally:
        for name in variables:
            del os.environ[name]
