"""SummaryWriter: the class that users of TensorBoard know, from PyTorch and tensorboardX, without its traps."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import reduce
from time import time
from typing import Any

from summarykit.errors import RefusedValueError
from summarykit.formats.names import check_affix, clean_host
from summarykit.local import path_text
from summarykit.summary.data_calls import DataCalls
from summarykit.summary.earlier import EarlierRuns
from summarykit.summary.figures import together
from summarykit.summary.file_writer import FileWriter
from summarykit.summary.media_calls import MediaCalls
from summarykit.summary.nowhere import Nowhere
from summarykit.summary.scalar_calls import ScalarCalls
from summarykit.summary.steps import resumption
from summarykit.writing import Writer, WriterOptions
from summarykit.writing.options import as_tuple, check_choice, check_directory, check_integer, check_seconds, of_rank

CURVES = ("chart", "runs")

_LONGEST_PAUSE = 0.1    # seconds
_PASSED_ON = ("max_file_size", "on_full", "rank", "raise_exception", "fence", "num_process")


class SummaryWriter(ScalarCalls, DataCalls, MediaCalls):
    """Records values into TensorBoard's files, at about 0.15 µs a scalar; ``summarykit.Run`` reads them back.

    Example:
        >>> with SummaryWriter("runs/first") as writer:
        ...     writer.add_scalar("loss", 0.5, 1)

    In place of ``from torch.utils.tensorboard import SummaryWriter`` or ``from tensorboardX import SummaryWriter``: it has the methods and
    arguments of both. No value raises in the training loop: what cannot be recorded is dropped, counted in ``stats()`` and told once. It
    may be used from several threads and in forked children (which write files of their own), and can be pickled (the copy opens files of
    its own). A closed writer opens new files when it is used again.
    """

    def __init__(
        self,
        log_dir: str | os.PathLike[str] | None = None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int = 10,
        flush_secs: float = 120,
        filename_suffix: str = "",
        write_to_disk: bool = True,
        logdir: str | os.PathLike[str] | None = None,
        comet_config: Mapping[str, Any] | None = None,
        *,
        formats: Sequence[str] = ("tensorboard",),
        add_scalars_as: str = "chart",
        max_file_size: int | None = None,
        on_full: str = "block",
        raise_exception: bool = False,
        resume: int | None = None,
        rank: int = 0,
        fence: bool = True,
        num_process: int = 1,
    ) -> None:
        """Check the arguments and make the directory; files come with the first value.

        Args:
            log_dir: local directory for the files, made if it is absent; None: ``runs/<time>_<host><comment>``.
            comment: end of that default name.
            purge_step: the first step that will be recorded, where this run continues an earlier one in the same directory: viewers and
                reader then hide that one's points from this step on. So do the runs below it, when they are recorded into.
            max_queue: accepted for the peers' sake: the queue is longer, and bounded; see ``on_full``.
            flush_secs: seconds after which a recorded value is in the file, at most: 0.1, or less where this is less.
            filename_suffix: letters, digits, ``_``, ``.``, ``-`` that the files' names are to hold.
            write_to_disk: False records nothing.
            logdir: ``log_dir``, by the name that tensorboardX has for it.
            comet_config: accepted for tensorboardX's sake: nothing is sent anywhere.
            formats: which files to write: ``"tensorboard"``, ``"mindspore"`` (MindInsight) or both.
            add_scalars_as: ``add_scalars`` as one ``"chart"`` of this run, or as the peers do, each key in a run of its own: ``"runs"``.
            max_file_size: bytes after which recording goes on in a new file.
            on_full: when values come faster than they can be written: ``"block"`` waits up to 0.5 s for room before it drops, ``"drop"``
                drops at once.
            raise_exception: raise refused values in the call, and storage errors in the next one.
            resume: ``purge_step``, by the name that SummaryRecord has for it.
            rank: rank of this process in a distributed run: above 0 the files go into ``rank_<k>/`` below ``log_dir``.
            fence: see ``SummaryRecord``.
            num_process: worker processes for heavy values, as in `SummaryRecord`; 0: a thread does all.

        Raises:
            TypeError: an argument of the wrong type.
            ValueError: an argument out of range; the message names it and what is allowed.
            OSError: the directory cannot be made or written to.
        """
        check_choice("add_scalars_as", add_scalars_as, CURVES)
        check_seconds("flush_secs", flush_secs)
        rank = check_integer("rank", rank, 0)
        check_affix("filename_suffix", filename_suffix or "")
        chosen = path_text("log_dir", log_dir or logdir or default_directory(comment or ""))
        self.log_dir = of_rank(chosen, rank)
        self._base = check_directory("log_dir", chosen)    # the program may go elsewhere before there is a run below it
        self._arguments: dict[str, Any] = {
            "log_dir": chosen, "flush_secs": flush_secs, "filename_suffix": filename_suffix, "write_to_disk": write_to_disk,
            "formats": formats, "add_scalars_as": add_scalars_as, "max_file_size": max_file_size, "on_full": on_full,
            "raise_exception": raise_exception, "rank": rank, "fence": fence, "num_process": num_process,
        }  # fmt: skip
        self._charts, self._curves = {}, {}
        self._children: dict[str, SummaryWriter] = {}
        self._session: Mapping[str, Any] | None = None
        options = WriterOptions(
            directory=of_rank(self._base, rank),
            prefix=f"events{filename_suffix or ''}",
            formats=as_tuple(formats),
            flush_secs=min(flush_secs, _LONGEST_PAUSE),
            resume=resumption("purge_step" if resume is None else "resume", _one_of(purge_step, resume)),
            **{name: self._arguments[name] for name in _PASSED_ON},
        )
        if write_to_disk:
            options.make_directory()
        self._earlier = EarlierRuns(self._base, options.resume)
        super().__init__((Writer if write_to_disk else Nowhere)(options))

    def get_logdir(self) -> str:
        """The directory that the files are in, as it was given."""
        return self.log_dir

    @property
    def logdir(self) -> str:
        """The same, by the name that tensorboardX has for it."""
        return self.log_dir

    @property
    def file_writer(self) -> FileWriter:
        """For code that hands over TensorBoard's own messages: ``file_writer.add_summary(message)``."""
        return FileWriter(self.log_dir, self._record_shape, self.flush)

    def add_hparams(
        self,
        hparam_dict: Mapping[str, Any],
        metric_dict: Mapping[str, Any],
        hparam_domain_discrete: Mapping[str, Sequence[Any]] | str | None = None,
        run_name: str | int | None = None,
        global_step: int | None = None,
        name: str | None = None,
    ) -> None:
        """Record the settings of this run, for the page HPARAMS, and the metrics that runs are compared by.

        They go into the run itself. TensorBoard knows one set of settings a run: another one, and one with a ``run_name``, goes into a run
        below this one.

        Args:
            hparam_dict: settings of any type; of nested ones the names are joined by ``/``.
            metric_dict: tag -> number; recorded as scalars. Where it is empty, and there are no domains, TensorBoard
                compares by all scalars.
            hparam_domain_discrete: setting -> the values that it may have.
            run_name: a run of its own, by this name below the directory.
            global_step: step of the metrics; None: 0.
            name: ``run_name``, by the name that tensorboardX has for it.
        """
        if isinstance(hparam_domain_discrete, str):    # tensorboardX has the name in this place, then the step
            hparam_domain_discrete, name = None, hparam_domain_discrete
        if isinstance(run_name, int):
            global_step, run_name = run_name, None
        metrics = metric_dict if isinstance(metric_dict, Mapping) else {}
        options = {"metrics": list(metrics), "domains": hparam_domain_discrete}
        frozen = self._freeze("hparams", "hparams", hparam_dict, options)
        if frozen is None:
            return
        if run := self._run_of(frozen[1].values, run_name or name):
            run._record("hparams", "hparams", hparam_dict, 0, None, **options)
            run._record_numbers([str(tag) for tag in metrics], metrics.values(), global_step, None)

    def add_scalars(
        self, main_tag: str, tag_scalar_dict: Mapping[str, Any], global_step: int | None = None, walltime: float | None = None
    ) -> None:
        """Record numbers that belong into one chart.

        With ``add_scalars_as="chart"`` each is recorded under ``<main_tag>/<key>``, and TensorBoard's page CUSTOM SCALARS draws them in
        one chart: one file, one run. With ``"runs"`` each goes into a run of its own, as the peers do it, under ``main_tag``.

        Args:
            main_tag: title of the chart.
            tag_scalar_dict: key -> number.
            global_step: optimizer updates completed; None: 0.
            walltime: seconds since the epoch; None: now.
        """
        if self._arguments["add_scalars_as"] == "chart":
            super().add_scalars(main_tag, tag_scalar_dict, global_step, walltime)
            return
        if self._refuses("add_scalars", main_tag, tag_scalar_dict):
            return
        for key, value in tag_scalar_dict.items():
            if run := self._child(f"{str(main_tag).replace('/', '_')}_{key}"):
                run.add_scalar(main_tag, value, global_step, walltime)

    def flush(self, sync: bool = False) -> bool:
        """Wait until everything recorded is in the file.

        Args:
            sync: and on the disk (``fsync``), safe from a power failure.

        Returns:
            True where it is; False where writing fails at present, or nothing moved for 5 s.

        Raises:
            StorageError: writing failed since the last call, and ``raise_exception`` is set.
        """
        done = [writer.flush(sync) for writer in self._children.values()]
        return super().flush(sync) and all(done)

    def close(self, timeout: float = 5.0) -> None:
        """Flush and close the files; a later call opens new ones.

        Args:
            timeout: seconds to wait without any progress: where the storage hangs, closing goes on in the background.

        Raises:
            StorageError: writing failed since the last call, and ``raise_exception`` is set.
        """
        for writer in self._children.values():
            writer.close(timeout)
        super().close(timeout)

    def stats(self) -> dict[str, Any]:
        """What became of the values so far, as ``SummaryRecord.stats()`` tells it; runs below this one included."""
        return reduce(together, (writer.stats() for writer in self._children.values()), super().stats())

    def export_scalars_to_json(self, path: str | os.PathLike[str]) -> None:
        """Write all scalars that this writer recorded so far into a JSON file: ``{"<log_dir>/<tag>": [[time, step, value], ...]}``.

        Args:
            path: of the new file. NaN and infinities, which JSON does not have, become null.

        Raises:
            OSError: the file cannot be written.
        """
        import json  # most jobs export nothing

        from summarykit.summary.export import scalars_of

        self.flush()
        with open(path, "w") as file:
            file.write(json.dumps(scalars_of(self.stats()["files"], self.log_dir), allow_nan=False))

    def _run_of(self, settings: Mapping[str, Any], name: str | None) -> SummaryWriter | None:
        """The writer whose run these settings are of."""
        if name is None and self._session in (None, settings):
            self._session = settings
            return self
        return self._child(name or str(time()))

    def _child(self, name: str) -> SummaryWriter | None:
        """The writer of a run below this one; None, and a value is refused, where there cannot be one."""
        if name not in self._children:
            directory = os.path.join(self._base, name)
            try:
                resume = self._earlier.resume(of_rank(directory, self._arguments["rank"]))
                self._children[name] = type(self)(**{**self._arguments, "log_dir": directory, "resume": resume})
            except (ValueError, OSError) as error:
                self._refuse("run", name, RefusedValueError(f"it cannot be made: {error}"))
                return None
        return self._children[name]

    def __enter__(self) -> SummaryWriter:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (type(self), {**self._arguments, "log_dir": self._base, "resume": self._writer.options.resume}, self._earlier)


def _one_of(purge_step: int | None, resume: int | None) -> int | None:
    if purge_step is not None and resume is not None and purge_step != resume:
        raise ValueError(f"purge_step {purge_step!r} and resume {resume!r} are two names of one argument: give one of them")
    return purge_step if resume is None else resume


def _again(kind: type[SummaryWriter], arguments: dict[str, Any], earlier: EarlierRuns) -> SummaryWriter:
    """A copy. What has come in the way of the directory since is no reason to fail: none is made here, and writing is tried again."""
    writer = kind(**{**arguments, "write_to_disk": False})
    writer._earlier = earlier
    if arguments["write_to_disk"]:
        writer._arguments["write_to_disk"] = True
        writer._adopt(Writer(writer._writer.options))
    return writer


def default_directory(comment: str) -> str:
    """Where a writer writes that was given no directory: ``runs/<time>_<host><comment>``."""
    return os.path.join("runs", f"{datetime.now():%b%d_%H-%M-%S}_{clean_host(platform.node())}{comment}")
