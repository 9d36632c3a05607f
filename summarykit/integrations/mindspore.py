"""MindSpore 2: a script written for its SummaryCollector, SummaryRecord and SummaryLandscape works with the import changed.

::

    from summarykit.integrations.mindspore import SummaryCollector

    model.train(3, dataset, callbacks=[SummaryCollector("./summary")])

The loss has MindSpore's tag ``loss/auto``. What the network's summary operators (``ops.ScalarSummary()`` …) are given is recorded with
the steps that are collected, in graph mode and in PyNative mode, of training only. What differs: ``collect_landscape`` is off unless
asked for; nothing comes twice; the last step is always there; evaluations are recorded under ``eval/``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from inspect import signature
from typing import Any

import mindspore
from mindspore.nn.cell import cells_compile_cache
from mindspore.ops.operations import debug_ops
from mindspore.train.summary import summary_record

from summarykit import collectors, landscape, summary
from summarykit.collectors.operator import Operator
from summarykit.collectors.part import Part
from summarykit.integrations.adapted import adapted
from summarykit.integrations.driver import Driver
from summarykit.integrations.mindspore_parts import PARTS, Loss
from summarykit.notices import Notices
from summarykit.ops.current import Given
from summarykit.ops.mindspore_operators import taken
from summarykit.training import Callback

__all__ = ["Callbacks", "SummaryCollector", "SummaryLandscape", "SummaryRecord"]

NOTICES = Notices()
FIELDS = (
    "network", "train_network", "optimizer", "loss_fn", "train_dataset", "parallel_mode", "device_number", "dataset_sink_mode", "epoch_num",
)  # fmt: skip


def already() -> str | None:
    """What has begun that a profiler or collector should have been there for."""
    if mindspore.communication.GlobalComm.INITED:
        return "the communication between devices (HCCL, NCCL) was initialised"
    return "the first graph was compiled" if any(cells_compile_cache.values()) else None


class Callbacks(mindspore.train.Callback):
    """Callbacks of this library as one of MindSpore's: ``callbacks=[Callbacks(StopAtStep(5, 8))]``.

    What differs from MindSpore's ``cb_params``: a missing field is an ``AttributeError``; step and epoch go on where ``initial_epoch``
    says that an earlier training is continued; ``reported`` holds the loss.
    """

    _made = False
    """True once there was one: those made later are not late, they serve another run."""

    def __init__(self, callbacks: Callback | Iterable[Callback]) -> None:
        """Take one callback or several; see `CallbackList` for the errors."""
        super().__init__()
        self.driver = Driver(callbacks)
        self._depth = 0
        self._base = 0
        self._theirs: Any = None
        self._wakes_at = 0    # this and the next as MindSpore counts: from where a training begins that continues another
        self._passed = 0    # the last step that has ended
        self._outputs = 0    # which outputs are known: to hold them would hold their memory
        if (begun := already()) and not Callbacks._made:
            NOTICES.once(begun, "%s made after %s: nothing before it is seen; make it first", type(self).__name__, begun)
        Callbacks._made = True

    def __enter__(self) -> Callbacks:
        self._depth += 1    # an evaluation within a training enters again
        return self

    def __exit__(self, *raised: Any) -> None:
        self._depth -= 1
        error = raised[1]
        if self._depth == 0:
            try:
                self._settle()
            finally:
                self.driver.failed(error) if error else self.driver.train_end()
        elif error:
            self.driver.eval_failed(error)    # who asked for the evaluation may go on without it

    def on_train_epoch_begin(self, run_context: Any) -> None:
        """The first one begins the training: nobody knows before whether it continues another."""
        params = run_context.original_args()
        if not self.driver.training:
            epoch = params["cur_epoch_num"] - 1
            self._theirs, self._wakes_at, self._passed = params, 0, params["cur_step_num"]
            self._base = 0 if self._passed else epoch * params["batch_num"]
            self.driver.train_begin(
                initial_step=self._passed + self._base, initial_epoch=epoch, framework="mindspore",
                batch_num=params["batch_num"], **{name: params.get(name) for name in FIELDS},
            )  # fmt: skip
        self._outputs = id(params.get("net_outputs"))    # of an evaluation, perhaps
        self.driver.epoch_begin()

    def on_train_step_begin(self, run_context: Any) -> None:
        """A step begins; in sink mode several. While the callbacks sleep nobody is told: after PyNative's work the caches are cold."""
        if run_context.original_args()["cur_step_num"] >= self._wakes_at:
            self._catch_up()

    def on_train_step_end(self, run_context: Any) -> None:
        """The step has ended; in sink mode several."""
        self._step_ended(run_context.original_args())
        if self.driver.stop_requested:
            run_context.request_stop()

    def on_train_epoch_end(self, run_context: Any) -> None:
        """The epoch and the evaluations in it have ended."""
        self._catch_up()
        self.driver.epoch_end()
        self._pass_on(run_context)

    def on_train_end(self, run_context: Any) -> None:
        """Training has ended well; our callbacks are told when all are left: by then the last checkpoint is stored."""
        self._pass_on(run_context)

    def _step_ended(self, theirs: Any) -> None:
        self._passed = step = theirs["cur_step_num"]
        self._outputs = id(theirs.get("net_outputs"))
        if step >= self._wakes_at:
            self._catch_up()
            self._wakes_at = self.driver.wakes_at - self._base

    def _catch_up(self) -> None:
        """Tell the last step that has ended, and the one that runs, unless that was done."""
        driver, theirs = self.driver, self._theirs
        if theirs is None:
            return
        step, batch, outputs = self._passed + self._base, theirs.get("train_dataset_element"), theirs.get("net_outputs")
        runs = theirs.get("mode") == "train" and theirs["cur_step_num"] > self._passed    # while it evaluates, its steps are others
        if runs and id(outputs) != self._outputs:
            outputs = None    # these are already of the step that runs
        if step > driver.step:
            if not driver.in_step:
                driver.pass_by(step - 1)
                driver.step_begin(batch)
            driver.params["net_outputs"] = outputs
            driver.step_end({} if outputs is None else {"loss/auto": Loss(outputs)}, step=step)
        driver.params["latest_ckpt_file"] = theirs.get("latest_ckpt_file")
        if runs:
            driver.step_begin(batch)

    def _settle(self) -> None:
        """All is left. Where outputs are new, their step is whole: the exception is that of a callback which was told of its end first."""
        theirs = self._theirs
        try:
            if theirs is not None and theirs.get("mode") == "train" and id(theirs.get("net_outputs")) != self._outputs:
                self._step_ended(theirs)
            self._catch_up()
        finally:
            self._theirs = None

    def on_eval_begin(self, run_context: Any) -> None:
        """An evaluation begins, in a training or on its own."""
        self._catch_up()
        params = run_context.original_args()
        fields = {name: params.get(name) for name in ("network", "eval_network")}
        self.driver.eval_begin(params.get("valid_dataset"), framework="mindspore", **fields)

    def on_eval_step_begin(self, run_context: Any) -> None:
        """A batch of the evaluation begins."""
        self.driver.eval_step_begin(run_context.original_args().get("eval_dataset_element"))

    def on_eval_step_end(self, run_context: Any) -> None:
        """A batch of the evaluation has ended."""
        self.driver.eval_step_end()

    def on_eval_end(self, run_context: Any) -> None:
        """The evaluation has ended well."""
        params = run_context.original_args()
        loss = {"loss": params["eval_results"]["eval_loss"]} if "eval_results" in params else {}
        self.driver.eval_end({**params.get("metrics", {}), **loss})

    def _pass_on(self, run_context: Any) -> None:
        self.driver.params["latest_ckpt_file"] = run_context.original_args().get("latest_ckpt_file")
        if self.driver.stop_requested:
            run_context.request_stop()


class _Collector(collectors.SummaryCollector):
    """With the parts that are particular to MindSpore."""

    __doc__ = collectors.SummaryCollector.__doc__

    @classmethod
    def part_types(cls) -> list[type[Part]]:
        """See `summarykit.SummaryCollector.part_types`."""
        return [PARTS.get(kind, kind) for kind in super().part_types()]


class Collecting(adapted(_Collector, Callbacks)):    # type: ignore[misc]
    """`summarykit.SummaryCollector` for ``Model.train``, ``fit`` and ``eval``: the same arguments, the same results.

    The class is not called SummaryCollector because MindSpore leaves callbacks of that name out of the evaluations of ``fit``.
    """

    _given: Sequence[Given] = ()    # to operators in the last step that has ended
    _aside: Sequence[Given] = ()    # in the one that is open, before an evaluation began in it

    def __enter__(self) -> Collecting:
        if self._depth:    # an evaluation begins in a training, perhaps in a step that is open: what operators gave so far is of that
            self._aside = [*self._aside, *taken()]
        super().__enter__()
        return self

    def __exit__(self, *raised: Any) -> None:
        try:
            super().__exit__(*raised)
        finally:
            taken()    # what an evaluation gave to operators is not of the training
            if self._depth == 0:
                self.driver.params.pop(Operator.taken, None)
                self._given = self._aside = ()

    def on_train_epoch_begin(self, run_context: Any) -> None:
        """See `Callbacks`; what operators left before is not of this training."""
        begins = not self.driver.training
        if begins:
            taken()
        super().on_train_epoch_begin(run_context)
        if begins:
            self.driver.params[Operator.taken] = self._given = ()

    def _step_ended(self, theirs: Any) -> None:
        if debug_ops.SUMMARY_TENSOR_CACHE or summary_record.SUMMARY_TENSOR_CACHE or self._given or self._aside:
            self.driver.params[Operator.taken] = self._given = [*self._aside, *taken()]
            self._aside = ()
        super()._step_ended(theirs)


SummaryCollector = Collecting


class SummaryRecord(summary.SummaryRecord):
    """`summarykit.SummaryRecord` with the graph of its ``network``, and, unless its mode is ``"eval"``, with what operators were given."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Take the arguments of `summarykit.SummaryRecord`, and raise its errors."""
        super().__init__(*args, **kwargs)
        self._network = signature(summary.SummaryRecord).bind(*args, **kwargs).arguments.get("network")

    def record(self, step: int, train_network: Any = None, plugin_filter: Callable[[str], bool] | None = None) -> bool:
        """See `summarykit.SummaryRecord.record`.

        Args:
            step: the number of optimizer updates completed.
            train_network: whose graph to record where that of ``network`` was not compiled; the first call records it.
            plugin_filter: keep only values whose plugin's name it accepts.
        """
        if self._network is not None:
            known = self._network.get_func_graph_proto() or train_network is None
            self.add_value("graph", "graph", self._network if known else train_network)
            self._network = None
        operators = taken()
        if self.mode == "train":
            for given in operators:
                self.add_value(given.kind, given.tag, given.value)
        return super().record(step, train_network, plugin_filter)


class SummaryLandscape(landscape.SummaryLandscape):
    """`summarykit.SummaryLandscape`, by MindSpore's rules unless another ``recipe`` is given: the numbers are the same."""

    def gen_landscapes_with_multi_process(
        self, callback_fn: Callable[[], Any], *args: Any, **options: Any
    ) -> list[landscape.LossSurface]:
        """See `summarykit.SummaryLandscape`."""
        return super().gen_landscapes_with_multi_process(callback_fn, *args, **{"recipe": landscape.MindSporeRecipe(), **options})
