"""What the tests of MindSpore train: ``python mindspore_program.py DIRECTORY graph|pynative``, in MindSpore's environment.

Each function is a scenario that records into a folder of its own; what it saw is printed as one line of JSON: ``{scenario: facts}``.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import json
import logging
import sys
import time
import weakref

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn, ops
from mindspore.train import Accuracy, Model

from summarykit import Callback, Run
from summarykit.integrations.mindspore import Callbacks, SummaryCollector, SummaryRecord
from summarykit.integrations.mindspore_parts import GivenGradients

logged = []


class Log(logging.Handler):
    def emit(self, record):
        logged.append(record.getMessage())


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 2, 3, weight_init="normal")
        self.bn = nn.BatchNorm2d(2)
        self.fc = nn.Dense(2, 3)
        self.scalar, self.image, self.tensor, self.histogram = (
            ops.ScalarSummary(), ops.ImageSummary(), ops.TensorSummary(), ops.HistogramSummary())

    def construct(self, images):
        self.image("op/image", images)
        hidden = self.bn(self.conv(images))
        self.histogram("op/hidden", hidden)
        scores = self.fc(hidden.mean((2, 3)))
        self.tensor("op/scores", scores)
        self.scalar("op/mean", scores.mean())
        return scores


class Rows:
    def __init__(self, count, seed):
        random = np.random.RandomState(seed)
        self.images = random.rand(count, 3, 8, 8).astype("f4")
        self.labels = random.randint(0, 3, count).astype("i4")

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, place):
        return self.images[place], np.asarray(self.labels[place])


def data(count=16, seed=0):
    return ds.GeneratorDataset(Rows(count, seed), ["image", "label"], shuffle=False).batch(4)


def built(groups=False, **options):
    ms.set_seed(1)
    net = Net()
    given = net.trainable_params()
    if groups:
        given = [{"params": given[:2], "lr": 0.1}, {"params": given[2:]}]
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    return net, Model(net, loss, nn.Momentum(given, 0.05, 0.9), metrics={"Accuracy": Accuracy()}, **options)


def weights(net):
    return hashlib.sha256(b"".join(each.asnumpy().tobytes() for each in net.get_parameters())).hexdigest()


EVERYTHING = {"collect_freq": 1, "collect_tensor_freq": 1, "collect_specified_data": {"histogram_regular": ".*", "collect_landscape": None}}
OWN = {"user_int": 7, "user_float": 0.25, "user_str": "tag"}


def plain(where):
    net, model = built()
    model.train(2, data())
    return {"weights": weights(net)}


def theirs(where):
    net, model = built()
    collector = ms.train.SummaryCollector(where, custom_lineage_data=OWN, **EVERYTHING)
    model.train(2, data(), callbacks=[collector])
    return {"weights": weights(net), "accuracy": float(model.eval(data(12, 5), callbacks=[collector])["Accuracy"])}


def ours(where):
    net, model = built()
    collector = SummaryCollector(where, custom_lineage_data=OWN, **EVERYTHING)
    model.train(2, data(), callbacks=[collector])
    return {"weights": weights(net), "accuracy": float(model.eval(data(12, 5), callbacks=[collector])["Accuracy"])}


def seldom(where):
    _, model = built()
    model.train(2, data(), callbacks=SummaryCollector(where, collect_freq=3))


def fit(where):
    _, model = built()
    model.fit(2, data(), data(8, 5), callbacks=[SummaryCollector(where, collect_freq=1)])


class Breaks(ms.train.Callback):
    def __init__(self, step, hook="on_train_step_begin"):
        self.step = step
        setattr(self, hook, self.told)

    def told(self, run_context):
        if run_context.original_args().cur_step_num == self.step:
            raise ArithmeticError(f"step {self.step}")


def breaks(where):
    _, model = built()
    try:
        model.train(2, data(), callbacks=[SummaryCollector(where, collect_freq=1), Breaks(2)])
    except ArithmeticError as error:
        return {"raised": str(error)}


def asleep(where):
    """Trainings that end between two steps that are collected."""
    for name, breaks in {"before": Breaks(6), "after": Breaks(6, "on_train_step_end")}.items():
        _, model = built()
        with contextlib.suppress(ArithmeticError):
            model.train(2, data(), callbacks=[breaks, SummaryCollector(f"{where}/{name}", collect_freq=100)])
    _, model = built()
    model.fit(2, data(), data(8, 5), callbacks=[SummaryCollector(f"{where}/fit", collect_freq=100)])


def twice(where):
    _, model = built()
    collector = SummaryCollector(where, collect_freq=1)
    model.train(1, data(), callbacks=collector)
    model.train(1, data(), callbacks=collector)


def resumed(where):
    _, model = built()
    model.train(2, data(), callbacks=SummaryCollector(where, collect_freq=1))
    _, model = built()
    model.train(3, data(), callbacks=SummaryCollector(where, collect_freq=1), initial_epoch=1)


def groups(where):
    _, model = built(groups=True)
    model.train(1, data(), callbacks=SummaryCollector(where, collect_freq=1))


class Step(nn.Cell):
    """A training step of one's own, with more outputs than the loss, as where losses are scaled."""

    def __init__(self, net):
        super().__init__()
        loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
        self.step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), nn.Momentum(net.trainable_params(), 0.05, 0.9))

    def construct(self, images, labels):
        return self.step(images, labels), images


def own_step(where):
    net, _ = built()
    model = Model(Step(net))
    model.train(1, data(), callbacks=SummaryCollector(where, collect_freq=1), dataset_sink_mode=True)    # off on a CPU


def sunk(where):
    """What MindSpore does in sink mode, which a CPU does not have: one call of the hooks for four steps."""
    net, model = built()
    params = ms.train.callback._callback.InternalCallbackParam(
        mode="train", cur_step_num=0, batch_num=4, epoch_num=3, network=net, optimizer=model._optimizer, dataset_sink_mode=True)
    context = ms.train.RunContext(params)
    collector = SummaryCollector(where, collect_freq=3)
    with collector:
        collector.on_train_begin(context)
        for epoch in (1, 2, 3):
            params.update(cur_epoch_num=epoch, cur_step_num=4 * epoch, net_outputs=ms.Tensor(float(epoch)))
            if epoch == 1:
                params["cur_step_num"] = 0
            collector.on_train_epoch_begin(context)
            params["cur_step_num"] = 4 * epoch
            collector.on_train_step_begin(context)
            collector.on_train_step_end(context)
            collector.on_train_epoch_end(context)
        collector.on_train_end(context)
    return {"parameters": Run(where).histograms("fc.bias/auto").step.tolist()}


class Tells(ms.train.Callback):
    """Says where the training is once that can be read in the file."""

    def __init__(self, where):
        self.where = where

    def on_train_step_end(self, run_context):
        step = run_context.original_args().cur_step_num
        while step not in self.steps():
            time.sleep(0.05)
        print("STEP", step, flush=True)

    def steps(self):
        run = Run(self.where)
        return run.scalars("loss/auto").step.tolist() if "loss/auto" in run.tags().get("scalar", ()) else []


def interrupted(where):
    _, model = built()
    model.train(50, data(), callbacks=[SummaryCollector(where, collect_freq=1), Tells(where)])


class Begins(Callback):
    def __init__(self):
        self.seen = []

    def on_train_step_begin(self, run_context):
        self.seen.append(run_context.original_args().cur_step_num)


def unbegun(where):
    """A training goes on from an earlier one, and ends before its first step."""
    _, model = built()
    begins = Begins()
    with contextlib.suppress(ArithmeticError):
        model.train(2, data(), callbacks=[Callbacks(begins), Breaks(0, "on_train_epoch_begin")], initial_epoch=1)
    return {"seen": begins.seen}


class Sleeps(Callback):
    """Says which losses it saw; it need not be called before the hundredth step."""

    wakes_at = 100

    def __init__(self):
        self.seen = {}

    def on_train_step_end(self, run_context):
        params = run_context.original_args()
        self.seen[params.cur_step_num] = {name: float(value) for name, value in params.reported.items()}


class Evaluates(ms.train.Callback):
    def __init__(self, model, *callbacks):
        self.model, self.callbacks = model, callbacks

    def on_train_step_end(self, run_context):
        if run_context.original_args().cur_step_num == 6:
            with contextlib.suppress(ArithmeticError):
                self.model.eval(data(8, 5), callbacks=[*self.callbacks])


def between(where):
    """Another callback evaluates when a step has ended, before we are told of that."""
    _, model = built()
    sleeps = Sleeps()
    callbacks = Callbacks(sleeps)
    model.train(2, data(), callbacks=[Evaluates(model, callbacks), callbacks])
    return {"seen": sleeps.seen}


def within(where):
    """Another callback evaluates with the same collector when a step has ended, before that is told of its end."""
    for name, breaks in {"well": [], "failed": [Breaks(1, "on_eval_step_end")]}.items():
        _, model = built()
        collector = SummaryCollector(f"{where}/{name}", collect_freq=1)
        model.train(2, data(), callbacks=[Evaluates(model, *breaks, collector), collector])


class Raises(Callback):
    def on_train_step_end(self, run_context):
        if run_context.original_args().cur_step_num > 1:
            raise ArithmeticError("only we")


class Refers(ms.train.Callback):
    def on_train_step_begin(self, run_context):
        self.params = weakref.ref(run_context.original_args())


def let_go(where):
    """One of our callbacks raises when it is told of the step after which another one did."""
    _, model = built()
    refers, callbacks = Refers(), Callbacks(Raises())
    try:
        model.train(2, data(), callbacks=[refers, Breaks(2, "on_train_step_end"), callbacks])
    except ArithmeticError as error:
        raised = str(error)
    callbacks.driver.params.pop("exception")    # holds the frames that it came through
    gc.collect()
    return {"raised": raised, "held": refers.params() is not None}


class Stops(Callback):
    def __init__(self):
        self.seen = []

    def on_train_step_end(self, run_context):
        params = run_context.original_args()
        self.seen.append(params.cur_step_num)
        if hasattr(params, "no such field") or params.cur_step_num == 3:
            run_context.request_stop()


def stops(where):
    _, model = built()
    stop = Stops()
    model.train(2, data(), callbacks=[Callbacks(stop), SummaryCollector(where)])
    return {"seen": stop.seen}


class Fails(Callback):
    fail_safe = True

    def on_train_step_end(self, run_context):
        raise ArithmeticError("only we")


def fails(where):
    net, model = built()
    model.train(2, data(), callbacks=[Callbacks([Fails()])])
    return {"weights": weights(net)}


def record(where):
    """A loop of one's own, with operators."""
    net, _ = built()
    with SummaryRecord(where, network=net) as record:
        for step, (images, _) in enumerate(data().create_tuple_iterator(num_epochs=1), 1):
            record.set_mode("eval" if step == 2 else "train")
            net(images)
            record.add_value("scalar", "own", ms.Tensor(float(step)))
            record.record(step)


def communicating(where):
    ms.communication.GlobalComm.INITED, Callbacks._made = True, False
    SummaryCollector(where)
    ms.communication.GlobalComm.INITED = False


class Asked(Net):
    asked = 0

    def parameters_and_names(self, *args, **kwargs):
        self.asked += 1
        return super().parameters_and_names(*args, **kwargs)


def gradients(where):
    """What is found of them, and whether the parameters were asked."""
    known, net = GivenGradients.known(iter), Asked()
    before = net.asked
    none, net.gradients = list(known.of(net)), {"own": 2}
    return {"found": [none, known.of(net)], "asked": net.asked - before}


def late(where):
    return {"logged": [line for line in logged if "made after" in line]}


if __name__ == "__main__":
    logging.getLogger("summarykit").addHandler(Log())
    ms.set_context(mode=ms.GRAPH_MODE if sys.argv[2] == "graph" else ms.PYNATIVE_MODE)
    ms.set_device("CPU")
    if len(sys.argv) > 3:
        sys.exit(interrupted(f"{sys.argv[1]}/interrupted"))
    scenarios = (
        plain, theirs, ours, seldom, fit, breaks, asleep, twice, resumed, unbegun, between, within, let_go, groups, own_step, sunk, stops,
        fails, record, communicating, gradients, late,
    )  # fmt: skip
    facts = {each.__name__: each(f"{sys.argv[1]}/{each.__name__}") for each in scenarios}
    print("FACTS" + json.dumps(facts))
