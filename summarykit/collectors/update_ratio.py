"""How far a step moves the parameters: scalars ``<name>/update_ratio``."""

from __future__ import annotations

from typing import Any

from summarykit.collectors.network import named_parameters
from summarykit.collectors.norms import norm
from summarykit.collectors.parameter import chosen
from summarykit.collectors.part import Part, Sink
from summarykit.training.context import CallbackParams


class UpdateRatio(Part):
    """The norm of a parameter's change over its norm before: around 1e-3 is healthy.

    Of the parameters that ``histogram_regular`` chooses. They are copied before a step that is due, on their device.
    """

    key = "collect_update_ratio"
    default = False

    def __init__(self, *args: Any) -> None:
        """See ``Part``."""
        super().__init__(*args)
        self._before: tuple[int, dict[str, Any]] = (-1, {})

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
                moved, size = norm([_plain(value) - before[name]]), norm([before[name]])
                if moved is not None:
                    sink.add("scalar", f"{name}/update_ratio", moved / (size + 1e-12))


def _plain(value: Any) -> Any:
    return value.detach() if hasattr(value, "detach") else value


def _copy(value: Any) -> Any:
    return _plain(value).clone() if hasattr(value, "detach") else value.copy()
