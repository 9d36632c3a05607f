"""SummaryRecord: values by kind and tag, then ``record(step)``; MindSpore's class, without its traps."""

from __future__ import annotations

import os
import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from time import time
from typing import Any

from summarykit.kinds import KINDS
from summarykit.kinds.arrays import let_go
from summarykit.kinds.memory import Lending
from summarykit.kinds.roll import Roll, parameters
from summarykit.summary.recorder import FENCED, Recorder
from summarykit.summary.steps import integer, resumption
from summarykit.summary.tags import check_tag
from summarykit.writing import Writer, WriterOptions, lifecycle
from summarykit.writing.flat import flatten
from summarykit.writing.job import Batch, batch
from summarykit.writing.options import as_tuple, check_choice, check_directory, check_integer, of_rank

MODES = ("train", "eval")


class _Pending(threading.local):
    """What one thread has added and not recorded yet."""

    def __init__(self) -> None:
        self.scalars: dict[str, float] = {}
        self.snapshots: defaultdict[str, dict[str, Any]] = defaultdict(dict)    # by kind and tag
        self.rolls: dict[str, Roll] = {}    # of the parameters that a fence guards, by kind
        self.refused = 0

    def discard(self, plugin: str, name: str) -> bool:
        """Forget a value that is about to be replaced; True where there was one."""
        there = plugin in self.rolls and self.rolls[plugin].replace(name)
        replaced = self.snapshots.get(plugin, {}).pop(name, None)
        let_go([replaced])
        return (plugin == "scalar" and self.scalars.pop(name, None) is not None) or replaced is not None or there

    def kinds(self) -> set[str]:
        """The kinds of which there may be values."""
        return {"scalar", *self.snapshots, *self.rolls}

    def take(self, step: int, wall_time: float, lending: Lending) -> list[tuple[str, Batch]]:
        """What this step has but scalars, by kind; it is no more pending."""
        fresh: defaultdict[str, dict[str, Any]] = defaultdict(dict)    # before the two change places: a signal handler may record in a call
        snapshots, self.snapshots = self.snapshots, fresh
        found = [(plugin, batch(KINDS.get(plugin), values, step, wall_time)) for plugin, values in snapshots.items()]
        for plugin, roll in self.rolls.items():
            if rolled := roll.close():
                found.append((plugin, Batch(KINDS.get(plugin), *rolled, step, wall_time)))
        for plugin in FENCED:
            if plugin in snapshots and (beside := parameters(snapshots[plugin])):    # they belong to the roll from the next step on
                last = self.rolls.get(plugin)
                longer = Roll({**(last.known() if last else {}), **beside}, lending)
                if last is None or not last.begun:    # else by a signal handler, just now
                    self.rolls[plugin] = longer
        return found


class SummaryRecord(Recorder):
    """Records values into summary files that TensorBoard, MindInsight and ``summarykit.Run`` open.

    Example:
        >>> with SummaryRecord("./summary") as record:
        ...     record.add_value("scalar", "loss", 0.5)
        ...     record.record(step=1)
        True

    Any number of records may live at a time, also in one directory; each has files of its own. A record may be used from several
    threads (each records what it added itself) and in forked children (which write files of their own), and can be pickled (the copy
    opens files of its own). Children and copies add to the run of the original; where that continues an earlier one
    (``resume``), they do so together.
    """

    def __init__(
        self,
        log_dir: str | os.PathLike[str],
        file_prefix: str = "events",
        file_suffix: str = "_MS",
        num_process: int = 1,
        network: object = None,
        max_file_size: int | None = None,
        raise_exception: bool = False,
        export_options: dict[str, Any] | None = None,
        *,
        formats: Sequence[str] = ("mindspore", "tensorboard"),
        flush_secs: float = 0.1,
        on_full: str = "block",
        resume: int | None = None,
        rank: int = 0,
        fence: bool = True,
    ) -> None:
        """Check the arguments and make the directory; files come with the first value.

        Args:
            log_dir: local directory for the files; made if it is absent.
            file_prefix: first part of the files' names: letters, digits, ``_``, ``.``, ``-``.
            file_suffix: last part of the MindSpore files' names.
            num_process: worker processes for heavy values, 0 or more. They are started (on Linux) once there is much to do; before
                that, and where this is 0 or no process can be had, a thread of this process does the work.
            network: accepted for MindSpore's sake; its graph is not recorded.
            max_file_size: bytes after which recording goes on in a new file; a single value that is larger gets a file of its own.
            raise_exception: raise refused values at ``add_value``, and storage errors at the next ``record``, ``flush`` or ``close``. By
                default training goes on, and ``stats()`` counts what was dropped and why.
            export_options: ``{"tensor_format": "npy"}`` writes tensors as ``.npy`` files too.
            formats: which files to write: ``"mindspore"`` (MindInsight), ``"tensorboard"`` (TensorBoard) or both.
            flush_secs: seconds after which a recorded value is in the file, at most.
            on_full: when values come faster than they can be written: ``"block"`` waits up to 0.5 s for room before it drops, ``"drop"``
                drops at once.
            resume: the first step that will be recorded, where this run continues an earlier one in the same directory: viewers and
                reader then hide that one's points from this step on.
            rank: rank of this process in a distributed run: above 0 the files go into ``rank_<k>/`` below ``log_dir``.
            fence: histograms and tensors of parameters on the CPU that a PyTorch optimizer updates are copied beside the next forward
                and backward pass, and at the latest before any optimizer's next step. Where something else changes parameters in between
                (averaged weights swapped in through ``.data``, a NumPy view), say False: then they are copied in the call.

        Raises:
            TypeError: an argument of the wrong type.
            ValueError: an argument out of range; the message names it and what is allowed.
            OSError: the directory cannot be made or written to.
        """
        num_process = check_integer("num_process", num_process, 0)
        directory = check_directory("log_dir", log_dir)
        rank = check_integer("rank", rank, 0)
        options = WriterOptions(
            directory=of_rank(directory, rank),
            prefix=file_prefix,
            suffix=file_suffix,
            formats=as_tuple(formats),
            max_file_size=max_file_size,
            flush_secs=flush_secs,
            on_full=on_full,
            resume=resumption("resume", resume),
            rank=rank,
            raise_exception=raise_exception,
            export=_exports(export_options),
            fence=fence,
            num_process=num_process,
        )
        options.make_directory()
        self._begin(options)

    def _begin(self, options: WriterOptions) -> None:
        super().__init__(Writer(options))
        self._pending = _Pending()
        self._tags: set[str] = set()
        self._mode = MODES[0]
        lifecycle.track(self)

    def add_value(self, plugin: str, name: str, value: Any, **options: Any) -> None:
        """Add a value to the step that the next ``record()`` of this thread closes. The value may change afterwards: it is frozen here.

        Args:
            plugin: the kind: ``"scalar"``, ``"histogram"``, ``"image"``, ``"tensor"``, ``"text"``, ``"audio"`` or another of
                ``summarykit.kinds.KINDS``.
            name: the tag: any text but the empty one, up to 65,535 UTF-8 bytes, without NUL. Of two values of one kind and tag the last
                wins.
            value: a number, or anything array-like: NumPy, PyTorch, JAX, MindSpore, nested lists. See ``summarykit.kinds`` for what
                each kind takes. What cannot be recorded is dropped, counted with its reason and told once.
            **options: the kind's own, such as ``dataformat="NHWC"`` of an image.

        Raises:
            ValueError: unknown ``plugin``, or a ``name`` that is not allowed.
            TypeError: ``name`` is not a str.
            RefusedValueError: the value cannot be recorded, and ``raise_exception`` is set.
        """
        if plugin == "scalar" and value.__class__ is float and name in self._tags:
            pending = self._pending.scalars
            if name not in pending:
                pending[name] = value
                return
        elif plugin in FENCED and not options:
            roll = self._pending.rolls.get(plugin)
            if roll is not None and roll.add(name, value):
                return
        self._add(plugin, name, value, options)

    def record(self, step: int, train_network: object = None, plugin_filter: Callable[[str], bool] | None = None) -> bool:
        """Close a step: hand everything that this thread added to the writer. Returns at once.

        Args:
            step: the number of optimizer updates completed: an integer of any type, in ``[-2**63, 2**63)``.
            train_network: accepted for MindSpore's sake.
            plugin_filter: keep only values whose plugin's name it accepts; the others are discarded.

        Returns:
            True iff every value added since the last call was accepted. What is lost later is counted in ``stats()``.

        Raises:
            TypeError: ``step`` is not an integer, or ``plugin_filter`` no function.
            ValueError: ``step`` is out of range.
            StorageError: writing failed since the last call, and ``raise_exception`` is set.
        """
        now = time()
        if step.__class__ is not int or not -(2**63) <= step < 2**63:
            step = integer(step)
        if plugin_filter is not None and not callable(plugin_filter):
            raise TypeError(f"plugin_filter must be a function that is given a plugin's name, got {plugin_filter!r}")
        pending = self._pending
        unwanted = () if plugin_filter is None else [plugin for plugin in pending.kinds() if not plugin_filter(plugin)]    # it may raise
        scalars, refused = pending.scalars, pending.refused
        if "scalar" in unwanted:
            scalars = {}
        pending.scalars, pending.refused = {}, 0
        batches = []
        if pending.snapshots or pending.rolls:
            for plugin, each in pending.take(step, now, self._lending):
                if plugin in unwanted:
                    each.snapshots.let_go()
                else:
                    batches.append(each)
        flat = flatten(scalars, scalars.values(), step, now)
        accepted = self._writer.put(flat, batches) if flat or batches else not self._writer.closed
        self._raise_failure()
        return accepted and not refused

    def set_mode(self, mode: str) -> None:
        """Say whether ``"train"`` or ``"eval"`` is going on."""
        check_choice("mode", mode, MODES)
        self._mode = mode

    @property
    def mode(self) -> str:
        """What is going on: ``"train"`` or ``"eval"``."""
        return self._mode

    @property
    def log_dir(self) -> str:
        """The directory, absolute, that the files are in."""
        return self.options.directory

    @property
    def options(self) -> WriterOptions:
        """How it writes, as it was asked to."""
        return self._writer.options

    def after_fork(self) -> None:
        """In a forked child: forget what the parent's threads added."""
        self._pending = _Pending()

    def __reduce__(self) -> tuple[Any, ...]:
        return again, (self.options,)

    def _add(self, plugin: str, name: str, value: Any, options: dict[str, Any]) -> None:
        if name not in self._tags:
            check_tag("name", name)
            self._tags.add(name)
        frozen = self._freeze(plugin, name, value, options)
        if frozen is None:
            return
        snapshot = frozen[1]
        pending, number = self._pending, isinstance(snapshot, float)
        simple = not number and plugin != "scalar" and plugin not in pending.rolls
        if simple and pending.snapshots[plugin].setdefault(name, snapshot) is snapshot:
            return
        if pending.discard(plugin, name):
            self._writer.stats.say(("twice", plugin, name), "%s %r was added twice before one record(): the last value wins", plugin, name)
        if number:
            pending.scalars[name] = snapshot
        else:
            pending.snapshots[plugin][name] = snapshot

    def _refuse(self, plugin: str, tag: str, error: Exception) -> None:
        self._pending.refused += 1
        super()._refuse(plugin, tag, error)


def again(options: WriterOptions) -> SummaryRecord:
    """A record like one that could be made. What has come in the way of its directory since ends no training: writing is tried again."""
    record = SummaryRecord.__new__(SummaryRecord)
    record._begin(options)
    return record


def _exports(options: dict[str, Any] | None) -> bool:
    if options is None:
        return False
    if not isinstance(options, dict):
        raise TypeError(f"export_options must be a dict or None, got {options!r}")
    if set(options) - {"tensor_format"} or options.get("tensor_format") not in ("npy", None):
        raise ValueError(f"export_options must be {{'tensor_format': 'npy'}} or None, got {options!r}")
    return options.get("tensor_format") == "npy"
