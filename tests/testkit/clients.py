"""The real viewers, run in their own environments on a directory."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Verdict:
    """What a viewer said: exit status (0 all read, 1 damage, 2 nothing readable, 3 out of time), its document and messages."""

    status: int
    document: dict[str, Any] = field(repr=False)
    stderr: str

    def expect_sound(self) -> dict[str, Any]:
        """The document, once the viewer found nothing to complain about."""
        assert self.status == 0, f"the viewer ended with {self.status}: {self.stderr[-3000:]}"
        assert not self.document.get("damage"), self.document["damage"]
        assert not self.document.get("errors"), self.document["errors"]
        return self.document


def ask(python: Path, script: Path, directory: Path, *args: str, timeout: float = 240) -> Verdict:
    """Run one of the reader clients; arguments are the script's own options."""
    done = subprocess.run(
        [str(python), str(script), str(directory), *args], capture_output=True, text=True, timeout=timeout, stdin=subprocess.DEVNULL
    )
    return Verdict(done.returncode, json.loads(done.stdout) if done.stdout.strip() else {}, done.stderr)
