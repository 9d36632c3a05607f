"""Parameters of PyTorch whose copy may wait: nothing changes them before the next optimizer step.

Copying every parameter in the call costs the training thread a pass over memory. Between two optimizer steps they stay as they are, so the
copy can run in another thread, beside the next forward and backward pass. The fence is the hook that PyTorch calls before *any* optimizer's
step: what was not copied by then is copied there. Only parameters of an optimizer whose step has called that hook are trusted to it; all
others are copied in the call.

The fence compares storage address, shape and version counter before and after a copy, so that a torn one is dropped. That is a
safeguard, not a proof: writes through ``.data``, NumPy views and some fused kernels leave the counter as it is. Who changes parameters
like that between recording and the optimizer's step (swapping in averaged weights, say) switches fences off.
"""

from __future__ import annotations

import os
import sys
import threading
import weakref
from functools import partial
from typing import Any, NamedTuple

from summarykit.errors import RefusedValueError
from summarykit.kinds import memory
from summarykit.kinds.arrays import Later, Typed, freeze


class _Governed(NamedTuple):
    """A parameter of an optimizer."""

    parameter: weakref.ref[Any]
    nbytes: int


class Fenced(Later):
    """A parameter that is yet to be copied; `get` gives the copy."""

    __slots__ = ("_copy", "_lending", "_lock", "_nbytes", "_parameter", "_state")

    def __init__(self, parameter: Any, nbytes: int) -> None:
        """Remember what the parameter, of so many bytes, is at present."""
        self._parameter = parameter
        self._state = _state(parameter)
        self._copy: Typed | None = None
        self._lock = threading.Lock()
        self._lending = memory.current()
        self._nbytes = nbytes

    @property
    def nbytes(self) -> int:
        """Memory of the parameter, in bytes."""
        return self._nbytes

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes."""
        return tuple(self._state[2])

    @property
    def settled(self) -> bool:
        """Whether it was copied."""
        return self._parameter is None

    def settle(self) -> None:
        """Copy it, unless that was done; by whichever thread comes first."""
        with self._lock:
            if self._parameter is not None:
                with self._lending:    # of whoever records it; this may be another thread, and another time
                    self._copy = self._unchanged_copy()
                self._parameter = None

    def get(self) -> Typed:
        """The copy.

        Raises:
            RefusedValueError: the parameter changed before it was copied.
        """
        self.settle()
        if self._copy is None:
            raise RefusedValueError("the parameter changed before the next optimizer step, while its copy was to be made (use fence=False)")
        return self._copy

    def _unchanged_copy(self) -> Typed | None:
        if _state(self._parameter) != self._state:
            return None
        copy = freeze(self._parameter)
        return copy if isinstance(copy, Typed) and _state(self._parameter) == self._state else None


class Fence:
    """All copies of this process that wait, and the parameters that may."""

    def __init__(self) -> None:
        self._waiting: list[Fenced] = []
        self._lock = threading.RLock()    # re-entrant: a signal handler may record in the middle of this
        self._governed: dict[int, _Governed] = {}
        self._optimizers: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._hooked = False

    def hold(self, value: Any) -> Later | None:
        """Let the copy of a value wait; None where it must be made now."""
        governed = self._governed.get(id(value))
        parameter = None if governed is None else governed.parameter()
        if governed is None or parameter is not value:
            self._hook()
            return None
        if not parameter.is_cpu:
            return None
        fenced = Fenced(parameter, governed.nbytes)
        with self._lock:
            self._waiting.append(fenced)
        return fenced

    def settle(self) -> None:
        """Make all copies that wait. The newest first: the pump begins with the oldest, so that the two meet once."""
        for fenced in reversed(self._waiting[:]):
            fenced.settle()
        self._drop_settled()

    def begin(self) -> None:
        """Make the copies in their order: for the pump's thread."""
        for fenced in self._waiting[:]:
            fenced.settle()
        self._drop_settled()

    def __bool__(self) -> bool:
        """Whether a copy waits."""
        return bool(self._waiting)

    def _drop_settled(self) -> None:
        with self._lock:
            self._waiting = [fenced for fenced in self._waiting if not fenced.settled]

    def _hook(self) -> None:
        """Once: before any optimizer's step. PyTorch before 2.0 has no such hook; there every copy is made in the call."""
        if not self._hooked and "torch.optim.optimizer" in sys.modules:
            self._hooked = True
            register = getattr(sys.modules["torch.optim.optimizer"], "register_optimizer_step_pre_hook", None)
            if register is not None:
                register(self._before_step)

    def _before_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if self._waiting:
            self.settle()
        count = sum(len(group["params"]) for group in optimizer.param_groups)
        if self._optimizers.get(optimizer) != count:
            self._optimizers[optimizer] = count
            for group in optimizer.param_groups:
                for parameter in filter(_fit, group["params"]):
                    forget = partial(self._governed.pop, id(parameter))    # called with the dead reference: pop's default
                    nbytes = parameter.numel() * parameter.element_size()
                    self._governed[id(parameter)] = _Governed(weakref.ref(parameter, forget), nbytes)

    def forget(self) -> None:
        """In a forked child: the copies that wait are the parent's."""
        self._waiting, self._lock = [], threading.RLock()


def _state(tensor: Any) -> tuple[int, int, Any]:
    return tensor.data_ptr(), tensor._version, tensor.shape


def _fit(parameter: Any) -> bool:
    return bool(
        parameter.is_cpu
        and parameter.layout is sys.modules["torch"].strided
        and not parameter.is_inference()
        and not hasattr(type(parameter), "to_local")
        and parameter.numel()
    )


FENCE = Fence()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=FENCE.forget)
