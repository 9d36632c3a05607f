"""Parameters of PyTorch whose copy may wait: nothing changes them before the next optimizer step.

Copying every parameter in the call costs the training thread a pass over memory. Between two optimizer steps they stay as they are, so the
copy can run in another thread, beside the next forward and backward pass. The fence is the hook that PyTorch calls before *any* optimizer's
step, or the end of the closure that such a step is given: what was not copied by then is copied there. Only parameters of an optimizer
whose step has called that hook are trusted to it; all others are copied in the call.

The fence compares storage address, shape and version counter before and after a copy, so that a torn one is dropped. That is a
safeguard, not a proof: writes through ``.data``, NumPy views and some fused kernels leave the counter as it is. Who changes parameters
like that between recording and the optimizer's step (swapping in averaged weights, say) switches fences off.
"""

from __future__ import annotations

import os
import sys
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain
from operator import attrgetter
from typing import Any, Protocol

from summarykit.errors import RefusedValueError
from summarykit.kinds.arrays import Later, Typed, freeze
from summarykit.kinds.closures import begins_with_closure, followed, is_closure
from summarykit.kinds.memory import NOBODY, Lending
from summarykit.kinds.uncompiled import uncompiled

CHANGED = (
    "the parameter changed before the next optimizer step, while its copy was to be made: those to come are copied in the call, as with "
    "fence=False"
)
"""Why a parameter was not copied."""

LOOKS = 64
"""Updates, of whichever optimizers, at whose parameters the fence looks once one was recorded that it does not guard yet."""


class Seen(weakref.ref[Any]):
    """A tensor, and what it is as long as nobody replaces its storage.

    Attributes:
        address: of its first value.
        belied: it was found changed while its copy waited. Somebody writes to it behind the fence's back, and will again.
        shape: lengths of its axes.
        nbytes: its memory, in bytes.
    """

    __slots__ = ("address", "belied", "nbytes", "shape")

    address: int
    belied: bool
    shape: tuple[int, ...]
    nbytes: int

    def copied(self, tensor: Any, version: int) -> Typed | str | None:
        """Copy the tensor, which had that version when it was recorded; None if it has changed since, or why it cannot be copied."""
        try:
            copy = freeze(tensor) if self._is(tensor, version) else None
            return copy if isinstance(copy, Typed) and self._is(tensor, version) else None
        except Exception as error:  # noqa: BLE001  it would end the user's own optimizer.step(), or every turn of the pump
            return "no memory is left for a copy" if isinstance(error, MemoryError) else str(error) or type(error).__name__

    def _is(self, tensor: Any, version: int) -> bool:
        if tensor.shape != self.shape:    # another view of its storage: that is noticed only here, and costs one value
            self.address = -1    # so that the next call looks again
        if tensor.data_ptr() != self.address:
            return False
        if tensor._version != version:
            self.address, self.belied = -1, True
        return not self.belied


def _seen(tensor: Any, forget: Callable[[Any], Any] | None = None) -> Seen:
    """Look at a tensor; when it is gone, ``forget`` is called."""
    seen = Seen(tensor, forget)
    seen.address, seen.shape, seen.nbytes, seen.belied = tensor.data_ptr(), tensor.shape, tensor.numel() * tensor.element_size(), False
    return seen


class Fenced(Later):
    """A parameter that is yet to be copied; `get` gives the copy.

    Attributes:
        nbytes: memory of the parameter, in bytes.
        seen: what the parameter was when it was recorded.
    """

    __slots__ = ("_copy", "_lending", "_parameter", "_version", "nbytes", "seen")

    lasting = False
    nbytes: int
    _copy: Typed | str    # or why there is none

    def __init__(self, parameter: Any, seen: Seen, lending: Lending) -> None:
        """Remember what the parameter is at present. It will be copied into what is lent."""
        self._parameter = parameter
        self.seen = seen
        self._version = parameter._version
        self._lending = lending
        self.nbytes = seen.nbytes

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes."""
        return self.seen.shape

    def lend(self, lending: Lending) -> None:
        """Say where the copy is to lie, if it is not made yet."""
        self._lending = lending

    @property
    def settled(self) -> bool:
        """Whether it was copied."""
        return self._parameter is None

    def waits(self) -> bool:
        """Whether it is yet to be copied."""
        return self._parameter is not None

    def settle(self, order: int = 1) -> None:
        """Copy it, unless that was done; by whichever thread comes first. There is but one, so any ``order`` will do."""
        if self._parameter is not None:
            with FENCE.copying, self._lending:    # this may be another thread than that which records it, and another time
                parameter = self._parameter
                if parameter is not None:
                    self._copy = self.seen.copied(parameter, self._version) or self._changed()
                    self._parameter = None

    def let_go(self) -> None:
        """See `Later.let_go`; and where the pump hangs, what waits for it must not take memory."""
        self._copy, self._parameter = "it was let go of", None

    def get(self) -> Typed:
        """The copy.

        Raises:
            RefusedValueError: the parameter changed before it was copied, or could not be.
        """
        self.settle()
        if isinstance(self._copy, str):
            raise RefusedValueError(self._copy)
        return self._copy

    def _changed(self) -> str:
        return CHANGED


class Lasting(Fenced):
    """A gradient that stays as it is beyond the next optimizer step, too."""

    __slots__ = ("_belied",)

    lasting = True

    def __init__(self, gradient: Any, belied: Callable[[], None]) -> None:
        """Remember what the gradient is at present. If it is another when it is to be copied, ``belied`` is called, by any thread."""
        super().__init__(gradient, _seen(gradient), NOBODY)
        self._belied = belied

    def _changed(self) -> str:
        self._belied()
        return "the gradient was written again before its copy was made: those to come are copied in the call"


class Waiting(Protocol):
    """One copy that waits, or several."""

    @property
    def lasting(self) -> bool:
        """Whether it need not be made before the next optimizer step."""

    def waits(self) -> bool:
        """Whether it is yet to be made."""

    def settle(self, order: int = 1) -> None:
        """Make it; several in their order, or in the opposite one (-1)."""


class Fence:
    """All copies of this process that wait, and the parameters that may.

    Attributes:
        waiting: the copies that wait, and others that were just made. Who enters them does no more than append.
        copying: held by the thread that makes a copy. Re-entrant: a signal handler may end training in the middle of one.
    """

    def __init__(self) -> None:
        self.copying = threading.RLock()
        self.waiting: list[Waiting] = []
        self._dropping = threading.Lock()
        self._governed: dict[int, Seen] = {}
        self._optimizers: dict[int, _Updated] = {}
        self._looks = LOOKS
        self._hooked = False
        self._passed = self.before_update    # as a closure calls it, which may be compiled

    def hold(self, value: Any, lending: Lending = NOBODY) -> Later | None:
        """Let the copy of a value wait, which will lie in what is lent; None where it must be made now."""
        governed = self._governed.get(id(value))    # which goes with its parameter, before another value can have that number
        if governed is None:
            if isinstance(value, Fenced):
                value.lend(lending)
                return value
            self._hook()
            if getattr(value, "requires_grad", False) and getattr(value, "is_cpu", False):
                self._looks = LOOKS
            return None
        if governed.address != value.data_ptr():    # its storage was replaced
            if governed.belied or not _fit(value):
                return None
            governed = self._govern(value)
        fenced = Fenced(value, governed, lending)
        self.waiting.append(fenced)
        return fenced

    def postpone(self, gradient: Any, belied: Callable[[], None]) -> Later:
        """Let the copy of a dense tensor in host memory wait that is believed to stay as it is; ``belied`` is called if it does not."""
        self._hook()
        lasting = Lasting(gradient, belied)
        self.waiting.append(lasting)
        return lasting

    def settle(self) -> None:
        """Make all copies that wait. The newest first: the pump begins with the oldest, so that the two meet once."""
        if self.waiting:
            for each in reversed(self.waiting[:]):
                if not each.lasting:
                    each.settle(-1)
            self._drop_settled()

    def begin(self) -> None:
        """Make the copies, those of parameters first, each in its order: for the pump's thread."""
        for each in sorted(self.waiting, key=attrgetter("lasting")):
            each.settle()
        self._drop_settled()

    @contextmanager
    def set_aside(self) -> Iterator[None]:
        """Let other threads copy: a signal handler waits for one of them, and may have interrupted a copy in this one."""
        held = 0
        with suppress(RuntimeError):    # it is held no more
            while True:
                self.copying.release()
                held += 1
        try:
            yield
        finally:
            for _ in range(held):
                self.copying.acquire()

    def _drop_settled(self) -> None:
        if not self._dropping.acquire(blocking=False):    # another thread does, or what a signal handler interrupted
            return
        try:
            looked_at = self.waiting[:]
            self.waiting[: len(looked_at)] = [each for each in looked_at if each.waits()]    # others only append
        finally:
            self._dropping.release()

    def _hook(self) -> None:
        """Once: before any optimizer's step. PyTorch before 2.0 has no such hook; there every copy is made in the call."""
        if not self._hooked and "torch.optim.optimizer" in sys.modules:
            self._hooked = True
            register = getattr(sys.modules["torch.optim.optimizer"], "register_optimizer_step_pre_hook", None)
            if register is not None:
                self._passed = uncompiled(self.before_update)
                register(uncompiled(self._before_step))

    def before_update(self, optimizer: Any, count: int, parameters: Iterable[Any]) -> None:
        """The parameters of an optimizer are about to change: make all copies that wait; those to come of these tensors may wait for this.

        Args:
            optimizer: whose update it is; any object.
            count: how many parameters it has.
            parameters: these, dense or not, on whatever device; looked at where their number has changed since the update before.
        """
        if self.waiting:
            self.settle()
        known = self._optimizers.get(id(optimizer))    # which goes with its optimizer
        if known is None or known.count != count:
            updated = self._optimizers[id(optimizer)] = _Updated(optimizer, partial(self._optimizers.pop, id(optimizer)))
            updated.count = count
            for parameter in filter(_fit, parameters):
                self._govern(parameter)

    def _before_step(self, optimizer: Any, args: Any, kwargs: Any) -> Any:
        """What PyTorch calls. Where the forward and backward pass is in a closure, as Lightning's, the fence is behind that."""
        if not (self.waiting or self._looks or kwargs or len(args) > 1):    # as in most steps: the least that can be, with cold caches
            return None
        self._looks = max(0, self._looks - 1)
        groups = [group["params"] for group in optimizer.param_groups]
        update = optimizer, sum(map(len, groups)), chain.from_iterable(groups)
        closure = args[1] if len(args) > 1 else kwargs.get("closure")
        if closure is None:
            self.before_update(*update)
            return None
        own = begins_with_closure(optimizer)
        if not own:
            self.before_update(*update)
        if not (own or is_closure(closure)):
            return None
        fenced = followed(closure, partial(self._passed, *update))
        return ((args[0], fenced, *args[2:]), kwargs) if len(args) > 1 else (args, {**kwargs, "closure": fenced})

    def _govern(self, parameter: Any) -> Seen:
        forget = partial(self._governed.pop, id(parameter))    # called with the dead reference: pop's default
        governed = self._governed[id(parameter)] = _seen(parameter, forget)
        return governed

    def forget(self) -> None:
        """In a forked child: the copies that wait are the parent's."""
        self.copying, self.waiting, self._dropping = threading.RLock(), [], threading.Lock()


class _Updated(weakref.ref[Any]):
    """An optimizer that has updated so many parameters."""

    __slots__ = ("count",)

    count: int


def _fit(parameter: Any) -> bool:
    return bool(
        parameter.is_cpu
        and parameter.layout is sys.modules["torch"].strided
        and not parameter.is_inference()
        and not parameter.is_complex()    # which is refused in the call
        and not hasattr(type(parameter), "to_local")
        and parameter.numel()
    )


FENCE = Fence()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=FENCE.forget)
