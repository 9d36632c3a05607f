"""The real viewers, run in their own environments on a directory."""

from __future__ import annotations

import itertools
import json
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from summarykit import Run

TRIES, PATIENCE_SECS = 3, 120.0
OUT_OF_TIME = 3


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


def ask(python: Path, script: Path, directory: Path, *args: str, timeout: float = 600) -> Verdict:
    """Run one of the reader clients; arguments are the script's own options."""
    done = subprocess.run(
        [str(python), str(script), str(directory), *args], capture_output=True, text=True, timeout=timeout, stdin=subprocess.DEVNULL
    )
    return Verdict(done.returncode, json.loads(done.stdout) if done.stdout.strip() else {}, done.stderr)


def mindinsight(python: Path, script: Path, directory: Path, *args: str) -> Verdict:
    """What MindInsight shows. It calls a run loaded before it has taken in the last event: where that is missing, it is asked again.

    A run that it finds damaged it may never take in whole, so then not for long.
    """
    end = time.monotonic() + PATIENCE_SECS
    for tries in itertools.count(1):
        verdict = ask(python, script, directory, *args)
        jobs = verdict.document.get("train_jobs", {}).items()
        if verdict.status != OUT_OF_TIME and all(_taken_in(Run(directory / name), job["plugins"]) for name, job in jobs):
            break
        if tries >= TRIES and (verdict.status or time.monotonic() > end):
            break
    return verdict


def _taken_in(run: Run, plugins: dict[str, Any]) -> bool:
    """The last point of each tag is shown, and as many landscapes as there are."""
    tags = run.tags()
    landscapes = plugins.get("loss_landscape") or {"tags": []}
    return len(landscapes["tags"]) >= len(tags.get("landscape", ())) and all(
        plugins.get(kind, {}).get(f"{tag}/{kind}") and plugins[kind][f"{tag}/{kind}"][-1]["step"] == run.points(kind, tag)[-1].step
        for kind in ("scalar", "histogram", "image", "tensor")
        for tag in tags.get(kind, ())
    )


def once(shown: Callable[[dict[str, Any]], Any], ask: Callable[[], Verdict], seconds: float = 200) -> dict[str, Any]:
    """The document of a viewer that shows this; the last one, where it never does.

    MindInsight reads graphs and lineage beside everything else, after a run counts as loaded: who asks too early sees none.
    """
    end = time.monotonic() + seconds
    while True:
        document = ask().expect_sound()
        if shown(document) or time.monotonic() > end:
            return document


def with_graphs(document: dict[str, Any]) -> bool:
    """Every run has its graph."""
    return all("graph" in job["plugins"] for job in document["train_jobs"].values())


def with_lineage(*runs: str) -> Callable[[dict[str, Any]], bool]:
    """These runs have their lineage."""
    return lambda document: all(document["lineage"].get(run, {}).get("model_lineage") for run in runs)
