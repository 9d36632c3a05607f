"""SummaryCollector in a loop: which steps, which tags, what a failure costs, and that it costs nothing between."""

from __future__ import annotations

import gc
import pickle
import shutil
import signal
import time
import weakref

import numpy as np
import pytest

from summarykit.collectors import PARTS, Part, SummaryCollector
from summarykit.errors import RefusedValueError
from summarykit.integrations.driver import Driver
from summarykit.reading import Run
from summarykit.training import Callback, CallbackList, Loop, RunContext, Status

KEPT = ("collect_metric", "collect_learning_rate", "collect_gradient", "collect_tensor")


def train(collector, steps=25, epochs=1, data=None, report=lambda step: {"loss": 1.0 / step}, **more):
    """A loop that reports in every step."""
    data = range(steps) if data is None else data
    with Loop(train_dataset=data, epochs=epochs, callbacks=[collector], **more) as loop:
        for _ in loop.epochs():
            for _ in loop.steps():
                loop.report(report(loop.step))
    return loop


@pytest.fixture
def collector(directory, quiet):
    return lambda freq=10, specified=None, **more: SummaryCollector(
        directory.path, freq, collect_specified_data={**quiet(*KEPT, "collect_broken"), **(specified or {})}, **more
    )


@pytest.mark.parametrize(
    ("steps", "epochs", "freq", "expected"),
    [
        (25, 1, 10, [1, 10, 20, 25]),
        (20, 1, 10, [1, 10, 20]),
        (6, 3, 1, list(range(1, 19))),  # MindSpore writes the last step of every epoch twice
        (6, 3, 6, [1, 6, 12, 18]),
        (3, 1, 1000, [1, 3]),
        (1, 1, 10, [1]),
        (0, 2, 10, []),
    ],
)
@pytest.mark.parametrize("sized", [True, False])
def test_the_first_every_nth_and_the_last_step_each_once(directory, collector, network, steps, epochs, freq, expected, sized):
    class Unsized:
        def __iter__(self):
            return iter(range(steps))

    train(collector(freq), data=range(steps) if sized else Unsized(), epochs=epochs, model=network, optimizer={"lr": 0.5})
    found = directory.steps()
    tags = ["loss", "learning_rate", *(f"layer{n}.weight/{what}" for n in range(5) for what in ("auto", "gradient"))]
    assert found == (dict.fromkeys(tags, expected) if expected else {})


@pytest.mark.parametrize("how", ["break", "stop"])
def test_the_last_step_of_a_run_that_ends_early(directory, collector, network, how):
    with Loop(network, {"lr": 1}, range(100), 3, collector()) as loop:
        for _ in loop.steps():
            loop.report(loss=loop.step)
            if loop.step == 14 and how == "break":
                break
            if loop.step == 14:
                loop.request_stop()
    assert directory.steps()["loss"] == directory.steps()["layer0.weight/auto"] == [1, 10, 14]
    assert directory.values("loss") == [1, 10, 14]


MORE = {"collect_train_lineage": True, "collect_tensor": True, "collect_input_data": True}


@pytest.mark.parametrize("last", [1, 2, 9, 10, 11, 14])
@pytest.mark.parametrize("accumulation", [1, 2])
def test_the_last_step_of_a_loop_that_leaves_before_the_next_one_does_anything(directory, collector, network, last, accumulation):
    """``if step == most: break`` at the top of the body is how many loops end."""
    batches = (np.full((1, 1, 4, 4), number / 100, np.float32) for number in range(100))
    with Loop(network, {"lr": 1}, batches, callbacks=collector(10, MORE), accumulation=accumulation) as loop:
        for number, _ in enumerate(loop.steps()):
            if number == last * accumulation:
                break
            loop.report(loss=number, array=np.full(3, number))
    found = Run(directory.path)
    assert set(directory.steps()["input_data/auto"]) <= {1, 10}    # the batch of the last one is gone, and that of no other is its
    assert directory.steps()["loss"] == directory.steps()["layer0.weight/auto"] == sorted({1, last} | {10} & set(range(last)))
    assert found.scalars("loss").value[-1] == found.lineage().loss == last * accumulation - 1
    assert found.tensors("array").at(last)[:].tolist() == [last * accumulation - 1] * 3


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_ru1_what_a_run_reported_until_an_exception_is_there(directory, collector, network, error):
    with pytest.raises(error), Loop(network, None, range(100), 3, collector()) as loop:
        for _ in loop.steps():
            loop.report(loss=loop.step)
            if loop.step == 14:
                raise error
    assert directory.steps()["loss"] == [1, 10, 13, 14]
    assert directory.steps()["layer0.weight/auto"] == [1, 10]


def test_ru1_an_exception_before_the_report_of_a_step(directory, collector):
    with pytest.raises(ValueError, match="bad"), Loop(train_dataset=range(100), callbacks=collector()) as loop:
        for _ in loop.steps():
            if loop.step == 14:
                raise ValueError("bad")
            loop.report(loss=loop.step)
    assert directory.steps()["loss"] == [1, 10, 13]


def test_ru1_what_the_last_whole_step_reported_is_there_where_only_its_weights_were_collected(directory, collector, network):
    asked = {"collect_landscape": {"intervals": [[2, 5, 13]]}}
    with pytest.raises(ValueError, match="bad"), Loop(network, None, range(100), 1, collector(specified=asked)) as loop:
        for _ in loop.steps():
            if loop.step == 14:
                raise ValueError("bad")
            loop.report(loss=loop.step)
    assert directory.steps()["loss"] == [1, 10, 13]


@pytest.mark.parametrize(("last", "arrays"), [(14, [1, 7, 14]), (20, [1, 7, 14, 20]), (70, [*range(7, 71, 7)])])
def test_ru1_what_the_last_whole_step_reported_is_there_once_where_only_its_arrays_or_only_its_numbers_were_collected(
    directory, collector, last, arrays
):
    with pytest.raises(ValueError, match="bad"), Loop(None, None, range(100), 1, collector(10, collect_tensor_freq=7)) as loop:
        for _ in loop.steps():
            if loop.step == last + 1:
                raise ValueError("bad")
            loop.report(loss=loop.step, array=[loop.step, 0])
    found = directory.steps()
    assert found["loss"] == sorted({1, *range(10, last + 1, 10), last})
    assert found["array"] == sorted({1, *arrays})


def test_ru1_gradients_of_a_step_that_an_exception_ended_are_not_taken_for_those_of_the_step_before(directory, collector):
    torch = pytest.importorskip("torch")
    network = torch.nn.Linear(2, 2)
    optimizer = torch.optim.SGD(network.parameters())
    asked = {"collect_gradient": True, "collect_activations": ""}
    with pytest.raises(ValueError, match="bad"), Loop(network, optimizer, range(100), 1, collector(specified=asked)) as loop:
        for _ in loop.steps():
            loop.report(loss=loop.step)
            network(torch.ones(1, 2)).sum().backward()
            optimizer.step()
            if loop.step == 10:
                raise ValueError("bad")
    assert directory.steps()["loss"] == [1, 9, 10]
    assert directory.steps()["weight/gradient"] == directory.steps()["/activation"] == [1, 10]


def test_activations_of_a_step_that_an_evaluation_interrupts_have_its_number(directory, collector):
    torch = pytest.importorskip("torch")
    network = torch.nn.Linear(2, 2)
    driver = Driver(collector(specified={"collect_activations": ""}))
    driver.train_begin(network=network)
    for _ in range(10):
        driver.step_begin()
        network(torch.ones(1, 2))
        if driver.step == 9:
            driver.eval_begin()
            driver.eval_end({"accuracy": 1.0})
        driver.step_end({"loss": 1.0})
    driver.train_end()
    assert directory.steps()["/activation"] == [1, 10]
    assert directory.steps()["eval/accuracy"] == [9]


def test_ru1_an_exception_between_the_steps_leaves_the_last_whole_step(directory, collector, network):
    with pytest.raises(ValueError, match="bad"), Loop(network, None, range(4), 3, collector()) as loop:
        for _ in loop.epochs():
            for _ in loop.steps():
                loop.report(loss=loop.step)
            with loop.evaluation():
                raise ValueError("bad")
    assert directory.steps()["loss"] == directory.steps()["layer0.weight/auto"] == [1, 4]


INTERRUPTED = """
import sys, time
from summarykit import Loop, SummaryCollector
loop = Loop(train_dataset=range(10**6), callbacks=SummaryCollector(sys.argv[1]))
try:
    with loop:
        for _ in loop.steps():
            loop.report(loss=loop.step)
            if loop.step == 12:
                print("ready", flush=True)
                while True:    # one long sleep would not see a signal that comes just before it
                    time.sleep(0.01)
except KeyboardInterrupt:
    print(loop.status.value, flush=True)
    raise
"""


def test_ru1_ctrl_c_in_a_real_process(directory, start_script):
    _, process = start_script(INTERRUPTED, directory.path)
    assert process.stdout.readline().strip() == "ready"
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=90)
    assert out.strip() == "INTERRUPTED"
    assert process.returncode == -signal.SIGINT
    assert directory.steps()["loss"] == [1, 10, 11, 12]
    assert directory.values("loss") == [1, 10, 11, 12]


class Probe:
    """A value that counts how often anything of it is asked for."""

    def __init__(self, value):
        object.__setattr__(self, "value", value)
        object.__setattr__(self, "asked", 0)

    def __getattr__(self, name):
        object.__setattr__(self, "asked", self.asked + 1)
        return getattr(self.value, name)


def test_nothing_is_looked_at_on_steps_that_are_not_collected(directory, collector, network):
    asked = {"network": [], "optimizer": [], "batch": [], "reported": []}
    model, optimizer = Probe(network), Probe(type("Optimizer", (), {"lr": 0.1})())
    batches = [Probe(np.zeros((2, 1, 4, 4))) for _ in range(25)]
    reported = [Probe(np.float64(n)) for n in range(25)]
    apart = {"collect_train_lineage": False}    # looks once more when the commit is known, whenever that is
    with Loop(model, optimizer, batches, 1, SummaryCollector(directory.path, collect_specified_data=apart)) as loop:
        for number, _ in enumerate(loop.steps()):
            loop.report(loss=reported[number])
            asked["network"].append(model.asked)
            asked["optimizer"].append(optimizer.asked)
    for name in ("network", "optimizer"):
        changed = [step for step in range(1, 25) if asked[name][step] != asked[name][step - 1]]
        assert set(changed) <= {1, 9, 10, 19, 20, 24}, name  # seen in the body of the step: after its begin, before its end
    for values in (batches, reported):
        assert [number + 1 for number, value in enumerate(values) if value.asked] == [1, 10, 20, 25]


def test_evaluation_is_not_recorded_as_training(directory, collector, network):
    with Loop(network, {"lr": 0.1}, range(5), 2, collector(1)) as loop:
        for _ in loop.epochs():
            for _ in loop.steps():
                loop.report(loss=1.0)
            with loop.evaluation(range(50)):
                for _ in loop.steps():
                    loop.report(loss=-1.0, accuracy={"top1": 0.5})
    steps = directory.steps()
    assert steps["loss"] == steps["learning_rate"] == steps["layer0.weight/auto"] == list(range(1, 11))
    assert steps["eval/loss"] == steps["eval/accuracy/top1"] == [5, 10]
    assert set(directory.values("loss")) == {1.0}


def test_evaluation_in_the_middle_of_a_step(directory, collector):
    with Loop(train_dataset=range(3), callbacks=collector(1)) as loop:
        for _ in loop.steps():
            loop.report(loss=loop.step)
            with loop.evaluation():
                loop.report(accuracy=loop.step / 10)
    assert directory.steps() == {"loss": [1, 2, 3], "eval/accuracy": [1, 2, 3]}


def test_evaluation_on_its_own(directory, collector):
    loop = Loop(callbacks=collector())
    with loop.evaluation(range(3)):
        for _ in loop.steps():
            loop.report(accuracy=0.5)
    assert directory.steps() == {"eval/accuracy": [0]}


def test_cb10_histograms_with_validation_data_that_is_none_or_a_generator(directory, collector, network):
    with Loop(network, None, range(3), 2, collector(1)) as loop:
        for epoch in loop.epochs():
            list(loop.steps())
            with loop.evaluation(None if epoch == 1 else (n for n in range(2))):
                assert epoch == 1 or len(list(loop.steps())) == 2
    assert directory.steps()["layer0.weight/auto"] == [1, 2, 3, 4, 5, 6]


def test_what_is_reported_between_the_steps_belongs_to_the_epoch(directory, collector):
    with Loop(train_dataset=range(4), epochs=2, callbacks=collector(100)) as loop:
        loop.report(before=1)
        for epoch in loop.epochs():
            list(loop.steps())
            loop.report(epoch_loss=epoch, confusion=np.eye(2))
        loop.report(after=2)
    assert directory.steps() == {"before": [4], "epoch_loss": [4, 8], "confusion": [4, 8], "after": [8]}


def test_cb4_a_loop_that_calls_back_once_for_many_steps(directory, collector, caplog):
    callbacks = CallbackList(collector(10))
    context = RunContext({"cur_step_num": 0, "network": {"w": np.ones(3)}})
    params = context.original_args()
    with callbacks.entered():
        callbacks.fire("on_train_begin", context)
        for epoch in range(1, 6):
            params.update(cur_epoch_num=epoch, cur_step_num=epoch * 97, reported={"loss": epoch})
            if epoch % 2:
                callbacks.fire("on_train_step_begin", context)
                callbacks.fire("on_train_step_end", context)
            callbacks.fire("on_train_epoch_end", context)
        callbacks.fire("on_train_end", context)
    assert directory.steps()["loss"] == directory.steps()["w/auto"] == [97, 194, 291, 388, 485]
    assert [message for message in caplog.messages if "once every 97 steps" in message] == [caplog.messages[0]]


def test_a_collector_that_sleeps_between_the_steps_that_are_due_takes_that_for_no_jump(directory, collector, caplog):
    with Loop({"w": np.ones(3)}, None, range(40), 1, summary := collector()) as loop:
        sleeps = set()
        for step in loop.steps():
            loop.report(loss=float(step))
            sleeps.add(summary.wakes_at)
    assert {10, 20, 30, 40} <= sleeps
    assert not [message for message in caplog.messages if "once every" in message]
    assert directory.steps()["loss"] == [1, 10, 20, 30, 40]


def test_cb5_a_dictionary_of_logs(directory, collector, caplog):
    logs = {"loss": 0.1, "lr": np.float32(0.5), "note": "x", "nested": {"a": 1, "deep": {"b": True, "note": "y"}}, "": 3, "none": None}
    summary = collector(1)
    loop = train(summary, steps=3, report=lambda step: logs)
    assert loop.status is Status.FINISHED
    assert directory.steps() == {tag: [1, 2, 3] for tag in ("loss", "lr", "nested/a", "nested/deep/b")}
    for tag, text in (("note", b"x"), ("nested/deep/note", b"y")):
        points = Run(directory.path).points("text", tag)
        assert [(point.step, point.value.data.item()) for point in points] == [(1, text), (2, text), (3, text)]
    told = [message for message in caplog.messages if "''" in message or "'none'" in message]
    assert len(told) == 2
    assert sum(summary.stats()["dropped"].values()) == 3


def test_cb6_a_second_run_with_the_same_collector(directory, collector):
    summary = collector()
    with pytest.raises(KeyboardInterrupt), Loop(train_dataset=range(100), callbacks=summary) as loop:
        for _ in loop.steps():
            if loop.step == 12:
                raise KeyboardInterrupt
            loop.report(loss=1)
    train(summary, steps=12, report=lambda step: {"loss": 2})
    assert sorted(zip(directory.steps()["loss"], directory.values("loss"), strict=True)) == [
        (1, 1), (1, 2), (10, 1), (10, 2), (11, 1), (12, 2),
    ]
    assert len(directory.files) == 2


def test_a_run_that_continues_counts_on(directory, collector):
    train(collector(), steps=15, epochs=2, initial_step=100, initial_epoch=1)
    assert directory.steps()["loss"] == [101, 110, 115]


def test_two_collectors_in_one_loop(tmp_path, directory, collector):
    other = SummaryCollector(tmp_path / "other", 5)
    with Loop(train_dataset=range(10), callbacks=[collector(10), other]) as loop:
        for _ in loop.steps():
            loop.report(loss=1)
    assert directory.steps()["loss"] == [1, 10]
    assert type(directory)(tmp_path / "other").steps()["loss"] == [1, 5, 10]


def test_reported_arrays_are_tensors_and_few(directory, collector):
    train(collector(1), steps=400, report=lambda step: {"loss": [step], "confusion": np.full((2, 2), step)})
    assert len(directory.steps()["loss"]) == 400
    steps = directory.steps()["confusion"]
    assert len(steps) <= 20
    assert (steps[0], steps[-1]) == (1, 400)
    assert {tuple(value.ravel()) for value in directory.values("confusion")} == {(step,) * 4 for step in steps}


def test_tensors_as_often_as_asked(directory, collector):
    train(collector(10, collect_tensor_freq=4), steps=13, report=lambda step: {"loss": 1, "t": np.zeros(2)})
    assert directory.steps() == {"loss": [1, 10, 13], "t": [1, 4, 8, 12, 13]}


def test_a_collector_that_is_not_entered_says_so(directory, collector, caplog):
    summary = collector()
    summary.on_train_step_end(RunContext({"cur_step_num": 1}))
    summary.on_train_step_end(RunContext({"cur_step_num": 2}))
    assert len(caplog.messages) == 1
    assert "nothing is recorded" in caplog.text


def test_a_directory_that_vanished_does_not_end_the_training(directory, collector, caplog):
    summary = collector()
    directory.path.rmdir()
    directory.path.write_text("in the way")
    assert train(summary).status is Status.FINISHED
    assert "training goes on, and writing is tried again" in caplog.text
    assert (summary.stats()["written"], summary.stats()["dropped"]) == (0, {"storage: Not a directory": 4})


def test_a_directory_that_is_there_again_is_recorded_into_again(directory, collector, caplog):
    """What was lost meanwhile is counted, and told once."""
    summary = collector(1)
    directory.path.rmdir()
    directory.path.write_text("in the way")

    def report(step):
        if step == 11:
            while summary.stats()["waiting"]:
                time.sleep(0.01)
            directory.path.unlink()
        return {"loss": float(step)}

    train(summary, report=report)
    assert directory.steps()["loss"] == list(range(11, 26))
    assert (summary.stats()["written"], summary.stats()["dropped"]) == (15, {"storage: Not a directory": 10})
    assert caplog.text.count("Not a directory") == 2    # that it cannot be written, and that values were lost


def test_nor_does_one_that_vanishes_between_two_runs(directory, collector):
    summary = collector(1)
    train(summary, steps=3)
    shutil.rmtree(directory.path)
    train(summary, steps=3)
    assert directory.steps()["loss"] == [1, 2, 3]


def test_raise_exception_lets_everything_through(directory, collector):
    with pytest.raises(RefusedValueError, match="NoneType"):
        train(collector(raise_exception=True), report=lambda step: {"none": None})


class Broken(Part):
    """A part that always fails."""

    key = "collect_broken"

    def collect(self, params, sink):
        """Fail."""
        sink.add("scalar", "before", 1)
        raise MemoryError("the part is broken")


@pytest.fixture
def broken(monkeypatch):
    monkeypatch.setitem(PARTS._ours, "broken", f"{__name__}:Broken")
    monkeypatch.setitem(PARTS._found, "broken", Broken)


@pytest.mark.usefixtures("broken")
def test_a_broken_part_costs_only_what_it_would_have_collected(directory, collector, caplog):
    assert train(collector()).status is Status.FINISHED
    assert directory.steps()["loss"] == directory.steps()["before"] == [1, 10, 20, 25]
    assert len([message for message in caplog.messages if "the part is broken" in message]) == 1


@pytest.mark.usefixtures("broken")
def test_a_broken_part_ends_the_training_where_that_is_asked(directory, collector):
    with pytest.raises(MemoryError, match="the part is broken"):
        train(collector(raise_exception=True))


@pytest.mark.usefixtures("broken")
def test_a_part_of_a_third_party_has_a_key(directory, collector):
    train(collector(specified={"collect_broken": False}))
    assert "before" not in directory.steps()
    with pytest.raises(TypeError, match="collect_broken: True or False is needed"):
        collector(specified={"collect_broken": 1})


def test_the_record_says_what_became_of_it(directory, collector):
    summary = collector()
    assert summary.stats() == {}
    train(summary)
    stats = summary.stats()
    assert stats["recorded"] == stats["written"] >= 4
    assert stats["dropped"] == {}


def test_what_is_kept_of_a_run_does_not_keep_its_network(directory, network):
    collector, model = SummaryCollector(directory.path), type(network)()
    alive = weakref.ref(model)
    train(collector, model=model)
    assert collector.stats()["dropped"] == {}
    del model
    gc.collect()
    assert alive() is None


def test_a_collector_can_be_sent_to_another_process(directory, collector):
    train(pickle.loads(pickle.dumps(collector())))
    assert directory.steps()["loss"] == [1, 10, 20, 25]


def test_a_user_callback_sees_the_same_run(directory, collector):
    class Stop(Callback):
        def step_end(self, context):
            if float(context.original_args().net_outputs) < 0.2:
                context.request_stop()

    with Loop(train_dataset=range(100), callbacks=[collector(), Stop()]) as loop:
        for _ in loop.steps():
            loop.report(loss=1 / loop.step)
    assert directory.steps()["loss"] == [1, 6]
