"""What was run: commit and differences, command line, versions of Python and of the imported packages, machine. No environment."""

from __future__ import annotations

import os
import platform
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version  # not in the thread: a child forked meanwhile would find it locked for ever
from pathlib import Path
from typing import Any

from summarykit.clock import Process
from summarykit.collectors import git
from summarykit.kinds import secrets
from summarykit.training.triggers import NEVER, Place, Trigger


def code_version() -> dict[str, Any]:
    """Tell it.

    Returns:
        ``commit``, ``branch``, ``dirty``, ``diff``, ``not_compared`` (see ``git.version``), ``command`` (as typed, without what looks like
        a secret), ``directory``, ``python``, ``packages`` (name -> version), ``host``, ``platform``.
    """
    return {
        **git.version(_places()),
        "command": secrets.command(sys.orig_argv),
        "directory": os.getcwd(),
        "python": platform.python_version(),
        "packages": packages(),
        "host": Process.current().host,
        "platform": platform.platform(),
    }


def packages() -> dict[str, str]:
    """Versions of the packages that are imported, the standard library left out."""
    names = {name for name in list(sys.modules) if "." not in name and not name.startswith("_")} - sys.stdlib_module_names
    found = {name: _version(name) for name in sorted(names)}
    return {name: version for name, version in found.items() if version}


def _version(name: str) -> str | None:
    """As the module says; where it says nothing, as it was installed."""
    module = sys.modules.get(name)
    told = getattr(module, "__dict__", {}).get("__version__")    # a module's own __getattr__ might import more
    if isinstance(told, str):
        return told
    if getattr(module, "__spec__", None) is None:
        return None
    with suppress(PackageNotFoundError, ValueError):
        return version(name)
    return None


def _places() -> Iterator[Path]:
    """Where the code may lie: beside the script, else where the process is."""
    script = getattr(sys.modules.get("__main__"), "__file__", None)
    if script:
        yield Path(script).resolve().parent
    yield Path.cwd()


class Survey(Trigger):
    """Finds it out in a thread of its own; as a trigger it is due as long as that is done and was not taken."""

    def __init__(self) -> None:
        """Prepare; ``start`` begins."""
        self._found: dict[str, Any] | None = None
        self._taken = False
        self._thread = threading.Thread(target=self._run, name="summarykit-code-version", daemon=True)

    def start(self) -> Survey:
        """Begin; gives itself."""
        with suppress(RuntimeError):    # the interpreter is ending
            self._thread.start()
        return self

    def fires(self, now: Place, previous: Place | None, final: bool) -> bool:
        """See `Trigger.fires`."""
        return self._found is not None

    def sleeps_until(self, step: int) -> int:
        """See `Trigger.sleeps_until`."""
        return NEVER if self._taken else step + 1

    def take(self, patience: float = 0.0) -> dict[str, Any] | None:
        """What was found, once; None where it is not there (after so many seconds), or was taken."""
        if patience and self._thread.ident is not None:
            self._thread.join(patience)
        found, self._found = self._found, None
        self._taken |= found is not None
        return found

    def _run(self) -> None:
        try:
            self._found = code_version()
        except Exception:  # noqa: BLE001  whatever it is, it must not end in the middle of somebody's training log
            self._found = {"commit": None}
