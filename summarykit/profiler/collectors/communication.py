"""Collectives of ``torch.distributed``: when each rank arrives, and when it goes on."""

from __future__ import annotations

import functools
import inspect
import sys
from threading import get_ident
from time import perf_counter_ns
from typing import Any

from summarykit.profiler.collectors.instrument import Hooked, Instrument
from summarykit.profiler.names import NAMES
from summarykit.profiler.phases import COMMUNICATION
from summarykit.profiler.recording import Category

OPERATIONS = (
    *("all_reduce", "broadcast", "reduce", "all_gather", "gather", "scatter", "reduce_scatter", "all_to_all", "barrier"),
    *("all_gather_into_tensor", "reduce_scatter_tensor", "all_to_all_single", "monitored_barrier"),
    *("all_gather_object", "broadcast_object_list", "gather_object", "scatter_object_list"),
)

COLLECTIVES = {"sequence": "int", "group": "int", "operation": "name", "start": "int", "end": "int", "bytes": "int"}
"""Columns: the how-manieth of its group (from 0, counted since the first window was opened: the same on all ranks), the number of
the group, its name, arrival and departure in ns, bytes of this rank's tensor (-1 where there is none)."""


class CommunicationInstrument(Instrument):
    """Wraps the functions of ``torch.distributed``, and sees when the last gradient of a ``DistributedDataParallel`` is ready."""

    def __init__(self) -> None:
        super().__init__()
        self._sequence: dict[int, int] = {}
        self._inside = False
        self._handles: list[Any] = []
        self._models: dict[int, Any] = {}
        self._arrived = 0

    def install(self) -> None:
        """See ``Instrument``."""
        distributed = sys.modules["torch.distributed"]
        parts = (distributed, sys.modules["torch.distributed.distributed_c10d"])
        for name in OPERATIONS:
            for part in parts:
                self.patches.replace(part, name, functools.partial(self._collective, name))
        self._watch_models()

    def remove(self) -> None:
        """See ``Instrument``."""
        super().remove()
        for handle in self._handles:
            handle.remove()
        self._handles, self._models = [], {}

    def _collective(self, name: str, original: Any) -> Any:
        number = NAMES.number(name, Category.COMMUNICATION)
        parameters = list(inspect.signature(original).parameters)
        place = parameters.index("group") if "group" in parameters else len(parameters)

        @functools.wraps(original)
        def call(*args: Any, **kwargs: Any) -> Any:
            """The operation, measured."""
            if self._inside:    # an operation made of others
                return original(*args, **kwargs)
            self._inside = True
            begun = perf_counter_ns()
            try:
                return original(*args, **kwargs)
            finally:
                end = perf_counter_ns()
                self._inside = False
                self.span((COMMUNICATION, get_ident(), begun, end))
                if not kwargs.get("async_op"):    # when that is over is told to nobody
                    group = args[place] if place < len(args) else kwargs.get("group")
                    self._record(number, group, args[0] if args else None, begun, end)

        return call

    def _record(self, number: int, group: Any, tensor: Any, begun: int, end: int) -> None:
        identity = _identity(group)
        sequence = self._sequence[identity] = self._sequence.get(identity, -1) + 1
        size = tensor.numel() * tensor.element_size() if hasattr(tensor, "element_size") else -1
        self.row("collectives", COLLECTIVES, (sequence, identity, number, begun, end, size))

    def _watch_models(self) -> None:
        """A wrapped model reduces its gradients within ``backward``, in C++: seen are its last gradient and the end of that call."""
        parallel = sys.modules.get("torch.nn.parallel.distributed")
        if parallel is not None:
            self.patches.replace(parallel.DistributedDataParallel, "forward", self._forward)
            self.patches.replace(sys.modules["torch"].autograd, "backward", self._backward)

    def _forward(self, original: Any) -> Any:
        @functools.wraps(original)
        def forward(model: Any, *args: Any, **kwargs: Any) -> Any:
            """Watch the model, then what it did before."""
            if id(model) not in self._models:
                self._models[id(model)] = model
                self._watch(model)
            return original(model, *args, **kwargs)

        return forward

    def _watch(self, model: Any) -> None:
        """The first parameter gets its gradient last, as a rule."""
        first: Any = next((parameter for parameter in model.parameters() if parameter.requires_grad), None)
        if hasattr(first, "register_post_accumulate_grad_hook"):    # since PyTorch 2.1

            def ready(_: Any) -> None:
                """A gradient is there: the last such moment counts."""
                if model.require_backward_grad_sync:
                    self._arrived = perf_counter_ns()

            self._handles.append(first.register_post_accumulate_grad_hook(ready))

    def _backward(self, original: Any) -> Any:
        number = NAMES.number("gradients", Category.COMMUNICATION)

        @functools.wraps(original)
        def backward(*args: Any, **kwargs: Any) -> Any:
            """The backward pass, and how long it waited at its end."""
            self._arrived = 0
            try:
                return original(*args, **kwargs)
            finally:
                if self._arrived:
                    end = perf_counter_ns()
                    self.span((COMMUNICATION, get_ident(), self._arrived, end))
                    self._record(number, None, None, self._arrived, end)

        return backward


def _identity(group: Any) -> int:
    """A number of a group that all its ranks agree on: its smallest rank and its size; 0 for all ranks."""
    if group is None:
        return 0
    distributed: Any = sys.modules["torch.distributed"]
    ranks = distributed.get_process_group_ranks(group)
    return 0 if len(ranks) == distributed.get_world_size() else ranks[0] << 32 | len(ranks)


class Communication(Hooked):
    """Phase ``communication`` and the table ``collectives``."""

    key = "communication"
    instrument = CommunicationInstrument()

    @classmethod
    def useful(cls) -> bool:
        """See ``Collector``."""
        distributed: Any = sys.modules.get("torch.distributed")
        return distributed is not None and distributed.is_available() and distributed.is_initialized()
