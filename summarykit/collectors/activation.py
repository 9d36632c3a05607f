"""What modules of a network give: histogram ``<module>/activation`` and scalar ``<module>/zeros``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from summarykit.collectors.parameter import expression
from summarykit.collectors.part import Part, Sink
from summarykit.collectors.settings import Settings
from summarykit.kinds.uncompiled import uncompiled
from summarykit.lazy import loaded
from summarykit.ops import torch_batched
from summarykit.training.context import CallbackParams


class Activation(Part):
    """Outputs of the PyTorch modules whose names ``collect_activations`` matches from their beginning, and the share of zeros in them.

    Of a step that is due the first forward pass counts. The modules carry a hook within such steps only, from their beginning to that
    pass; a compiled module is compiled anew for it. Of TorchScript, and of a last step that nobody foresaw, there is nothing.
    """

    key = "collect_activations"
    default = None

    def __init__(self, *args: Any) -> None:
        """See ``Part``."""
        super().__init__(*args)
        self._sink: Sink | None = None
        self._hooks: dict[str, Any] = {}

    @classmethod
    def check(cls, value: Any) -> None:
        """Refuse what is neither None nor a regular expression."""
        expression(cls.key, value)

    @classmethod
    def wanted(cls, settings: Settings) -> bool:
        """True where there is an expression."""
        return settings.specified.get(cls.key) is not None

    def begin(self, params: CallbackParams, sink: Sink) -> None:
        """Keep the sink: outputs must be recorded when they come, before the next module changes them."""
        self._sink = sink

    def prepare(self, params: CallbackParams) -> None:
        """Put hooks on the modules."""
        self._remove()
        network = params.get("network")
        for name, module in self._chosen(network):
            self._hooks[name] = module.register_forward_hook(uncompiled(self._hook(name)))
        if network is not None and not self._hooks:
            message = "collect_activations %r matches no module of a network of type %s"
            self.notices.once("activations", message, self._pattern, type(network).__name__)

    def collect(self, params: CallbackParams, sink: Sink) -> None:
        """Take off the hooks of modules that were not called."""
        self._remove()

    def end(self) -> None:
        """Take off what an exception left."""
        self._remove()

    @property
    def _pattern(self) -> str:
        return str(self.settings.specified[self.key])

    def _chosen(self, network: Any) -> Iterator[tuple[str, Any]]:
        named = network.named_modules() if hasattr(network, "named_modules") else ()
        return ((name, module) for name, module in named if re.match(self._pattern, name) and _takes_hooks(module))

    def _hook(self, name: str) -> Callable[..., None]:
        def came(module: Any, inputs: Any, output: Any) -> None:
            """Take the first output, and look no further."""
            if name in self._hooks:
                self._hooks.pop(name).remove()
                self._try_to_add(name, output)

        return came

    def _try_to_add(self, name: str, output: Any) -> None:
        try:
            self._add(name, output)
        except Exception as error:  # noqa: BLE001 - this is called by the model itself, which goes on whatever comes
            self.notices.once(name, "activation of %r is not recorded: %s: %s", name, type(error).__name__, error)

    def _add(self, name: str, output: Any) -> None:
        outputs = output if isinstance(output, (list, tuple)) else [output]
        values = next((torch_batched.last(one).detach() for one in outputs if hasattr(one, "detach")), None)
        if self._sink is None or values is None:
            return
        self._sink.add("histogram", f"{name}/activation", values)
        self._sink.add("scalar", f"{name}/zeros", (values == 0).float().mean())

    def _remove(self) -> None:
        for hook in self._hooks.values():
            hook.remove()
        self._hooks.clear()


def _takes_hooks(module: Any) -> bool:
    """TorchScript refuses them."""
    return hasattr(module, "register_forward_hook") and not isinstance(module, loaded("torch.jit", "ScriptModule"))
