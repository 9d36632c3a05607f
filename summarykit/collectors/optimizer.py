"""What steers the optimizer, its learning rate aside: ``optimizer/<name>``; on request how large its state is."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from summarykit.collectors.learning_rate import NAMES
from summarykit.collectors.network import in_parts
from summarykit.collectors.norms import norm
from summarykit.collectors.part import Part, Sink
from summarykit.training.context import CallbackParams

ATTRIBUTES = ("momentum", "weight_decay", "beta_1", "beta_2", "rho", "epsilon", "clipnorm", "clipvalue", "global_clipnorm", "loss_scale")
"""What optimizers without groups (Keras, MindSpore, your own) call these."""


class Optimizer(Part):
    """Momentum, weight decay and whatever other numbers steer it; of a pair such as ``betas`` each; of several groups each."""

    key = "collect_optimizer"

    def collect(self, params: CallbackParams, sink: Sink) -> None:
        """Collect the numbers that the next update will use."""
        for name, value in hyper_parameters(params.get("optimizer")):
            sink.add("scalar", f"optimizer/{name}", value)


class OptimizerState(Part):
    """The norm of each kind of state that a PyTorch optimizer keeps (``exp_avg``, ``momentum_buffer`` ...), wherever it is kept.

    Of a sharded one there is none. An optimizer that deals its state out among the processes and does not say so (ZeRO 1 and 2) has that
    of what this process keeps.
    """

    key = "collect_optimizer_state"
    default = False

    def __init__(self, *args: Any) -> None:
        """See ``Part``."""
        super().__init__(*args)
        self._in_parts = False

    def begin(self, params: CallbackParams, sink: Sink) -> None:
        """Look whether it can be told at all."""
        self._in_parts = bool(in_parts(params.get("network")))

    def collect(self, params: CallbackParams, sink: Sink) -> None:
        """Collect the norms after the step."""
        for name, arrays in states(params.get("optimizer")).items():
            found = None if self._in_parts else norm(arrays)
            if found is None:
                self.notices.once(name, "optimizer state %r is sharded: its norm is not recorded", name)
            else:
                sink.add("scalar", f"optimizer/{name}_norm", found)


def hyper_parameters(optimizer: Any) -> Iterator[tuple[str, Any]]:
    """Give the numbers that steer an optimizer, by name.

    Args:
        optimizer: one with ``param_groups`` (PyTorch: ``momentum``, or of several groups ``momentum/<name or number>``); a mapping; an
            object with some of ``ATTRIBUTES``; a list, tuple or mapping of optimizers, whose names or numbers come first.
    """
    if isinstance(optimizer, (list, tuple)):
        optimizer = {str(number): one for number, one in enumerate(optimizer)}
    if isinstance(groups := getattr(optimizer, "param_groups", None), list):
        yield from _of_groups(groups)
    elif isinstance(optimizer, Mapping):
        for name, value in optimizer.items():
            yield from _numbers({name: value}) if _is_plain(value) else _below(name, hyper_parameters(value))
    else:
        yield from _numbers({name: getattr(optimizer, name, None) for name in ATTRIBUTES})


def states(optimizer: Any) -> dict[str, list[Any]]:
    """What an optimizer of PyTorch keeps for its parameters: name -> arrays; the steps it counts are left out."""
    found: dict[str, list[Any]] = {}
    kept = getattr(optimizer, "state", None)
    for state in kept.values() if isinstance(kept, Mapping) else ():
        for name, value in state.items() if isinstance(state, Mapping) else ():
            if name != "step" and getattr(value, "shape", ()):
                found.setdefault(str(name), []).append(value)
    return found


def _of_groups(groups: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, Any]]:
    groups = list(groups)
    for number, group in enumerate(groups):
        for name, value in _numbers({name: value for name, value in group.items() if name not in ("params", "initial_lr")}):
            yield name if len(groups) == 1 else f"{name}/{group.get('name', number)}", value


def _numbers(named: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Numbers but switches and learning rates; of a pair both."""
    for name, value in named.items():
        if name in NAMES:
            continue
        if isinstance(value, (list, tuple)):
            yield from _numbers({f"{name}/{number}": one for number, one in enumerate(value)})
        elif value.__class__ is not bool and isinstance(value, numbers.Real):
            yield name, value


def _is_plain(value: Any) -> bool:
    return isinstance(value, (numbers.Real, str)) or (isinstance(value, (list, tuple)) and all(map(_is_plain, value)))


def _below(name: Any, found: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    return ((f"{name}/{inner}", value) for inner, value in found)
