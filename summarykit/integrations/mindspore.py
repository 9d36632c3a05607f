"""MindSpore 2: a script written for its SummaryCollector, SummaryRecord and SummaryLandscape works with the import changed.

::

    from summarykit.integrations.mindspore import SummaryCollector

    model.train(3, dataset, callbacks=[SummaryCollector("./summary")])

The loss has MindSpore's tag ``loss/auto``. What the network's summary operators (``ops.ScalarSummary()`` …) are given is recorded with
the steps that are collected, in graph mode and in PyNative mode, of training only. What differs: ``collect_landscape`` is off unless
asked for; nothing comes twice; the last step is always there; evaluations are recorded under ``eval/``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import mindspore
import numpy as np
from mindspore.ops.operations import debug_ops
from mindspore.train.summary import summary_record

from summarykit import collectors, landscape, summary
from summarykit.collectors.parameter import Parameter
from summarykit.collectors.settings import Settings
from summarykit.integrations.driver import Driver
from summarykit.landscape import LossSurface, MindSporeRecipe
from summarykit.training import Callback, CallbackParams

__all__ = ["Callbacks", "SummaryCollector", "SummaryLandscape", "SummaryRecord"]

OPERATORS = {f"{kind}Summary": kind.lower() for kind in ("Scalar", "Image", "Tensor", "Histogram")}
FIELDS = (
    "network", "train_network", "optimizer", "loss_fn", "train_dataset", "parallel_mode", "device_number", "dataset_sink_mode", "epoch_num",
)  # fmt: skip


def taken() -> dict[tuple[str, str], Any]:
    """Take what the network's summary operators were given since the last call: by kind and tag, of each the last value.

    In PyNative mode they queue up in a list; in graph mode the runtime puts them into a mapping, as ``"tag[:Scalar]"``.
    """
    queued, debug_ops.SUMMARY_TENSOR_CACHE = debug_ops.SUMMARY_TENSOR_CACHE, []
    found = {(OPERATORS[operator], tag): value for operator, tag, value in queued}
    for name, value in summary_record._get_summary_tensor_data().items():
        tag, _, kind = name.rpartition("[:")
        found[kind.rstrip("]").lower(), tag] = value
    return found


class Loss:
    """The mean over the first of the network's outputs, as a number that is fetched when it is wanted."""

    def __init__(self, outputs: Any) -> None:
        while isinstance(outputs, (list, tuple)) and outputs:
            outputs = outputs[0]
        self._value = outputs

    def __float__(self) -> float:
        return float(np.mean(self._value.asnumpy()) if hasattr(self._value, "asnumpy") else self._value)


class Operators(collectors.Part):
    """What the network's summary operators were given in this step."""

    key = "summary_operators"

    @classmethod
    def wanted(cls, settings: Settings) -> bool:
        """True: who does not want them leaves them out of the network."""
        return True

    def collect(self, params: CallbackParams, sink: collectors.Sink) -> None:
        """See `Part.collect`."""
        for (kind, tag), value in params.get(self.key, {}).items():
            sink.add(kind, tag, value)


class Trained(Parameter):
    """Histograms of the parameters that the optimizer holds, under the names that it knows them by."""

    def collect(self, params: CallbackParams, sink: collectors.Sink) -> None:
        """See `Part.collect`."""
        held = {each.name: each for each in getattr(params.get("optimizer"), "parameters", ())}
        super().collect(CallbackParams(params, network=held) if held else params, sink)


class Callbacks(mindspore.train.Callback):    # type: ignore[misc]  # MindSpore has no types
    """Callbacks of this library as one of MindSpore's: ``callbacks=[Callbacks(StopAtStep(5, 8))]``.

    What differs from MindSpore's ``cb_params``: a missing field is an ``AttributeError``; step and epoch go on where ``initial_epoch``
    says that an earlier training is continued; ``reported`` holds the loss.
    """

    def __init__(self, callbacks: Callback | Iterable[Callback]) -> None:
        """Take one callback or several."""
        super().__init__()
        self._driver = Driver(callbacks)
        self._depth = 0
        self._base = 0

    def __enter__(self) -> Callbacks:
        self._depth += 1    # an evaluation within a training enters again
        return self

    def __exit__(self, *raised: Any) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._driver.failed(raised[1]) if raised[1] else self._driver.train_end()

    def on_train_epoch_begin(self, run_context: Any) -> None:
        """The first one begins the training: nobody knows before whether it continues another."""
        params = run_context.original_args()
        if not self._driver.training:
            epoch = params["cur_epoch_num"] - 1
            self._base = 0 if params["cur_step_num"] else epoch * params["batch_num"]
            self._driver.train_begin(
                initial_step=params["cur_step_num"] + self._base, initial_epoch=epoch, framework="mindspore",
                batch_num=params["batch_num"], **{name: params.get(name) for name in FIELDS},
            )  # fmt: skip
        self._driver.epoch_begin()

    def on_train_step_begin(self, run_context: Any) -> None:
        """A step begins; in sink mode several."""
        self._driver.step_begin(run_context.original_args().get("train_dataset_element"))

    def on_train_step_end(self, run_context: Any) -> None:
        """The step has ended; in sink mode several."""
        params = run_context.original_args()
        outputs = params.get("net_outputs")
        self._driver.params["net_outputs"] = outputs
        self._driver.step_end({} if outputs is None else {"loss/auto": Loss(outputs)}, step=params["cur_step_num"] + self._base)
        self._pass_on(run_context)

    def on_train_epoch_end(self, run_context: Any) -> None:
        """The epoch and the evaluations in it have ended."""
        self._driver.epoch_end()
        self._pass_on(run_context)

    def on_train_end(self, run_context: Any) -> None:
        """Training has ended well; told when all callbacks are left: by then the last checkpoint is stored."""
        self._pass_on(run_context)

    def on_eval_begin(self, run_context: Any) -> None:
        """An evaluation begins, in a training or on its own."""
        params = run_context.original_args()
        fields = {name: params.get(name) for name in ("network", "eval_network")}
        self._driver.eval_begin(params.get("valid_dataset"), framework="mindspore", **fields)

    def on_eval_step_begin(self, run_context: Any) -> None:
        """A batch of the evaluation begins."""
        self._driver.eval_step_begin(run_context.original_args().get("eval_dataset_element"))

    def on_eval_step_end(self, run_context: Any) -> None:
        """A batch of the evaluation has ended."""
        self._driver.eval_step_end()

    def on_eval_end(self, run_context: Any) -> None:
        """The evaluation has ended well."""
        params = run_context.original_args()
        loss = {"loss": params["eval_results"]["eval_loss"]} if "eval_results" in params else {}
        self._driver.eval_end({**params.get("metrics", {}), **loss})

    def _pass_on(self, run_context: Any) -> None:
        self._driver.params["latest_ckpt_file"] = run_context.original_args().get("latest_ckpt_file")
        if self._driver.stop_requested:
            run_context.request_stop()


class Collecting(Callbacks):
    """`summarykit.SummaryCollector` for MindSpore's ``Model.train``, ``fit`` and ``eval``: same arguments, same results.

    Nothing that goes wrong in collecting ends the training. The same collector may serve several trainings and evaluations.
    """

    # Its name is not SummaryCollector because `fit` leaves callbacks of that name out of its evaluations.

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Take the arguments of `summarykit.SummaryCollector`, and raise its errors."""
        self._collector = _Collector(*args, **kwargs)
        super().__init__(self._collector)

    def stats(self) -> dict[str, Any]:
        """What became of the values of the current or last run; see `summarykit.SummaryCollector.stats`."""
        return self._collector.stats()

    def on_train_epoch_begin(self, run_context: Any) -> None:
        """See `Callbacks`; what operators left before is not of this training."""
        if not self._driver.training:
            taken()
        super().on_train_epoch_begin(run_context)

    def on_train_step_end(self, run_context: Any) -> None:
        """See `Callbacks`."""
        self._driver.params[Operators.key] = taken()
        super().on_train_step_end(run_context)

    def on_eval_end(self, run_context: Any) -> None:
        """See `Callbacks`; what the evaluation gave to operators is not of the training."""
        taken()
        super().on_eval_end(run_context)

    def __exit__(self, *raised: Any) -> None:
        super().__exit__(*raised)
        if self._depth == 0:
            self._driver.params.pop(Operators.key, None)


SummaryCollector = Collecting


class _Collector(collectors.SummaryCollector):
    """With the operators' part, and parameters as MindSpore names them."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._part_types = [Trained if kind is Parameter else kind for kind in self._part_types] + [Operators]


class SummaryRecord(summary.SummaryRecord):
    """`summarykit.SummaryRecord` that records what the network's summary operators were given, too, unless its mode is ``"eval"``."""

    def record(self, step: int, train_network: object = None, plugin_filter: Callable[[str], bool] | None = None) -> bool:
        """See `summarykit.SummaryRecord.record`."""
        given = taken()
        if self.mode == "train":
            for (kind, tag), value in given.items():
                self.add_value(kind, tag, value)
        return super().record(step, train_network, plugin_filter)


class SummaryLandscape(landscape.SummaryLandscape):
    """`summarykit.SummaryLandscape`, by MindSpore's rules unless another ``recipe`` is given: the numbers are the same."""

    def gen_landscapes_with_multi_process(self, callback_fn: Callable[[], Any], *args: Any, **options: Any) -> list[LossSurface]:
        """See `summarykit.SummaryLandscape`."""
        return super().gen_landscapes_with_multi_process(callback_fn, *args, **{"recipe": MindSporeRecipe(), **options})
