"""Tensors inside ``torch.func``: under ``vmap`` one stands for those of all examples, and tells nothing once that is over."""

from __future__ import annotations

import sys
from typing import Any


def last(value: Any) -> Any:
    """Of what ``vmap`` hides, the last example's, as a loop would leave it; anything else as it is."""
    functorch: Any = sys.modules.get("torch._C._functorch")
    while functorch and isinstance(value, sys.modules["torch"].Tensor) and functorch.is_functorch_wrapped_tensor(value):
        axis = functorch.maybe_get_bdim(value)
        value = functorch.get_unwrapped(value)
        if axis >= 0:
            value = value.select(axis, -1)
    return value
