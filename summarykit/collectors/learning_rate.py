"""The learning rate of every optimizer and parameter group, without importing their framework."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import Any

from summarykit.collectors.part import Part, Sink
from summarykit.training.context import CallbackParams

NAMES = ("learning_rate", "lr")


class LearningRate(Part):
    """Scalar ``learning_rate``; where there are several, ``learning_rate/<name or number>``.

    It is read before the step, so that it is the rate of this step even if a scheduler moves on within it. Where a loop's
    last step turns out only afterwards to be the last, it is read then.
    """

    key = "collect_learning_rate"

    def __init__(self, *args: Any) -> None:
        """See ``Part``."""
        super().__init__(*args)
        self._prepared: tuple[int, list[tuple[str, Any]]] = (-1, [])

    def prepare(self, params: CallbackParams) -> None:
        """Read the rates of the step about to run."""
        self._prepared = params.cur_step_num, self._read(params)

    def collect(self, params: CallbackParams, sink: Sink) -> None:
        """Collect the rates of this step."""
        step, found = self._prepared
        for name, rate in found if step == params.cur_step_num else self._read(params):
            sink.add("scalar", "/".join(filter(None, ("learning_rate", name))), rate)

    def _read(self, params: CallbackParams) -> list[tuple[str, Any]]:
        optimizer = params.get("optimizer")
        found = list(rates(optimizer, max(0, params.cur_step_num - 1)))
        if optimizer is not None and not found:
            plain = f"an optimizer of type {type(optimizer).__name__}: no param_groups, get_lr(), learning_rate or lr"
            self.notices.once("rate", "no learning rate in %s", getattr(optimizer, "without_rate", plain))
        return found


def rates(optimizer: Any, updates: int) -> Iterator[tuple[str, Any]]:
    """Give the learning rates with their names ("" where there is one).

    Args:
        optimizer: one with ``param_groups`` (PyTorch), ``get_lr()`` (MindSpore), ``learning_rate`` or ``lr`` (Keras and many
            more: a number, a variable, or a schedule that is called with ``updates``); a mapping with such a key; a list,
            tuple or mapping of optimizers.
        updates: optimizer updates done so far.
    """
    if isinstance(optimizer, Mapping):
        own = [optimizer[name] for name in NAMES if name in optimizer]
        yield from _numbered(_now(own[0], updates)) if own else _named(optimizer, updates)
    elif isinstance(optimizer, (list, tuple)):
        yield from _named({str(number): one for number, one in enumerate(optimizer)}, updates)
    elif isinstance(groups := getattr(optimizer, "param_groups", None), list):
        yield from _groups(groups)
    elif callable(get := getattr(optimizer, "get_lr", None)):
        yield from _numbered(get())
    else:
        known = (getattr(optimizer, name, None) for name in NAMES)    # one that is there is asked for once: to look may take long
        rate = next((each for each in known if each is not None), None)
        yield from () if rate is None else _numbered(_now(rate, updates))


def _named(optimizers: Mapping[str, Any], updates: int) -> Iterator[tuple[str, Any]]:
    for name, optimizer in optimizers.items():
        for group, rate in rates(optimizer, updates):
            yield "/".join(filter(None, (str(name), group))), rate


def _groups(groups: list[dict[str, Any]]) -> Iterator[tuple[str, Any]]:
    for number, group in enumerate(groups):
        if "lr" in group:
            yield "" if len(groups) == 1 else str(group.get("name", number)), group["lr"]


def _numbered(rate: Any) -> Iterator[tuple[str, Any]]:
    """One rate, or MindSpore's tuple with one for each group."""
    if not isinstance(rate, (list, tuple)):
        yield "", rate
    else:
        yield from ((str(number), one) for number, one in enumerate(rate))


def _now(rate: Any, updates: int) -> Any:
    """A schedule's rate for the coming update."""
    if not callable(rate):
        return rate
    return rate(updates) if inspect.signature(rate).parameters else rate()
