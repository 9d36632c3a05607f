"""Accelerate: a tracker.

::

    from summarykit.integrations.accelerate import SummaryTracker

    accelerator = Accelerator(log_with=SummaryTracker("digits", "./runs"))
    accelerator.init_trackers("digits", config={"lr": 0.1})

or, after ``summarykit.integrations.accelerate.register()``, by ``Accelerator(log_with="summarykit", project_dir="./runs")``. ``watch``,
of PyTorch, works beside it: ``watch(model, optimizer, SummaryCollector("./summary"))`` with what ``accelerator.prepare`` gave.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from accelerate.tracking import LOGGER_TYPE_TO_CLASS, GeneralTracker, on_main_process, register_tracker_class

from summarykit.collectors.reported import at_hand, flatten, is_array
from summarykit.integrations.torch import SummaryCollector, watch
from summarykit.summary.writer import SummaryWriter

__all__ = ["SummaryCollector", "SummaryTracker", "register", "watch"]


class SummaryTracker(GeneralTracker):
    """Writes what ``accelerator.log`` is given into ``<logging_dir>/<run_name>``; only the main process does.

    Numbers and tensors of one element are recorded as scalars, other arrays and tensors as tensors, texts as texts, nested mappings by
    names joined with ``/``. Tensors on a device are taken as they are: nothing waits for it.
    """

    name = "summarykit"
    requires_logging_directory = True
    main_process_only = True

    def __init__(self, run_name: str, logging_dir: str | os.PathLike[str] | None = ".", **options: Any) -> None:
        """Choose the directory; it is made when Accelerate starts its trackers.

        Args:
            run_name: the run's name.
            logging_dir: where all runs lie.
            **options: of ``summarykit.SummaryWriter``; both viewers' files are written unless ``formats`` says otherwise.

        Raises:
            TypeError: an unknown option, or one of a wrong type.
            ValueError: an option out of range.
        """
        super().__init__()
        self.run_name = run_name
        self.logging_dir = os.path.join(logging_dir or ".", run_name)
        self._options = {"formats": ("mindspore", "tensorboard"), **options}
        self._writer: SummaryWriter | None = None
        SummaryWriter(self.logging_dir, **{**self._options, "write_to_disk": False})    # which checks the options

    @property
    def tracker(self) -> SummaryWriter | None:
        """The writer, for whatever else is to be recorded; None before the start and in other processes than the main one."""
        return self._writer

    @on_main_process
    def start(self) -> None:
        """Make the directory."""
        self._writer = SummaryWriter(self.logging_dir, **self._options)

    @on_main_process
    def store_init_configuration(self, values: dict[str, Any]) -> None:
        """Record the settings of the run."""
        self._writing().add_hparams(values, {})

    @on_main_process
    def log(self, values: Mapping[str, Any], step: int | None = None, **kwargs: Any) -> None:
        """Record values of one step.

        Args:
            values: by name.
            step: optimizer updates completed; None: 0.
            **kwargs: ``walltime``: seconds since the epoch.
        """
        leaves = {tag: at_hand(value) for tag, value in flatten(values)}
        for tag in [tag for tag, value in leaves.items() if is_array(value)]:
            self._writing().add_tensor(tag, leaves.pop(tag), step, **kwargs)
        self._writing().add_scalars_dict(leaves, step, **kwargs)

    @on_main_process
    def log_images(self, values: Mapping[str, Any], step: int | None = None, *, dataformats: str | None = None, **kwargs: Any) -> None:
        """Record pictures of one step, each batch of them as one: a grid of up to 8 columns.

        Args:
            values: by name a batch: an array or tensor, or a list of pictures of one size: arrays, tensors or Pillow's.
            step: optimizer updates completed; None: 0.
            dataformats: the meaning of the axes, such as ``"NHWC"``; None: as the shape tells.
            **kwargs: ``walltime``: seconds since the epoch.
        """
        for tag, images in values.items():
            self._writing().add_images(tag, images, step, dataformats=dataformats, **kwargs)

    @on_main_process
    def finish(self) -> None:
        """Close the files."""
        self._writing().close()

    def _writing(self) -> SummaryWriter:
        if self._writer is None:
            raise RuntimeError("SummaryTracker: accelerator.init_trackers(...) comes first")
        return self._writer


def register() -> None:
    """Make ``Accelerator(log_with="summarykit")`` known; call it before the Accelerator is made."""
    if SummaryTracker.name not in LOGGER_TYPE_TO_CLASS:
        register_tracker_class(SummaryTracker)
