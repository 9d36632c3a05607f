"""Optional packages: imported when used, with the command that installs them in the error."""

from __future__ import annotations

import importlib
from types import ModuleType

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
