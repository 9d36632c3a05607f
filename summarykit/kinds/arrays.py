"""Any user's value as a NumPy array, and frozen: nothing of it changes after the call."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np

from summarykit.errors import RefusedValueError
from summarykit.kinds.dtypes import ALLOWED, little_endian, name_of, native
from summarykit.kinds.frameworks import Framework, framework_of
from summarykit.kinds.memory import copied
from summarykit.shapes import Array

T = TypeVar("T")


class Typed:
    """An array with the name of the dtype it came with.

    Attributes:
        data: bool, integers or floats of NumPy; an extension dtype's values (bfloat16 …) in the smallest dtype that holds them.
        dtype: name of the recorded dtype: ``"bfloat16"`` where ``data`` is float32.
        own: True where nobody else can change ``data``.
    """

    __slots__ = ("data", "dtype", "own")

    def __init__(self, data: Array, dtype: str, own: bool = False) -> None:
        self.data = data
        self.dtype = dtype
        self.own = own

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        return self.data.nbytes

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes."""
        return self.data.shape

    def get(self) -> Typed:
        """Give itself: the same call that fetches a `Held` value."""
        return self


class Later:
    """A frozen value that is not in host memory yet.

    No ABC: each value is asked whether it is one, and that would cost 1 µs.
    """

    __slots__ = ()

    @property
    def nbytes(self) -> int:
        """Memory that it takes, in bytes."""
        raise NotImplementedError

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes."""
        raise NotImplementedError

    def get(self) -> Typed:
        """Bring it to host memory; may wait.

        Raises:
            RefusedValueError: it cannot be had.
        """
        raise NotImplementedError

    @property
    def settled(self) -> bool:
        """Whether `get` need not wait any more."""
        return False

    def let_go(self) -> None:
        """Nobody will get it: work that waits to be done for it need not be."""

    def __reduce__(self) -> Any:
        """Another process gets the values; they cannot be waited for here."""
        if not self.settled:
            raise TypeError("this value is not in host memory yet")
        return Typed.get, (self.get(),)


def let_go(frozen: Iterable[Any]) -> None:
    """Tell frozen values, of whatever kind, that nobody will get them."""
    for each in frozen:
        if isinstance(each, Later):
            each.let_go()


class Held(Later):
    """A value that lies on a device, or is on its way from there: the training thread does not wait; `get` does.

    Attributes:
        value: what the framework holds of it, not shared with the user.
        framework: knows how to fetch it.
    """

    __slots__ = ("framework", "value")

    def __init__(self, value: Any, framework: Framework) -> None:
        self.value = value
        self.framework = framework

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        return int(self.value.nbytes)

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes."""
        return tuple(self.value.shape)

    @property
    def settled(self) -> bool:
        """Whether the device has computed it."""
        return self.framework.arrived(self.value)

    def get(self) -> Typed:
        """Bring it to host memory; waits for the device.

        Raises:
            RefusedValueError: the framework could not.
        """
        return _fetch(self.value, self.framework)


Frozen = Typed | Later

_PLAIN = {dtype: (little_endian(dtype), dtype.name) for dtype in map(np.dtype, "?bBhHiIlLqQefd")}
"""NumPy's own dtypes, in this machine's byte order: what each is in ours, and its name."""


def typed(value: Any) -> Typed:
    """Give any value as an array, which may share the user's memory; waits for a device.

    Args:
        value: Python or NumPy numbers, nested lists or tuples of them, arrays of every real dtype, tensors of torch, JAX and
            MindSpore, anything with ``__array__``, the buffer protocol or DLPack. Masked entries of a float array count as NaN.

    Raises:
        RefusedValueError: complex, object, text, time or structured data, ragged lists, anything else.
    """
    if isinstance(value, np.ndarray):
        return _from_numpy(value)
    framework = framework_of(value)
    if framework is not None:
        return _fetch(value, framework)
    return _from_numpy(guarded(value, _asarray))


def freeze(value: Any) -> Frozen:
    """Take what `typed` takes, so that later changes by the user are not seen: one copy, C-contiguous and little-endian.

    What lies on a device is copied there, or on its way to the host; nobody waits for it.

    Raises:
        RefusedValueError: as `typed`.
    """
    plain = _PLAIN.get(value.dtype) if value.__class__ is np.ndarray else None
    if plain is not None:    # the short way of what follows: a model has many arrays
        return Typed(copied(value, plain[0]), plain[1], True)
    if isinstance(value, (Later, Typed)):
        return value
    held = hold(value)
    if held is not None:
        return held
    found = typed(value)
    dtype = little_endian(found.data.dtype)
    return Typed(np.asarray(found.data, dtype, order="C") if found.own else copied(found.data, dtype), found.dtype, own=True)


def hold(value: Any) -> Held | None:
    """Keep a value on its device if reading it would wait for that device; None: it is in host memory.

    Raises:
        RefusedValueError: it can be told now that its values cannot be recorded.
    """
    framework = framework_of(value)
    if framework is None:
        return None
    kept = guarded(value, framework.hold)
    return None if kept is None else Held(kept, framework)


def guarded(value: Any, ask: Callable[[Any], T]) -> T:
    """Ask foreign code about a value: whatever it raises costs that value only.

    Raises:
        RefusedValueError: from the error of that code.
    """
    try:
        return ask(value)
    except RefusedValueError:
        raise
    except Exception as error:  # __array__, __float__ and frameworks may raise anything
        raise RefusedValueError(f"{described(value)} could not be read: {type(error).__name__}: {error}") from error


def described(value: Any) -> str:
    """Name a value in a message: its type and, where it has them, dtype and shape."""
    kind = type(value)
    name = f"a value of type {kind.__module__}.{kind.__qualname__}".replace("builtins.", "")
    return " of ".join(filter(None, [name, _attribute(value, "dtype"), _attribute(value, "shape")]))


def _attribute(value: Any, name: str) -> str:
    try:
        return f"{name} {getattr(value, name)}"
    except Exception:  # noqa: BLE001 - there is none, or a property that raises: the message does without
        return ""


def _fetch(value: Any, framework: Framework) -> Typed:
    array, name, own = guarded(value, framework.fetch)
    data = native(array)
    return Typed(data, name or name_of(array.dtype), own or data is not array)


def _from_numpy(array: Array) -> Typed:
    data = native(array)
    if type(data) is not np.ndarray and isinstance(data, np.ma.MaskedArray):    # numpy.ma itself takes 7 ms to be imported
        data = _unmasked(data)
    return Typed(data, name_of(array.dtype), own=data is not array and not np.may_share_memory(data, array))


def _unmasked(array: Any) -> Array:
    if not np.ma.is_masked(array):
        return np.asarray(array.data)
    if array.dtype.kind != "f":
        raise RefusedValueError(f"masked entries of dtype {array.dtype} have no value; record .compressed() or .filled(value)")
    return np.asarray(array.filled(np.nan))


def _asarray(value: Any) -> Array:
    if isinstance(value, (list, tuple)):
        return _from_sequence(value)
    if isinstance(value, (bool, int, float, range, np.generic)) or _speaks_array(value):
        return np.asarray(value)
    if hasattr(value, "__dlpack__"):
        return np.from_dlpack(value)
    raise RefusedValueError(f"{described(value)} is neither a number nor an array; {ALLOWED}")


def _speaks_array(value: Any) -> bool:
    if hasattr(value, "__array__") or hasattr(value, "__array_interface__"):
        return True
    return isinstance(value, memoryview) or type(value).__module__ == "array"


def _from_sequence(values: list[Any] | tuple[Any, ...]) -> Array:
    """Numbers go to NumPy at once; of tensors each is asked by itself, since NumPy would walk them element by element."""
    first: Any = values
    while isinstance(first, (list, tuple)) and first:
        first = first[0]
    if isinstance(first, (list, tuple)) or framework_of(first) is None:
        return np.asarray(values)
    return np.stack([typed(value).data for value in values])
