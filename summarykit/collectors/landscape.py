"""Weights at chosen steps or epochs, for landscapes: as a part of SummaryCollector, and as a callback of its own."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from summarykit.collectors.part import Part, Sink
from summarykit.collectors.settings import Settings
from summarykit.landscape import metadata
from summarykit.landscape.metadata import TrainMetadata
from summarykit.landscape.saving import CheckpointSaver
from summarykit.landscape.settings import LandscapeSettings
from summarykit.notices import Notices, logger
from summarykit.training.callback import Callback
from summarykit.training.context import CallbackParams, RunContext
from summarykit.training.triggers import at
from summarykit.writing.options import check_directory


class Keeper:
    """Stores the weights where training comes to one of the wanted steps or epochs."""

    def __init__(self, summary_dir: Path, settings: LandscapeSettings, notices: Notices, fence: bool) -> None:
        """Keep to these settings; nothing is made before training begins."""
        self._directory, self._settings, self._notices, self._fence = summary_dir, settings, notices, fence
        self._wanted = frozenset(settings.wanted)
        self._saver: CheckpointSaver | None = None

    def begin(self, params: CallbackParams) -> None:
        """Training begins; where it continues an earlier one, that one's checkpoints are kept."""
        network = params.get("network")
        if network is None:
            self._notices.once("landscape network", "landscape: no network was given to the loop; nothing is stored")
            return
        told = TrainMetadata(self._settings, self._earlier(params), int(params.get("batch_num") or 1))
        try:
            self._saver = CheckpointSaver(self._directory, told, network, fence=self._fence, notices=self._notices)
        except TypeError as error:
            self._notices.once("landscape network", "landscape: nothing is stored: %s", error)

    def step_end(self, params: CallbackParams) -> None:
        """A step has ended."""
        self._reached("step", params.cur_step_num)

    def epoch_end(self, params: CallbackParams) -> None:
        """An epoch has ended."""
        self._reached("epoch", params.get("cur_epoch_num", 0))

    def stats(self) -> dict[str, Any]:
        """What became of the checkpoints; empty before the first run."""
        return self._saver.stats() if self._saver else {}

    def close(self) -> None:
        """Wait until everything is stored."""
        if self._saver is not None:
            self._saver.close()

    def _reached(self, unit: str, number: int) -> None:
        if self._saver is not None and unit == self._settings.unit and number in self._wanted:
            self._saver.save(number)

    def _earlier(self, params: CallbackParams) -> Mapping[int, str]:
        if not params.get("initial_step"):
            return {}
        try:
            return metadata.read(self._directory / metadata.DIRECTORY).files
        except (OSError, ValueError) as error:
            logger.info("landscape: there are no earlier checkpoints: %s", error)
            return {}


class Landscape(Part):
    """Stores what ``collect_landscape`` asks for."""

    key = "collect_landscape"
    default = None

    def __init__(self, settings: Settings, notices: Notices) -> None:
        """See `Part`."""
        super().__init__(settings, notices)
        wanted = LandscapeSettings.of(settings.specified[self.key])
        self.trigger = at(steps=wanted.wanted)
        self._keeper = Keeper(settings.summary_dir, wanted, notices, settings.fence)

    @classmethod
    def check(cls, value: Any) -> None:
        """Refuse what is neither a dict that `LandscapeSettings` takes, None nor False."""
        if value is None or value is False:
            return
        if not isinstance(value, dict):
            raise TypeError(f"collect_landscape: a dict, None or False is needed, got {value!r}")
        LandscapeSettings.of(value)

    def begin(self, params: CallbackParams, sink: Sink) -> None:
        """See `Part.begin`."""
        self._keeper.begin(params)

    def collect(self, params: CallbackParams, sink: Sink) -> None:
        """Store the weights, if it is one of the steps: the last one of a run is asked for in any case."""
        self._keeper.step_end(params)

    def epoch_end(self, params: CallbackParams) -> None:
        """See `Part.epoch_end`."""
        self._keeper.epoch_end(params)

    def end(self) -> None:
        """See `Part.end`."""
        self._keeper.close()


class LandscapeCollector(Callback):
    """A callback that stores weights for `SummaryLandscape`, and does nothing else.

    ``SummaryCollector(..., collect_specified_data={"collect_landscape": {...}})`` does the same beside what it collects.
    """

    def __init__(
        self, summary_dir: str | os.PathLike[str], intervals: list[list[int]], *, unit: str = "step", landscape_size: int = 40,
        num_samples: int = 2048, create_landscape: Mapping[str, bool] | None = None, max_bytes: int | None = None, fence: bool = True,
        raise_exception: bool = False,
    ) -> None:  # fmt: skip
        """Check the arguments.

        Args:
            summary_dir: the run's directory; checkpoints go to ``ckpt_dir`` in it.
            intervals: the steps (or epochs) to store, a list for each landscape: ascending, three or more.
            unit: ``"step"`` or ``"epoch"``.
            landscape_size: points along each axis, 3 to 256.
            num_samples: samples that a loss will be averaged over.
            create_landscape: ``{"train": ..., "result": ...}``: which landscapes to draw, both by default.
            max_bytes: bytes that all checkpoints may take.
            fence: let the copies of parameters of torch on the CPU run until the next optimizer step; see ``SummaryRecord``.
            raise_exception: let exceptions through, except those of the disk.

        Raises:
            TypeError, ValueError: the message names the argument, what came and what is allowed.
        """
        directory = check_directory("summary_dir", summary_dir)
        given = {"intervals": intervals, "unit": unit, "landscape_size": landscape_size, "num_samples": num_samples}
        settings = LandscapeSettings.of(given | {"create_landscape": create_landscape or {}, "max_bytes": max_bytes})
        self.fail_safe = not raise_exception
        self._keeper = Keeper(Path(directory), settings, Notices(), fence)
        self._depth = 0

    def stats(self) -> dict[str, Any]:
        """What became of the checkpoints: ``stored``, ``bytes``, ``lost`` (by reason); empty before the first run."""
        return self._keeper.stats()

    def __enter__(self) -> LandscapeCollector:
        self._depth += 1
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._keeper.close()

    def on_train_begin(self, run_context: RunContext) -> None:
        """See ``Callback``."""
        self._keeper.begin(run_context.original_args())

    def on_train_step_end(self, run_context: RunContext) -> None:
        """See ``Callback``."""
        self._keeper.step_end(run_context.original_args())

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        """See ``Callback``."""
        self._keeper.epoch_end(run_context.original_args())
