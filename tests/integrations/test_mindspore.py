"""MindSpore's Model, with our collector: only the import is changed. It runs in MindSpore's own environment, in both of its modes."""

from __future__ import annotations

import json
import signal
from collections import namedtuple
from pathlib import Path

import numpy as np
import pytest
from testkit import clients

from summarykit import Run

pytestmark = pytest.mark.slow
PROGRAM = Path(__file__).resolve().parents[1] / "testkit/mindspore_program.py"
Done = namedtuple("Done", "folder facts mode")
STEPS = [1, 2, 3, 4, 5, 6, 7, 8]


@pytest.fixture(scope="module", params=["graph", "pynative"])
def done(request, mindspore_python, tmp_path_factory):
    from testkit.scripts import Script

    folder = tmp_path_factory.mktemp(request.param)
    ended = Script(PROGRAM, (str(folder), request.param), python=str(mindspore_python)).run(cwd=folder).expect_success()
    (line,) = (line for line in ended.stdout.splitlines() if line.startswith("FACTS"))
    return Done(folder, json.loads(line[5:]), request.param)


def steps(run: Run, tag: str) -> list[int]:
    return run.scalars(tag).step.tolist()


def test_the_training_is_the_same_bit_for_bit(done):
    assert done.facts["ours"] == done.facts["theirs"]
    assert done.facts["fails"] == done.facts["plain"]
    assert done.facts["ours"]["weights"] == done.facts["plain"]["weights"]


def test_values_are_those_of_mindspores_collector(done):
    theirs, ours = Run(done.folder / "theirs"), Run(done.folder / "ours")
    for tag in ("loss/auto", "op/mean"):
        seen = theirs.scalars(tag)
        at = np.unique(seen.step, return_index=True)[1]    # it writes the last step of an epoch twice
        assert steps(ours, tag) == STEPS
        np.testing.assert_array_equal(ours.scalars(tag).value.astype("f4"), seen.value[at].astype("f4"))
    names = set(theirs.tags()["histogram"])
    assert names == {"conv.weight/auto", "bn.gamma/auto", "bn.beta/auto", "fc.weight/auto", "fc.bias/auto", "op/hidden"}
    assert names == set(ours.tags()["histogram"])
    assert set(ours.tags()["image"]) == set(theirs.tags()["image"]) == {"op/image", "input_data/auto"}
    np.testing.assert_array_equal(ours.tensors("op/scores").at(8), theirs.tensors("op/scores").at(8))


def test_evaluation_stays_apart(done):
    run = Run(done.folder / "ours")
    assert steps(run, "eval/Accuracy") == [8]
    assert run.scalars("eval/Accuracy").value.tolist() == [done.facts["ours"]["accuracy"]]
    fit = Run(done.folder / "fit")
    assert steps(fit, "eval/Accuracy") == steps(fit, "eval/loss") == [4, 8]
    assert steps(fit, "loss/auto") == steps(fit, "op/mean") == STEPS
    plain = Run(done.folder / "ours")
    np.testing.assert_array_equal(fit.scalars("op/mean").value, plain.scalars("op/mean").value)    # none of the evaluation's


def test_operators_are_recorded_with_the_steps_that_are_collected(done):
    run = Run(done.folder / "seldom")
    assert steps(run, "op/mean") == steps(run, "loss/auto") == [1, 3, 6, 8]
    whole = Run(done.folder / "ours").scalars("op/mean").value
    assert run.scalars("op/mean").value.tolist() == whole[[0, 2, 5, 7]].tolist()


def test_a_failed_step_is_not_recorded_and_the_exception_passes(done):
    assert done.facts["breaks"] == {"raised": "step 2"}
    assert steps(Run(done.folder / "breaks"), "loss/auto") == [1]


@pytest.mark.parametrize(("name", "last"), [("before", 5), ("after", 6), ("fit", 8)])
def test_the_last_whole_step_is_there_though_the_collector_slept(done, name, last):
    run, whole = Run(done.folder / "asleep" / name), Run(done.folder / "ours").scalars("loss/auto").value
    assert steps(run, "loss/auto") == [1, last]
    assert run.scalars("loss/auto").value.tolist() == whole[[0, last - 1]].tolist()
    assert steps(run, "learning_rate") == ([1] if name == "before" else [1, last])    # in the middle of a step it may be another
    assert "micro_step" not in run.tags()["scalar"]
    if name != "before":
        assert run.scalars("op/mean").value[-1] == Run(done.folder / "ours").scalars("op/mean").value[last - 1]
    if name == "fit":
        assert steps(run, "eval/Accuracy") == [4, 8]


def test_one_collector_serves_two_trainings(done):
    assert len([*(done.folder / "twice").glob("*_MS")]) == 2
    assert steps(Run(done.folder / "twice"), "loss/auto") == [1, 2, 3, 4]


def test_a_continued_training_takes_up_the_steps_where_it_begins(done):
    run = Run(done.folder / "resumed")
    assert steps(run, "loss/auto") == list(range(1, 13))
    first = Run(done.folder / "ours").scalars("loss/auto").value
    np.testing.assert_array_equal(run.scalars("loss/auto").value[4:8], first[:4])    # the network was new: not the older points


def test_a_step_that_never_began_is_told_to_nobody(done):
    assert done.facts["unbegun"] == {"seen": []}


def test_no_step_is_told_with_the_loss_of_the_next(done):
    seen, losses = done.facts["between"]["seen"], Run(done.folder / "ours").scalars("loss/auto").value
    assert list(seen) == ["1", "4", "5", "8"]
    assert seen.pop("5") == {}    # it was gone
    assert seen == {step: {"loss/auto": losses[int(step) - 1]} for step in seen}


@pytest.mark.parametrize("ended", ["well", "failed"])
def test_an_evaluation_in_an_open_step_takes_nothing_from_it(done, ended):
    run, whole = Run(done.folder / "within" / ended), Run(done.folder / "ours")
    assert steps(run, "loss/auto") == steps(run, "op/mean") == STEPS
    assert run.scalars("op/mean").value.tolist() == whole.scalars("op/mean").value.tolist()
    assert ("eval/Accuracy" in run.tags()["scalar"]) == (ended == "well")


def test_a_run_is_let_go_of_though_a_callback_raises_at_its_end(done):
    assert done.facts["let_go"] == {"raised": "only we", "held": False}


def test_a_rate_for_each_group(done):
    run = Run(done.folder / "groups")
    assert run.scalars("learning_rate/0").value.tolist() == pytest.approx([0.1] * 4)
    assert run.scalars("learning_rate/1").value.tolist() == pytest.approx([0.05] * 4)
    assert "learning_rate/2" not in run.tags()["scalar"]
    assert steps(Run(done.folder / "ours"), "learning_rate") == STEPS


def test_a_loss_among_other_outputs(done):
    run = Run(done.folder / "own_step")
    assert steps(run, "loss/auto") == [1, 2, 3, 4]
    assert run.scalars("loss/auto").value[0] == pytest.approx(Run(done.folder / "ours").scalars("loss/auto").value[0])


def test_steps_that_were_done_in_one_go(done):
    assert steps(Run(done.folder / "sunk"), "loss/auto") == [4, 8, 12]
    assert done.facts["sunk"] == {"parameters": [4, 8, 12]}


def test_ctrl_c_loses_nothing_that_was_recorded(done, mindspore_python, tmp_path, start_script):
    """MindSpore's own handler ends the process without leaving its callbacks (reference, §7.8)."""
    _, process = start_script(PROGRAM, tmp_path, done.mode, "interrupted", python=mindspore_python, cwd=tmp_path)
    seen = ""
    while "STEP 3" not in seen:
        line = process.stdout.readline()
        assert line, f"it ended: {process.stderr.read()[-3000:]}"
        seen += line
    process.send_signal(signal.SIGINT)
    process.wait(280)
    assert steps(Run(tmp_path / "interrupted"), "loss/auto")[:3] == [1, 2, 3]


def test_our_callbacks_stop_the_training(done):
    assert done.facts["stops"] == {"seen": [1, 2, 3]}
    assert steps(Run(done.folder / "stops"), "op/mean") == [1, 3]    # the last step, though nobody knew that it would be


def test_only_gradients_that_the_network_holds_are_looked_for(done):
    assert done.facts["gradients"] == {"found": [[], [["own", 2]]], "asked": 0}


def test_a_record_takes_operators_over_outside_evaluations(done):
    run = Run(done.folder / "record")
    assert steps(run, "own") == [1, 2, 3, 4]
    assert steps(run, "op/mean") == [1, 3, 4]
    assert set(run.tags()["histogram"]) == {"op/hidden"}
    assert "Conv2" in "".join(node.op for node in run.graph()[0].nodes)


def test_a_collector_made_after_the_first_graph_or_the_communication_is_told(done):
    *graph, communication = done.facts["late"]["logged"]
    assert len(graph) == (1 if done.mode == "graph" else 0)
    assert all("made after the first graph was compiled" in line for line in graph)
    assert "made after the communication between devices" in communication


@pytest.mark.viewers
@pytest.mark.shared
def test_mindinsight_shows_the_lineage_that_it_shows_of_mindspores_collector(done, mindinsight_client):
    seen = clients.once(clients.with_lineage("./ours", "./theirs"), lambda: mindinsight_client(done.folder))["lineage"]
    shown = {**seen["./ours"]["model_lineage"], "dataset_graph": seen["./ours"]["dataset_graph"]}
    user_defined = shown.pop("user_defined")
    assert {name: user_defined[name] for name in ("user_int", "user_float", "user_str", "status")} == {
        "user_int": 7, "user_float": 0.25, "user_str": "tag", "status": "FINISHED"}  # fmt: skip
    assert shown["metric"] == {"Accuracy": done.facts["ours"]["accuracy"]}
    assert (shown["optimizer"], shown["learning_rate"], shown["batch_size"], shown["train_dataset_count"]) == ("Momentum", 0.05, 4, 16)
    assert Run(done.folder / "breaks").status == "FAILED"
    if len(list((done.folder / "theirs").glob("*_lineage"))) == 2:    # within one second it writes evaluation over training
        expected = {**seen["./theirs"]["model_lineage"], "dataset_graph": seen["./theirs"]["dataset_graph"]}
        del expected["user_defined"]
        assert shown == {**expected, "model_size": 284}    # it tells the checkpoint's, and 0 without one


@pytest.mark.viewers
def test_mindinsight_shows_the_same_pages_with_the_same_values(done, mindinsight_client):
    complete = clients.with_graphs if done.mode == "graph" else bool    # there is none in PyNative mode
    theirs, ours = (
        clients.once(complete, lambda name=name: mindinsight_client(done.folder / name)) for name in ("theirs", "ours")
    )
    assert complete(theirs)
    seen, found = (next(iter(document["train_jobs"].values()))["plugins"] for document in (theirs, ours))
    for page in ("scalar", "tensor", "histogram", "image"):
        tags = set(seen[page])
        assert tags <= set(found[page])
        for tag in tags:
            assert [same(point, page) for point in found[page][tag]] == [same(point, page) for point in seen[page][tag]], tag
    for page in ("graph", "optimized_graph"):
        if page in seen:    # its tag is the name of the file
            assert [*found[page].values()] == [*seen[page].values()]


def same(point, page):
    """What must be equal of a point: edges of histograms are rounded to float32 by MindSpore, PNGs are compressed in another way."""
    if page == "histogram":
        return point["step"], point["count"], point["min"], point["max"], [count for _, _, count in point["written_buckets"]]
    if page == "image":
        return point["step"]
    return {name: value for name, value in point.items() if name != "wall_time"}


def test_the_example_runs(mindspore_python, checkout, tmp_path, run_script):
    program = checkout / "examples/mindspore_lenet.py"
    run_script(program, "run", python=mindspore_python, cwd=tmp_path).expect_success()
    run = Run(tmp_path / "run")
    assert steps(run, "eval/accuracy") == [15, 30, 45]
    assert run.scalars("eval/accuracy").value[-1] > 0.6
    assert set(run.tags()["image"]) == {"images", "input_data/auto"}
