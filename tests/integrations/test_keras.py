"""Keras' fit and evaluate with our collector, on two backends; each in a process of its own, since one process has one backend."""

from __future__ import annotations

import json
from collections import namedtuple
from importlib.util import find_spec

import numpy as np
import pytest
from testkit.scripts import Script

from summarykit import Run

if not find_spec("keras"):    # importing it would choose the backend of this process
    pytest.skip("could not import 'keras'", allow_module_level=True)

pytestmark = pytest.mark.slow
PROGRAM = '''
import hashlib, json, sys
import keras, numpy as np
from summarykit import Callback
from summarykit.integrations.keras import Callbacks, SummaryCollector
from summarykit.training.callback import HOOKS

random = np.random.default_rng(0)
images, labels = random.normal(size=(32, 6, 6, 1)).astype("f4"), random.integers(0, 3, 32)

def built(rate=0.1, accumulate=None, **options):
    keras.utils.set_random_seed(0)
    net = keras.Sequential([keras.Input((6, 6, 1)), keras.layers.Conv2D(4, 3, name="conv"), keras.layers.BatchNormalization(name="bn"),
                            keras.layers.Flatten(), keras.layers.Dropout(0.5), keras.layers.Dense(3, name="fc")])
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    optimizer = keras.optimizers.SGD(rate, momentum=0.9, gradient_accumulation_steps=accumulate)
    net.compile(optimizer, loss, metrics=["accuracy"], **options)
    return net

def fit(net, *callbacks, **options):
    return net.fit(images, labels, **{"batch_size": 8, "epochs": 2, "shuffle": False, "verbose": 0, **options}, callbacks=list(callbacks))

def digest(net):
    return hashlib.sha256(b"".join(np.asarray(keras.ops.convert_to_numpy(each)).tobytes() for each in net.variables)).hexdigest()

def plain(where):
    net = built()
    history = fit(net, validation_data=(images, labels)).history
    return {"digest": digest(net), "history": history}

def ours(where):
    net = built()
    history = fit(net, SummaryCollector(where, collect_freq=3), validation_data=(images, labels)).history
    return {"digest": digest(net), "history": history}

def every(where):
    net = built(keras.optimizers.schedules.ExponentialDecay(0.1, 1, 0.5))
    fit(net, SummaryCollector(where, collect_freq=1), validation_data=(images, labels))
    values = net.get_layer("conv").kernel
    return {"last": float(keras.ops.max(values))}

def accumulated(where):
    net = built(accumulate=2)
    fit(net, SummaryCollector(where, collect_freq=1), epochs=3, batch_size=11)    # 9 batches
    return {"iterations": int(net.optimizer.iterations)}

class Breaks(keras.callbacks.Callback):
    def on_train_batch_begin(self, batch, logs=None):
        if batch == 1:
            raise ArithmeticError("the second step")

def breaks(where):
    try:
        fit(built(), SummaryCollector(where, collect_freq=1), Breaks())
    except ArithmeticError as error:
        return {"raised": str(error)}

def twice(where):
    net, collector = built(), SummaryCollector(where, collect_freq=1)
    fit(net, collector)
    fit(net, collector, epochs=3, initial_epoch=2)
    net.evaluate(images, labels, verbose=0, callbacks=[collector])

def after_failure(where):
    net, collector = built(), SummaryCollector(where, collect_freq=1)
    try:
        fit(net, collector, Breaks())
    except ArithmeticError:
        pass
    fit(net, collector)

def evaluated(where):
    net = built()
    fit(net)
    return {"loss": net.evaluate(images, labels, verbose=0, callbacks=[SummaryCollector(where)], return_dict=True)["loss"]}

class Journal(Callback):
    def __init__(self):
        self.calls = []

for hook in HOOKS:
    setattr(Journal, hook, lambda self, context, hook=hook: self.calls.append(f"{hook[3:]} {context.original_args().cur_step_num}"))

def order(where):
    journal = Journal()
    fit(built(), Callbacks(journal), epochs=1, batch_size=16, validation_data=(images[:8], labels[:8]))
    return {"calls": ", ".join(journal.calls)}

def own_loop(where):
    """A loop of one's own that calls Keras' callbacks, and tells them nothing."""
    net, collector = built(), SummaryCollector(where, collect_freq=1)
    callbacks = keras.callbacks.CallbackList([collector], model=net)
    callbacks.on_train_begin()
    for epoch in range(2):
        callbacks.on_epoch_begin(epoch)
        for batch in range(2):
            callbacks.on_train_batch_begin(batch)
            callbacks.on_train_batch_end(batch, {"loss": net.train_on_batch(images[:8], labels[:8], return_dict=True)["loss"]})
        callbacks.on_epoch_end(epoch)
    callbacks.on_train_end()

class Stops(Callback):
    def on_train_step_end(self, run_context):
        if run_context.original_args().cur_step_num == 3:
            run_context.request_stop()

def stops(where):
    fit(built(), SummaryCollector(where), Callbacks(Stops()))

def several(where):
    if keras.backend.backend() == "jax":
        fit(built(steps_per_execution=3), SummaryCollector(where, collect_freq=1))

class Swaps(keras.callbacks.Callback):
    """Notes what each step made of the kernel, and changes it behind every epoch, as a callback does that puts averages in its place."""

    def __init__(self):
        super().__init__()
        self.largest = []

    def on_train_batch_end(self, batch, logs=None):
        self.largest.append(float(keras.ops.max(self.model.get_layer("conv").kernel)))

    def on_epoch_end(self, epoch, logs=None):
        kernel = self.model.get_layer("conv").kernel
        kernel.assign(kernel * 0.5)

def swapped(where):
    net, swaps, collector = built(), Swaps(), SummaryCollector(where, collect_freq=1)
    fit(net, swaps, collector, epochs=3)
    return {"largest": swaps.largest, "dropped": collector.stats()["dropped"], "watched": "apply" in vars(net.optimizer)}

class Looks(keras.callbacks.Callback):
    """Whether Keras had to fill the model's variables for those before it."""

    def __init__(self):
        super().__init__()
        self.filled = []

    def on_train_batch_end(self, batch, logs=None):
        self.filled.append(getattr(self._model, "_jax_state_synced", None))

def elsewhere(where):
    looks = Looks()
    fit(built(keras.optimizers.schedules.ExponentialDecay(0.1, 1, 0.5)), SummaryCollector(where, collect_freq=1), looks)
    return {"filled": looks.filled}

def watched_twice(where):
    net = built()
    fit(net, SummaryCollector(where + "/1", 1), SummaryCollector(where + "/2", 1), validation_data=(images, labels))
    return {"digest": digest(net), "watched": "apply" in vars(net.optimizer)}

if __name__ == "__main__":
    scenarios = (plain, ours, every, accumulated, breaks, twice, after_failure, evaluated, order, own_loop, stops, several, swapped,
                 elsewhere, watched_twice)
    print("FACTS" + json.dumps({each.__name__: each(f"{sys.argv[1]}/{each.__name__}") for each in scenarios}))
'''
Done = namedtuple("Done", "folder facts backend stderr")


@pytest.fixture(scope="module", params=["torch", "jax"])
def done(request, tmp_path_factory):
    pytest.importorskip(request.param)
    folder = tmp_path_factory.mktemp(request.param)
    ended = Script(PROGRAM, (str(folder),), {"KERAS_BACKEND": request.param}).run().expect_success()
    (line,) = (line for line in ended.stdout.splitlines() if line.startswith("FACTS"))
    return Done(folder, json.loads(line[5:]), request.param, ended.stderr)


def steps(run: Run, tag: str) -> list[int]:
    return run.scalars(tag).step.tolist()


def test_the_training_is_the_same_bit_for_bit(done):
    assert done.facts["ours"] == done.facts["plain"]
    assert "Traceback" not in done.stderr


def test_running_means_and_the_values_of_epochs(done):
    run, history = Run(done.folder / "ours"), done.facts["plain"]["history"]
    assert steps(run, "loss") == steps(run, "accuracy") == steps(run, "learning_rate") == [1, 3, 6, 8]
    assert steps(run, "loss_epoch") == [4, 8]
    assert run.scalars("loss_epoch").value.tolist() == pytest.approx(history["loss"])
    assert run.scalars("accuracy_epoch").value.tolist() == pytest.approx(history["accuracy"])
    assert run.scalars("loss").value[-1] == pytest.approx(history["loss"][-1])
    assert steps(run, "eval/loss") == [4, 8]
    assert run.scalars("eval/loss").value.tolist() == pytest.approx(history["val_loss"])
    assert not [tag for tag in run.tags()["scalar"] if tag.startswith("val_")]


def test_parameters_are_those_of_the_step(done):
    run = Run(done.folder / "every")
    names = [tag for tag in run.tags()["histogram"] if tag.endswith("/auto")]
    assert len(names) == 5, names
    kernel = next(run.histograms(tag) for tag in names if "conv/kernel" in tag)
    assert kernel.step.tolist() == list(range(1, 9))
    largest = [point.value.max for point in kernel]
    assert len(set(largest)) == 8
    assert largest[-1] == pytest.approx(done.facts["every"]["last"])
    assert any(tag.endswith("/gradient") for tag in run.tags()["histogram"]) == (done.backend == "torch")


def test_the_learning_rate_is_the_one_of_the_step(done):
    assert Run(done.folder / "every").scalars("learning_rate").value.tolist() == pytest.approx([0.1 / 2**step for step in range(8)])


def test_a_step_is_an_update(done):
    run = Run(done.folder / "accumulated")
    assert done.facts["accumulated"]["iterations"] == 4
    assert steps(run, "loss") == [1, 2, 3, 4]


def test_a_failed_step_is_not_recorded_and_the_exception_passes(done):
    assert done.facts["breaks"] == {"raised": "the second step"}
    assert steps(Run(done.folder / "breaks"), "loss") == [1]


def test_one_collector_serves_several_calls_and_counts_on(done):
    run = Run(done.folder / "twice")
    assert steps(run, "loss") == list(range(1, 13))
    assert steps(run, "eval/loss") == [12]
    assert steps(Run(done.folder / "after_failure"), "loss") == list(range(1, 10))


def test_an_evaluation_of_its_own_is_at_the_models_step(done):
    run = Run(done.folder / "evaluated")
    assert steps(run, "eval/loss") == [8]
    assert run.scalars("eval/loss").value.tolist() == pytest.approx([done.facts["evaluated"]["loss"]])


def test_the_order_of_the_hooks(done):
    assert done.facts["order"]["calls"] == (
        "train_begin 0, train_epoch_begin 0, train_step_begin 1, train_step_end 1, train_step_begin 2, train_step_end 2, "
        "eval_begin 0, eval_epoch_begin 0, eval_epoch_end 0, eval_end 0, train_epoch_end 2, train_end 2"
    )


def test_a_loop_that_tells_nothing_of_its_length(done):
    assert steps(Run(done.folder / "own_loop"), "loss") == [1, 2, 3, 4]


def test_our_callbacks_stop_the_training(done):
    assert steps(Run(done.folder / "stops"), "loss") == [1, 3]


def test_several_steps_at_once(done):
    if done.backend == "jax":
        np.testing.assert_array_equal(steps(Run(done.folder / "several"), "loss"), [3, 4, 7, 8])


def test_what_changes_parameters_behind_an_epoch_does_not_reach_those_that_were_recorded(done):
    facts, run = done.facts["swapped"], Run(done.folder / "swapped")
    (tag,) = (tag for tag in run.tags()["histogram"] if tag.endswith("conv/kernel/auto"))
    assert [point.value.max for point in run.histograms(tag)] == pytest.approx(facts["largest"])
    assert not facts["dropped"]


def test_keras_need_not_fill_the_variables_of_a_model_on_jax(done):
    filled = done.facts["elsewhere"]["filled"][1:]    # the first step's graph is the model's own
    assert filled == [False if done.backend == "jax" else None] * 7


def test_the_optimizer_is_left_as_it_was(done):
    assert not done.facts["swapped"]["watched"]
    assert done.facts["watched_twice"] == {"digest": done.facts["plain"]["digest"], "watched": False}
