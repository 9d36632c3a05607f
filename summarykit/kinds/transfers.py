"""Tensors of PyTorch on their way from an accelerator to host memory, without anybody waiting for the device.

The copy is queued behind what computes the tensor, on the same stream, into page-locked memory: a later change in place does not reach it.
Whether it has arrived is asked by threads that record, at their next call, and waited for only in ``flush()`` and ``close()``. No thread of
ours calls the device by itself: while another thread captures a CUDA graph (in PyTorch's default mode), that would make the capture fail.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
import time
from collections import deque
from typing import Any

from summarykit.errors import RefusedValueError

_PAUSE_SECS = 0.0005


class Transfer:
    """One tensor on its way."""

    __slots__ = ("_arrived", "_event", "_failure", "_host", "nbytes", "shape")

    def __init__(self, host: Any, event: Any) -> None:
        """``host`` will hold the values, ``event`` is recorded behind the copy."""
        self._host, self._event = host, event
        self._failure: Exception | None = None
        self._arrived = threading.Event()
        self.nbytes = int(host.nbytes)
        self.shape = tuple(host.shape)

    @property
    def arrived(self) -> bool:
        """Whether the values are here, as far as anybody has asked."""
        return self._arrived.is_set()

    def ask(self) -> bool:
        """Ask the device whether the values are here; True, too, where the device failed and they never will be."""
        try:
            if not self._event.query():
                return False
        except RuntimeError as error:
            self._failure = error
        self._arrived.set()
        return True

    def values(self) -> Any:
        """The tensor in host memory. Waits until a thread that may has asked.

        Raises:
            RefusedValueError: the device failed.
        """
        self._arrived.wait()
        if self._failure is not None:
            raise RefusedValueError(f"the device failed before the values were here: {self._failure}")
        return self._host


class Transfers:
    """All transfers of this process that are on their way.

    Attributes:
        waiting: the transfers, in order; there is nothing to do where it is empty.
    """

    def __init__(self) -> None:
        self.waiting: deque[Transfer] = deque()
        self._asking = threading.Lock()

    def begin(self, tensor: Any) -> Transfer | None:
        """Queue the copy of a tensor that lies on an accelerator; None where its device knows no events.

        Raises:
            RefusedValueError: its stream is capturing a graph: what is queued there runs later, any number of times.
        """
        device = _device_module(tensor.device.type)
        if device is None:
            return None
        if getattr(device, "is_current_stream_capturing", bool)():
            raise RefusedValueError("its stream is capturing a graph, and nothing is computed yet: record after the graph was replayed")
        host = _host_memory(tensor)
        host.copy_(tensor.detach(), non_blocking=True)
        event = device.Event()
        event.record(device.current_stream(tensor.device))
        transfer = Transfer(host, event)
        self.waiting.append(transfer)
        return transfer

    def poll(self) -> None:
        """Find out what has arrived; does not wait. For threads that record."""
        if not self._asking.acquire(blocking=False):    # another thread does, or what a signal handler interrupted
            return
        try:
            while self.waiting and self.waiting[0].ask():
                self.waiting.popleft()
        finally:
            self._asking.release()

    def settle(self, patience: float) -> None:
        """Wait until all have arrived, or for so many seconds nothing did."""
        left, since = len(self.waiting), time.monotonic()
        while self.waiting and time.monotonic() - since < patience:
            self.poll()
            if len(self.waiting) < left:
                left, since = len(self.waiting), time.monotonic()
            elif left:
                time.sleep(_PAUSE_SECS)

    def forget(self) -> None:
        """In a forked child, which cannot use the parent's device."""
        self.waiting, self._asking = deque(), threading.Lock()


@functools.cache
def _device_module(kind: str) -> Any | None:
    """The module of a kind of device (CUDA, ROCm, XPU …), where it has events."""
    try:
        module = sys.modules["torch"].get_device_module(kind)
    except (AttributeError, RuntimeError):    # PyTorch before 2.4, or it has no such module
        return None
    return module if hasattr(module, "Event") and hasattr(module, "current_stream") else None


def _host_memory(tensor: Any) -> Any:
    """Page-locked memory, to which a device copies beside everything else; ordinary memory where there is none, or no more of it."""
    empty = sys.modules["torch"].empty
    try:
        return empty(tensor.shape, dtype=tensor.dtype, device="cpu", pin_memory=True)
    except RuntimeError:
        return empty(tensor.shape, dtype=tensor.dtype, device="cpu")


TRANSFERS = Transfers()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=TRANSFERS.forget)
