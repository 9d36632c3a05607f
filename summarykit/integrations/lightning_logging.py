"""What the loggers of Lightning's two packages share. Nothing of Lightning is imported here."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from summarykit.summary.writer import SummaryWriter


class Logging:
    """Writes what Lightning logs into ``<save_dir>/<name>/version_<k>``; comes before Lightning's ``Logger`` among the bases.

    It has the arguments and properties of Lightning's ``TensorBoardLogger``. The step is the number of optimizer updates completed, one
    more than Lightning counts (but after the training, in a test, Lightning itself counts all: its step is one more than those completed);
    a step of your own (``logger.log_metrics(..., step=7)``) stays as it is. Only rank 0 writes.
    """

    rank_zero_only: Any
    """Lightning's function of that name; its attribute ``rank`` is this process's."""

    def __init__(
        self,
        save_dir: str | os.PathLike[str],
        name: str | None = "lightning_logs",
        version: int | str | None = None,
        log_graph: bool = True,
        default_hp_metric: bool = False,
        prefix: str = "",
        sub_dir: str | os.PathLike[str] | None = None,
        **options: Any,
    ) -> None:
        """Choose the directory; it is made with the first value.

        Args:
            save_dir: where all experiments lie; ``~`` is the home directory.
            name: of the experiment; "" or None: none.
            version: number or name of the run; None: the next number that is free.
            log_graph: whether the graph is recorded, of a module that has an ``example_input_array``.
            default_hp_metric: whether settings that come without a metric are given one, ``hp_metric``: -1.
            prefix: of all names, with a ``-`` behind it.
            sub_dir: below the run's directory, for its files.
            **options: of ``summarykit.SummaryWriter``; both viewers' files are written unless ``formats`` says otherwise.

        Raises:
            TypeError: an unknown option, or one of a wrong type.
            ValueError: an option out of range.
        """
        super().__init__()
        self._save_dir, self._name, self._version = os.path.expanduser(save_dir), name or "", version
        self._draws, self._default_hp_metric, self._sub_dir = log_graph, default_hp_metric, sub_dir or ""
        self._prefix = f"{prefix}-" if prefix else ""
        self._options = {"formats": ("mindspore", "tensorboard"), **options}
        SummaryWriter(self._save_dir, write_to_disk=False, **self._options)    # which checks the options: the training is too late for it
        self._writer: SummaryWriter | None = None
        self._epoch_told = 0    # the step that it was last recorded with

    @property
    def name(self) -> str:
        """Name of the experiment."""
        return self._name

    @property
    def version(self) -> int | str:
        """Number or name of the run."""
        if self._version is None:
            taken = [int(path.name[8:]) for path in Path(self.root_dir).glob("version_*") if path.name[8:].isdigit()]
            self._version = max(taken, default=-1) + 1
        return self._version

    @property
    def save_dir(self) -> str:
        """Where all experiments lie."""
        return self._save_dir

    @property
    def root_dir(self) -> str:
        """Where the runs of this experiment lie."""
        return os.path.join(self._save_dir, self._name)

    @property
    def log_dir(self) -> str:
        """Where this run lies."""
        version = self.version if isinstance(self.version, str) else f"version_{self.version}"
        return os.path.join(self.root_dir, version, self._sub_dir) if self._sub_dir else os.path.join(self.root_dir, version)

    @property
    def experiment(self) -> SummaryWriter:
        """The writer, for whatever else is to be recorded: ``logger.experiment.add_image(...)``."""
        if self._writer is None:
            first = not getattr(self.rank_zero_only, "rank", 0)
            self._writer = SummaryWriter(self.log_dir, write_to_disk=first, **self._options)
        return self._writer

    def log_metrics(self, metrics: Mapping[str, Any], step: int | None = None) -> None:
        """Record numbers of one step; with ``epoch`` among them, as Lightning puts it there, the step is Lightning's count."""
        if "epoch" in metrics and step is not None:
            step += 1
            if step == self._epoch_told:
                metrics = {name: value for name, value in metrics.items() if name != "epoch"}
            self._epoch_told = step
        self.experiment.add_scalars_dict(self._prefixed(metrics), step)

    def log_hyperparams(self, params: Any = None, metrics: Mapping[str, Any] | float | None = None, step: int | None = None) -> None:
        """Record the settings of the run, and the metrics that runs are compared by.

        Args:
            params: a mapping or a ``Namespace``.
            metrics: numbers by name, or the one that is called ``hp_metric``; recorded as scalars.
            step: of the metrics; None: 0.
        """
        settings = vars(params) if isinstance(params, Namespace) else dict(params or {})
        if metrics is None:
            metrics = {"hp_metric": -1} if self._default_hp_metric and settings else {}
        named = self._prefixed(metrics if isinstance(metrics, Mapping) else {"hp_metric": metrics})
        if settings:
            self.experiment.add_hparams(settings, named, global_step=step)
        elif named:
            self.experiment.add_scalars_dict(named, step)

    def log_graph(self, model: Any, input_array: Any = None) -> None:
        """Record the graph of the model, called with ``input_array`` or its own ``example_input_array``."""
        example = getattr(model, "example_input_array", None) if input_array is None else input_array
        if self._draws:
            self.experiment.add_graph(model, example)

    def finalize(self, status: str) -> None:
        """Close the files; what is logged later goes into new ones."""
        if self._writer:
            self._writer.close()

    def _prefixed(self, metrics: Mapping[str, Any]) -> dict[str, Any]:
        return {f"{self._prefix}{name}": value for name, value in metrics.items()}
