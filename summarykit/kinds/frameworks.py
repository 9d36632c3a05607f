"""Tensors of torch, JAX and MindSpore without importing them: whose value exists, that framework is imported already."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple, Protocol

import numpy as np

from summarykit.errors import RefusedValueError
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

    def owns(self, value: Any) -> bool:
        """Tell whether the value is one of its tensors."""

    def hold(self, value: Any) -> Any | None:
        """Give what to keep of a value that only a device has, so that nobody waits for it now; None: fetch it at once."""

    def fetch(self, value: Any) -> Fetched:
        """Bring the values to host memory; waits for the device."""


class _Torch:
    """PyTorch: detached, so that no graph is kept alive."""

    def owns(self, value: Any) -> bool:
        kind = getattr(sys.modules.get("torch"), "Tensor", None)
        return kind is not None and isinstance(value, kind)

    def hold(self, value: Any) -> Any | None:
        self._check(value)
        # The clone runs in the order of the device's stream: a later in-place change does not reach it.
        return None if value.device.type == "cpu" else value.detach().clone()

    def fetch(self, value: Any) -> Fetched:
        self._check(value)
        tensor = value.detach().cpu().resolve_neg()
        name = str(value.dtype).removeprefix("torch.")
        if name in ("bfloat16", "float8_e8m0fnu"):
            return Fetched(tensor.float().numpy(), name, own=True)
        if name.startswith("float8"):
            return Fetched(tensor.half().numpy(), name, own=True)
        return Fetched(tensor.numpy(), name, own=value.device.type != "cpu")

    def _check(self, value: Any) -> None:
        if str(value.layout) != "torch.strided":
            raise RefusedValueError(f"a torch tensor of layout {value.layout} cannot be recorded; record .to_dense() of it")
        if value.is_quantized:
            raise RefusedValueError(f"a quantized torch tensor ({value.dtype}) cannot be recorded; record .dequantize() of it")
        if value.device.type == "meta":
            raise RefusedValueError("a torch tensor on the meta device holds no values to record")
        if hasattr(value, "to_local"):
            raise RefusedValueError("a distributed torch tensor cannot be recorded; record .to_local() or .full_tensor() of it")


class _Jax:
    """JAX: immutable and computed asynchronously on every platform, the CPU included."""

    def owns(self, value: Any) -> bool:
        kind = getattr(sys.modules.get("jax"), "Array", None)
        return kind is not None and isinstance(value, kind)

    def hold(self, value: Any) -> Any:
        if isinstance(value, sys.modules["jax"].core.Tracer):
            raise RefusedValueError("a JAX tracer has no values: record outside the jitted function")
        if value.is_deleted():
            raise RefusedValueError("a deleted (donated) JAX array has no values: record before it is donated")
        if not (value.is_fully_addressable or value.is_fully_replicated):
            raise RefusedValueError("a JAX array that spans other processes cannot be recorded; gather it first")
        # A train step may donate an array's memory, so it is copied on its device; nobody donates a loss.
        return value if value.ndim == 0 else value.copy()

    def fetch(self, value: Any) -> Fetched:
        return Fetched(np.asarray(value), None, own=True)


class _MindSpore:
    """MindSpore (and MXNet, whose method has the same name)."""

    def owns(self, value: Any) -> bool:
        return hasattr(type(value), "asnumpy")

    def hold(self, value: Any) -> None:
        return None

    def fetch(self, value: Any) -> Fetched:
        if str(value.dtype).lower() == "bfloat16":
            return Fetched(value.float().asnumpy(), "bfloat16", own=False)
        return Fetched(value.asnumpy(), None, own=False)


_FRAMEWORKS: tuple[Framework, ...] = (_Torch(), _Jax(), _MindSpore())


def framework_of(value: Any) -> Framework | None:
    """Find whose tensor it is; None: of none of them."""
    return next((framework for framework in _FRAMEWORKS if framework.owns(value)), None)
