"""What is chosen of a network's parameters, known from the last collected step as long as the network is the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from operator import attrgetter, is_
from typing import Any

from summarykit.collectors.network import named_gradients, named_parameters
from summarykit.lazy import loaded

Named = Iterable[tuple[str, Any]]

_TABLES: Callable[[Any], tuple[dict[str, Any], dict[str, Any]]] = attrgetter("_parameters", "_modules")


class Known:
    """Parameters by name, those that are chosen.

    To walk to them takes the training thread 50 to 200 µs: caches are cold, as the step that is collected leaves them. To look whether
    the modules of PyTorch on that way hold what they held takes a fraction of it. Networks of others are walked through each time.
    """

    def __init__(self, choose: Callable[[Named], Named]) -> None:
        """Take what chooses: it is given all by name, in order, and takes no more than it needs."""
        self._choose = choose
        self.forget()

    def of(self, network: Any) -> list[tuple[str, Any]]:
        """Give what is chosen of a network, see ``named_parameters``."""
        if network is not self._network or not self._is_same(network):
            return self._walked(network)
        self._short = False
        found = list(self._choose(self.values(self._again())))
        return self._walked(network) if self._short else found

    def forget(self) -> None:
        """Let go of the network."""
        self._network: Any = self    # None is a network without parameters
        self._passed: list[tuple[str, Any]] = []
        self._whole = self._short = False
        self._most: int | None = None
        self._modules: list[Any] = []
        self._held: list[Any] = []

    def tell(self, network: Any) -> Named:
        """Give all, of any network."""
        return named_parameters(network)

    def values(self, parameters: Named) -> Named:
        """Give what is there of parameters of PyTorch."""
        return parameters

    def _walked(self, network: Any) -> list[tuple[str, Any]]:
        self.forget()
        if not _is_plain(network):
            return list(self._choose(self.tell(network)))
        found = list(self._choose(self.values(self._passing(network))))
        modules = [*self._passed_modules(network)]
        if all(isinstance(table, dict) for table in chain.from_iterable(map(_TABLES, modules))):    # TorchScript makes others at each look
            self._network, self._modules = network, modules
            self._held = self._holding()
        return found

    def _passing(self, network: Any) -> Iterator[tuple[str, Any]]:
        for each in network.named_parameters():
            self._passed.append(each)
            yield each
        self._whole = True

    def _passed_modules(self, network: Any) -> Iterator[Any]:
        """Give those that decide what comes up to the last parameter passed; and, if not all, how many entries of the last of them."""
        last = self if self._whole else self._passed[-1][1]    # None may be in the place of a parameter
        for module in network.modules():
            yield module
            for self._most, value in enumerate(module._parameters.values(), 1):
                if value is last:
                    return
        self._most = None

    def _again(self) -> Iterator[tuple[str, Any]]:
        yield from self._passed
        self._short = not self._whole

    def _is_same(self, network: Any) -> bool:
        held = self._holding()
        return len(held) == len(self._held) and all(map(is_, held, self._held)) and "gradients" not in vars(network)

    def _holding(self) -> list[Any]:
        """Give how much the modules hold, what, and by what names; of the last of them what was passed: every look misses the caches."""
        *tables, parameters, modules = chain.from_iterable(map(_TABLES, self._modules))
        most = self._most
        last = [islice(each, most) for each in (parameters, parameters.values(), *([modules, modules.values()] if most is None else []))]
        return [*map(len, tables), *chain(*tables, *map(dict.values, tables), *last)]


class KnownGradients(Known):
    """The same of gradients."""

    def tell(self, network: Any) -> Named:
        """Give all, of any network."""
        return named_gradients(network)

    def values(self, parameters: Named) -> Named:
        """Give those that are not None."""
        return ((name, gradient) for name, parameter in parameters if (gradient := parameter.grad) is not None)


def _is_plain(network: Any) -> bool:
    """Tell whether a network is a module of PyTorch that leaves it to its modules what its parameters and gradients are."""
    plain = loaded("torch.nn", "Module")
    return isinstance(network, plain) and not any(hasattr(network, name) for name in ("trainable_variables", "gradients")) and all(
        getattr(getattr(network, way), "__func__", None) is getattr(plain, way) for way in ("named_parameters", "named_modules", "modules")
    )
