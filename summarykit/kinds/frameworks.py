"""Tensors of torch, JAX and MindSpore without importing them: whose value exists, that framework is imported already."""

from __future__ import annotations

import functools
import sys
from collections import deque
from contextlib import suppress
from typing import Any, NamedTuple, Protocol

import numpy as np

from summarykit.errors import RefusedValueError
from summarykit.kinds.dtypes import ALLOWED
from summarykit.kinds.transfers import TRANSFERS, Transfer
from summarykit.lazy import loaded
from summarykit.shapes import Array


class Fetched(NamedTuple):
    """A framework's values in host memory.

    Attributes:
        array: any NumPy or extension dtype.
        dtype: the framework's name of it where ``array.dtype`` does not tell (``"bfloat16"`` arrives as float32).
        own: True where nobody else can change this memory.
    """

    array: Array
    dtype: str | None
    own: bool


class Framework(Protocol):
    """What is asked of one framework's tensors."""

    def owns(self, kind: type) -> bool:
        """Tell whether values of that type are its tensors."""

    def hold(self, value: Any) -> Any | None:
        """Give what to keep of a value that only a device has, so that nobody waits for it now; None: it is in host memory.

        Raises:
            RefusedValueError: its values can never be had.
        """

    def arrived(self, held: Any) -> bool:
        """Tell whether what `hold` gave can be fetched without waiting."""

    def fetch(self, value: Any) -> Fetched:
        """Bring the values, or what `hold` gave for them, to host memory; waits for the device."""

    def item(self, value: Any) -> Any:
        """Give the number that a tensor of one element holds; waits for the device."""


class _Torch:
    """PyTorch: detached, so that no graph is kept alive."""

    def owns(self, kind: type) -> bool:
        """See `Framework`."""
        return _is(kind, "torch", "Tensor")

    def hold(self, value: Any) -> Any | None:
        """See `Framework`."""
        _check_torch(value)
        # Copy or clone, it runs in the order of the device's stream: a later in-place change does not reach it.
        return None if value.is_cpu else TRANSFERS.begin(value) or value.detach().clone()

    def arrived(self, held: Any) -> bool:
        """See `Framework`."""
        return isinstance(held, Transfer) and held.arrived

    def fetch(self, value: Any) -> Fetched:
        """See `Framework`."""
        if isinstance(value, Transfer):
            return self.fetch(value.values())._replace(own=True)
        _check_torch(value)
        name = _torch_name(value.dtype)
        if name in ("bfloat16", "float8_e8m0fnu"):
            return Fetched(_host(value).float().numpy(), name, own=True)
        if name.startswith("float8"):
            return Fetched(_host(value).half().numpy(), name, own=True)
        # At one go: each call of PyTorch lets go of the GIL, and a thread that waits for it is woken, mostly in vain.
        return Fetched(value.numpy(force=True), None, own=not value.is_cpu)

    def item(self, value: Any) -> Any:
        """See `Framework`."""
        return value.item()


def _host(tensor: Any) -> Any:
    return tensor.detach() if tensor.is_cpu else tensor.detach().cpu()


@functools.cache
def _torch_name(dtype: Any) -> str:
    return str(dtype).removeprefix("torch.")


def _check_torch(value: Any) -> None:
    if value.dtype.is_complex:
        raise _complex(value)
    if value.layout is not sys.modules["torch"].strided:
        raise RefusedValueError(f"a torch tensor of layout {value.layout} cannot be recorded; record .to_dense() of it")
    if value.is_quantized:
        raise RefusedValueError(f"a quantized torch tensor ({value.dtype}) cannot be recorded; record .dequantize() of it")
    if value.is_meta:
        raise RefusedValueError("a torch tensor on the meta device holds no values to record")
    if hasattr(type(value), "to_local"):
        raise RefusedValueError("a distributed torch tensor cannot be recorded; record .to_local() or .full_tensor() of it")


class _Jax:
    """JAX: immutable and computed asynchronously on every platform, the CPU included."""

    def __init__(self) -> None:
        """Nobody's numbers were donated yet."""
        self._numbers: deque[Any] = deque()    # held, and not computed when they were last looked at
        self._donates = False

    def owns(self, kind: type) -> bool:
        """See `Framework`."""
        return _is(kind, "jax", "Array") or _is(kind, "jax.core", "Tracer")

    def hold(self, value: Any) -> Any | None:
        """See `Framework`."""
        _check_jax(value)
        if in_host(value):
            return None
        # A train step may donate an array's memory, so it is copied on its device; nobody donates a loss, but some a learning rate.
        if value.ndim or self._donated():
            return value.copy()
        self._numbers.append(value)
        return value

    def arrived(self, held: Any) -> bool:
        """See `Framework`."""
        try:
            return bool(held.is_deleted() or held.is_ready())    # a deleted array that is asked whether it is ready may end the process
        except RuntimeError:    # another thread's step was given its memory between the two looks
            return True

    def fetch(self, value: Any) -> Fetched:
        """See `Framework`."""
        if value.is_deleted():
            self._donates = True
            raise RefusedValueError("a JAX array was donated before it was computed and read: numbers to come are copied in the call")
        return Fetched(np.asarray(value), None, own=False)

    def item(self, value: Any) -> Any:
        """See `Framework`."""
        return value.item()

    def _donated(self) -> bool:
        """Tell whether a step was given the memory of a number that was held: then those to come are copied."""
        with suppress(IndexError):    # another thread looked at the last one
            while not self._donates and self.arrived(self._numbers[0]):
                self._donates = self._numbers.popleft().is_deleted()
        return self._donates


def in_host(array: Any) -> bool:
    """Tell whether an array of JAX lies in the host's memory and is computed, so that NumPy looks at it without a copy and a wait.

    Not of bfloat16 and other extensions of NumPy's dtypes: to widen them takes a hundred times as long, and another thread can do that.
    """
    if array.dtype.kind == "V":
        return False
    devices = array.devices()
    return len(devices) == 1 and next(iter(devices)).platform == "cpu" and array.is_ready()


def _check_jax(value: Any) -> None:
    if _is(type(value), "jax.core", "Tracer"):
        raise RefusedValueError("a JAX tracer has no values: record outside the jitted function")
    if not isinstance(value.dtype, np.dtype):
        raise RefusedValueError("JAX's random keys hold no numbers; record jax.random.key_data() of them")
    if _is_complex(value.dtype):
        raise _complex(value)
    if value.is_deleted():
        raise RefusedValueError("a deleted (donated) JAX array has no values: record before it is donated")
    if not (value.is_fully_addressable or value.is_fully_replicated):
        raise RefusedValueError("a JAX array that spans other processes cannot be recorded; gather it first")


class _MindSpore:
    """MindSpore (and MXNet, whose method has the same name)."""

    def owns(self, kind: type) -> bool:
        """See `Framework`."""
        return hasattr(kind, "asnumpy")

    def hold(self, value: Any) -> None:
        """See `Framework`."""
        if "complex" in str(value.dtype).lower():
            raise _complex(value)

    def arrived(self, held: Any) -> bool:
        """See `Framework`."""
        return True

    def fetch(self, value: Any) -> Fetched:
        """See `Framework`."""
        if str(value.dtype).lower() == "bfloat16":
            return Fetched(value.float().asnumpy(), "bfloat16", own=False)
        return Fetched(value.asnumpy(), None, own=False)

    def item(self, value: Any) -> Any:
        """See `Framework`."""
        return self.fetch(value).array.item()


def _is(kind: type, module: str, name: str) -> bool:
    return issubclass(kind, loaded(module, name))


@functools.cache
def _is_complex(dtype: Any) -> bool:
    return "complex" in str(dtype)


def _complex(value: Any) -> RefusedValueError:
    return RefusedValueError(f"a tensor of {value.dtype} cannot be recorded; {ALLOWED}. Record its real and imaginary part apart.")


JAX = _Jax()

_FRAMEWORKS: tuple[Framework, ...] = (_Torch(), JAX, _MindSpore())
_OWNERS: dict[type, Framework | None] = {}


def framework_of(value: Any) -> Framework | None:
    """Find whose tensor it is; None: of none of them."""
    kind = type(value)
    if kind not in _OWNERS:
        _OWNERS[kind] = next((framework for framework in _FRAMEWORKS if framework.owns(kind)), None)
    return _OWNERS[kind]
