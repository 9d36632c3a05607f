"""What the tests of the frameworks share: a callback that writes down what it is told, and what was recorded, as plain numbers."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from summarykit import Run
from summarykit.training.callback import HOOKS, Callback


class Journal(Callback):
    """Writes down every hook with the step: ``"train_step_end 3"``; the fields of the last step and how it was left are kept."""

    def __init__(self, stop_at: int = 0) -> None:
        self.calls: list[str] = []
        self.fields: dict[str, Any] = {}
        self.left: list[type[BaseException] | None] = []
        self.stop_at = stop_at

    def __exit__(self, kind, error, trace):
        self.left.append(kind)

    def note(self, what: str, context: Any) -> None:
        params = context.original_args()
        self.fields.update(params)
        self.calls.append(f"{what} {params.get('cur_step_num')}")
        if what == "train_step_end" and params["cur_step_num"] == self.stop_at:
            context.request_stop()

    def text(self) -> str:
        """The calls in one line, runs of one hook made short."""
        return ", ".join(self.calls)


for hook in HOOKS:
    setattr(Journal, hook, lambda self, context, hook=hook: self.note(hook.removeprefix("on_"), context))


def scalars(directory: Path | str) -> dict[str, dict[int, float]]:
    """Tag -> step -> value, of all files below a directory; no step may be there twice."""
    run = Run(directory, raw=True)
    return {tag: _once(tag, run.scalars(tag)) for tag in run.tags().get("scalar", [])}


def _once(tag: str, series: Any) -> dict[int, float]:
    steps = [int(step) for step in series.step]
    twice = [step for step, count in Counter(steps).items() if count > 1]
    assert not twice, f"{tag} is there more than once at the steps {twice}"
    return dict(zip(steps, map(float, series.value), strict=True))


def steps(directory: Path | str, kind: str, tag: str) -> list[int]:
    """The steps of a tag of any kind, all files together."""
    return [int(step) for step in Run(directory, raw=True).points(kind, tag).step]
