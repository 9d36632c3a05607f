"""How far a step moves the parameters: scalars ``<name>/update_ratio``."""

from __future__ import annotations

from typing import Any

from summarykit.collectors.network import in_parts, named_parameters
from summarykit.collectors.norms import norm
from summarykit.collectors.parameter import chosen
from summarykit.collectors.part import Part, Sink
from summarykit.training.context import CallbackParams


class UpdateRatio(Part):
    """The norm of a parameter's change over its norm before: around 1e-3 is healthy.

    Of the parameters that ``histogram_regular`` chooses. They are copied before a step that is due, on their device.
    Of what is sharded there is none: each process holds a part of it.
    """

    key = "collect_update_ratio"
    default = False

    def __init__(self, *args: Any) -> None:
        """See ``Part``."""
        super().__init__(*args)
        self._before: tuple[int, dict[str, Any]] = (-1, {})
        self._in_parts: frozenset[str] = frozenset()

    def begin(self, params: CallbackParams, sink: Sink) -> None:
        """Look of what it cannot be told."""
        self._in_parts = in_parts(params.get("network"))

    def prepare(self, params: CallbackParams) -> None:
        """Copy them before the step."""
        found = chosen(named_parameters(params.get("network")), self.settings)
        self._before = params["cur_step_num"], {name: _copy(value) for name, value in found}

    def collect(self, params: CallbackParams, sink: Sink) -> None:
        """Collect the ratios; of a last step that nobody foresaw there are none."""
        (step, before), self._before = self._before, (-1, {})
        if step != params["cur_step_num"]:
            return
        for name, value in named_parameters(params.get("network")):
            if name in before:
                moved, size = self._norm(name, _plain(value) - before[name]), self._norm(name, before[name])
                if moved is not None:
                    sink.add("scalar", f"{name}/update_ratio", moved / (size + 1e-12))

    def _norm(self, name: str, value: Any) -> Any:
        found = None if name in self._in_parts else norm([value])
        if found is None:
            self.notices.once("update ratio", "%s is sharded: of what is, no update_ratio is recorded", name)
        return found


def _plain(value: Any) -> Any:
    return value.detach() if hasattr(value, "detach") else value


def _copy(value: Any) -> Any:
    return _plain(value).clone() if hasattr(value, "detach") else value.copy()
