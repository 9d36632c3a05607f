"""What is imported when it is first used: optional packages, and the public names of a package."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

from summarykit.errors import MissingExtraError


def optional(module: str, *, extra: str, purpose: str) -> ModuleType:
    """Import an optional package.

    Args:
        module: its import name, such as ``"pandas"``.
        extra: the extra of this package that brings it.
        purpose: what it is needed for, as the subject of a sentence: ``"Run.to_pandas()"``.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(f"{purpose} needs {module}: pip install 'summarykit[{extra}]'") from error


def loaded(module: str, name: str) -> Any:
    """A class for ``isinstance``, of a module that is not imported for this: where nobody has done so, nothing is of that class.

    The same while a thread imports it and has not come so far: values of that class are not there yet.

    Args:
        module: such as ``"torch.nn"``; the module that its package has made by then, not an attribute of another one.
        name: of the class.
    """
    return getattr(sys.modules.get(module), name, ())


def names(package: str, homes: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """Make the ``__getattr__`` of a package (PEP 562): importing the package itself then costs next to nothing.

    Args:
        package: its ``__name__``.
        homes: module -> the names that come from it; the module's own name in the package is the module.
    """
    home = {name: module for module, its_names in homes.items() for name in its_names}

    def get(name: str) -> Any:
        """Import the module of a name, and keep what it stands for."""
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = importlib.import_module(home[name])
        value = module if home[name] == f"{package}.{name}" else getattr(module, name)
        setattr(sys.modules[package], name, value)
        return value

    return get
