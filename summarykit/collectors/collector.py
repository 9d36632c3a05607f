"""SummaryCollector: one callback that records a training run."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import summarykit.formats.mindspore.event  # each run of a collector needs these: no value should wait while the pump imports them
import summarykit.formats.mindspore.lineage
import summarykit.formats.tensorboard.event
import summarykit.writing.delivery  # noqa: F401
from summarykit.collectors.collection import Collection
from summarykit.collectors.part import Part
from summarykit.collectors.parts import PARTS
from summarykit.collectors.ranking import RANKS, Ranking
from summarykit.collectors.settings import Settings, custom_lineage, positive, specified_data
from summarykit.notices import Notices
from summarykit.summary.record import SummaryRecord, again
from summarykit.summary.steps import resumption
from summarykit.training.callback import Callback
from summarykit.training.context import CallbackParams, RunContext
from summarykit.training.triggers import NEVER
from summarykit.writing.options import check_choice, check_directory, check_integer, of_rank
from summarykit.writing.resumption import Resumption


class SummaryCollector(Callback):
    """Records a training run: what it reports, what its network and optimizer do, where it comes from, how fast it is.

    Collected are the first step, every step whose number is a multiple of ``collect_freq``, and the last; on the others nothing
    is fetched, copied or converted. What comes of it, by default:

    ==============================  =================================================================================================
    ``<name>``                      every reported number, as scalar; every text, as text; every array, as tensor, less often
    ``eval/<name>``                 what was reported in an evaluation, at the step that training has reached
    ``micro_step``                  (micro-)batches so far, where a step takes several
    ``learning_rate``               of the optimizer, before the step; ``learning_rate/<group>`` where it has several
    ``optimizer/<name>``            the other numbers that steer it: momentum, weight decay ...
    ``<parameter>/auto``            histogram of a parameter after the step (the first five, or those ``histogram_regular`` chooses)
    ``<parameter>/gradient``        histogram of its gradient
    ``gradient_norm``               norm of all gradients together, after clipping; a loop may report the one before under this name
    ``input_data/auto``             the first images of the batch, where the batch holds images
    ``throughput/<name>``           steps and samples per second, share of the time spent on waiting for data
    ``system/<name>``               processor, memory, disk, network and GPUs, every few seconds
    graph, data graph               the network's and the data pipeline's, once
    lineage                         hyper-parameters, data, results, status, code version; ``custom_lineage_data``
    summary operators               what ``summarykit.ops`` in the network were called with
    ==============================  =================================================================================================

    and where ``collect_specified_data`` asks for it:

    ==============================  =================================================================================================
    ``<module>/activation``         histogram of a PyTorch module's output, and ``<module>/zeros``, the share of zeros in it
    ``<parameter>/update_ratio``    how far the step moved a parameter, relative to its norm
    ``optimizer/<state>_norm``      how large a PyTorch optimizer's state is
    weights                         for `SummaryLandscape`
    ==============================  =================================================================================================

    Nothing that goes wrong in collecting ends the training: it is logged once. The same collector may serve several runs, one
    after the other; each writes files of its own into the same directory. In a distributed run rank 0 records.
    """

    def __init__(
        self,
        summary_dir: str | os.PathLike[str],
        collect_freq: int = 10,
        num_process: int = 1,
        collect_specified_data: dict[str, Any] | None = None,
        keep_default_action: bool = True,
        custom_lineage_data: Any = None,
        collect_tensor_freq: int | None = None,
        max_file_size: int | None = None,
        export_options: dict[str, Any] | None = None,
        *,
        formats: Sequence[str] = ("mindspore", "tensorboard"),
        flush_secs: float = 0.1,
        on_full: str = "block",
        resume: int | None = None,
        rank: int | None = None,
        ranks: str = "first",
        fence: bool = True,
        raise_exception: bool = False,
    ) -> None:
        """Check the arguments and make the directory; files come with the first value.

        Args:
            summary_dir: local directory for the files.
            collect_freq: collect every so many steps, > 0.
            num_process: see ``SummaryRecord``, as for the arguments from ``max_file_size`` on.
            collect_specified_data: what to collect. On unless False: ``collect_metric``, ``collect_learning_rate``,
                ``collect_optimizer``, ``collect_gradient``, ``collect_gradient_norm``, ``collect_input_data``, ``collect_throughput``,
                ``collect_system``, ``collect_tensor``, ``collect_graph``, ``collect_dataset_graph``, ``collect_train_lineage``,
                ``collect_eval_lineage``. Off unless True: ``collect_optimizer_state``, ``collect_update_ratio``. Regular expressions
                for the beginning of names: ``histogram_regular`` chooses parameters, by default None for the first five;
                ``collect_activations`` chooses modules, by default None for none. ``collect_landscape``, by default None:
                ``{"intervals": [[1, 2, 3], [7, 8, 9]], "unit": "step" or "epoch", "landscape_size": 40, "num_samples": 2048,
                "create_landscape": {"train": True, "result": True}, "max_bytes": None}``, of which ``intervals`` is needed.
            keep_default_action: True: keys that are not given keep their defaults. False: only what the given keys ask for is
                collected.
            custom_lineage_data: your own description of the run: a dict, dataclass or namespace of values of any type, nested as you
                like. Of what by its name is a secret (``api_key``, ``password`` ...) the value is not recorded.
            collect_tensor_freq: the same as ``collect_freq`` for reported arrays; by default at most 20 times, spread over the run
                (where its length is not known: at ever longer distances).
            max_file_size: bytes after which recording goes on in a new file.
            export_options: ``{"tensor_format": "npy"}`` writes tensors as ``.npy`` files too.
            formats: which files to write.
            flush_secs: seconds after which a value is in the file, at most.
            on_full: ``"block"`` or ``"drop"``.
            resume: the first step that the next run records, where it continues an earlier one in the same directory: viewers and reader
                then hide that one's points from this step on. By default the step after those that the loop says were done before
                (``Loop(initial_step=...)``, a framework's checkpoint), if there are any.
            rank: rank of this process in a distributed run; by default what the framework says, or the launcher, when the run begins
                (see ``summarykit.ranks``).
            ranks: which of them record. ``"first"``: rank 0, into ``summary_dir``; the others write nothing, and need no directory of
                their own. ``"machine"``: each other one adds throughput and system, in ``rank_<k>/`` below. ``"all"``: each other one
                records everything there.
            fence: see ``SummaryRecord``. Gradients are copied beside the next steps, too, in loops that leave them alone after the update,
                as ``zero_grad()`` does; one that writes them again (``zero_grad(set_to_none=False)``) is told by its first steps.
            raise_exception: let every exception through: of a value that cannot be recorded, of the storage, of a part.

        Raises:
            TypeError, ValueError: the message names the argument, what came and what is allowed.
            OSError: the directory cannot be made.
        """
        directory = check_directory("summary_dir", summary_dir)
        check_choice("ranks", ranks, RANKS)
        if rank is not None:
            rank = check_integer("rank", rank, 0)
        self._part_types = self.part_types()
        self._settings = Settings(
            collect_freq=positive("collect_freq", collect_freq),
            collect_tensor_freq=None if collect_tensor_freq is None else positive("collect_tensor_freq", collect_tensor_freq),
            specified=specified_data(collect_specified_data, keep_default_action, self._part_types),
            custom_lineage_data=custom_lineage(custom_lineage_data),
            summary_dir=Path(directory),
            fence=fence,
            asked=tuple(collect_specified_data or ()),
        )
        with SummaryRecord(    # refuses a bad argument now, and leaves nothing behind but the directory
            directory, num_process=num_process, max_file_size=max_file_size, raise_exception=raise_exception, export_options=export_options,
            formats=formats, flush_secs=flush_secs, on_full=on_full, resume=resume, fence=fence,
        ) as record:
            self._options = record.options
        self._notices = Notices()
        self._resume = resume
        self._ranking = Ranking(rank, ranks, self._notices)
        self.fail_safe = not raise_exception
        self._depth = 0
        self._collection: Collection | None = None
        self._open: Collection | None = None    # the same while it lasts

    @classmethod
    def part_types(cls) -> list[type[Part]]:
        """What may be collected; a subclass, of a framework perhaps, adds parts or puts others in their place."""
        return [PARTS.get(name) for name in PARTS]

    @property
    def wakes_at(self) -> int:
        """See ``Callback``: the next step that may be collected; where its class or it itself has hooks of its own for steps, every one."""
        hooks = "on_train_step_begin", "on_train_step_end"
        own = (getattr(getattr(self, hook), "__func__", None) is not getattr(SummaryCollector, hook) for hook in hooks)
        if self._depth == 0 or any(own):
            return 0
        return self._open.wakes_at if self._open else NEVER

    def stats(self) -> dict[str, Any]:
        """What became of the values of the current or last run, as ``SummaryRecord.stats`` tells it; empty before the first."""
        return self._collection.record.stats() if self._collection else {}

    def __getstate__(self) -> dict[str, Any]:
        """A copy, in another process perhaps, records runs of its own: the one that is going on stays with the original."""
        return {**self.__dict__, "_depth": 0, "_collection": None, "_open": None}

    def __enter__(self) -> SummaryCollector:
        self._depth += 1
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._depth = max(0, self._depth - 1)
        if self._depth == 0:
            self._close(error)

    def on_train_begin(self, run_context: RunContext) -> None:
        """See ``Callback``."""
        if self._open and self._open.begun:    # many frameworks have no hook for exceptions, and never tell of an end
            self._close()
            self._depth = 1
        params = run_context.original_args()
        if collection := self._opened(params):
            collection.record.set_mode("train")
            collection.begin(params)

    def on_train_step_begin(self, run_context: RunContext) -> None:
        """See ``Callback``."""
        if self._open:
            self._open.step_begin(run_context.original_args())

    def on_train_step_end(self, run_context: RunContext) -> None:
        """See ``Callback``."""
        if self._open:
            self._open.step_end(run_context.original_args())
        else:
            self._entered()

    def on_train_report(self, run_context: RunContext) -> None:
        """Collect what a framework reports once a step is over: whenever it does."""
        if collection := self._open:
            params = run_context.original_args()
            collection.reported_outside(params["reported"], "", params["cur_step_num"])

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        """See ``Callback``; a loop that counts its steps but calls back once an epoch only is collected here."""
        if collection := self._open:
            params = run_context.original_args()
            collection.step_end(params)
            collection.epoch_end(params)
            collection.reported_outside(params.get("epoch_reported", {}), "", params["cur_step_num"])

    def on_train_end(self, run_context: RunContext) -> None:
        """See ``Callback``."""
        if collection := self._open:
            collection.train_end()

    def on_eval_begin(self, run_context: RunContext) -> None:
        """See ``Callback``."""
        params = run_context.original_args()
        if collection := self._opened(params):
            collection.record.set_mode("eval")
            collection.evaluation_begin(params)

    def on_eval_end(self, run_context: RunContext) -> None:
        """See ``Callback``."""
        if collection := self._open:
            collection.evaluation_end(run_context.original_args())
            collection.record.set_mode("train")

    def _close(self, error: BaseException | None = None) -> None:
        collection, self._open = self._open, None
        if collection:
            collection.close(error)

    def _entered(self) -> bool:
        if self._depth == 0:
            message = "a SummaryCollector records only between its __enter__ and __exit__: nothing is recorded"
            self._notices.once("not entered", message)
        return self._depth > 0

    def _opened(self, params: CallbackParams) -> Collection | None:
        """The collection that is open, or, at the first hook of a run, a new one; None on a rank that records nothing."""
        rank = self._ranking.of(params)
        if not self._entered() or self._open or not self._ranking.records(rank):
            return self._open
        wanted = [kind for kind in self._part_types if kind.wanted(self._settings) and self._ranking.wants(rank, kind.of_machine)]
        parts = [kind(self._settings, self._notices) for kind in wanted]
        done = self._collection.step if self._collection else 0
        own = {"directory": of_rank(str(self._settings.summary_dir), rank), "rank": rank, "resume": self._resumption(params)}
        record = again(self._options.__replace__(**own))
        self._open = self._collection = Collection(record, parts, self._notices, strict=not self.fail_safe, step=done)
        return self._open

    def _resumption(self, params: CallbackParams) -> Resumption | None:
        resume, self._resume = self._resume, None    # a second run does not hide the first
        done = params.get("initial_step") or 0
        return resumption("resume", done + 1 if resume is None and done else resume)
