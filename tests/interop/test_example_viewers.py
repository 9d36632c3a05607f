"""What the examples of PyTorch and MindSpore record, in the real viewers: they show the values that our reader gives back."""

from __future__ import annotations

import sys

import pytest
from testkit import clients, scripts, views

from summarykit import Run

pytestmark = [pytest.mark.viewers, pytest.mark.shared, pytest.mark.slow]
KINDS = {"scalar", "histogram", "image"}
PARAMETERS = {"torch_watch": "0.weight/auto", "mindspore_lenet": "first.0.weight/auto"}


@pytest.fixture(scope="module", params=PARAMETERS)
def example(request, checkout, tmp_path_factory):
    pytest.importorskip("torch" if request.param == "torch_watch" else "sklearn")
    python = request.getfixturevalue("mindspore_python") if request.param == "mindspore_lenet" else sys.executable
    directory = tmp_path_factory.mktemp(request.param)
    program = checkout / f"examples/{request.param}.py"
    scripts.Script(program, (str(directory / "run"),), python=str(python)).run(cwd=directory).expect_success()
    return request.param, directory / "run"


@pytest.fixture(scope="module")
def in_mindinsight(example, mindinsight_client):
    complete = clients.with_lineage("./")
    return clients.once(lambda document: clients.with_graphs(document) and complete(document), lambda: mindinsight_client(example[1]))


def test_mindinsight(example, in_mindinsight):
    name, directory = example
    run, seen = Run(directory), views.mindinsight(in_mindinsight)
    assert {kind for kind, _ in seen} >= KINDS
    views.expect_scalars(run, seen)
    assert ("histogram", PARAMETERS[name]) in seen
    for tag in run.tags()["histogram"]:
        for step, point in seen["histogram", tag].items():
            value = run.histograms(tag).at(step).value
            assert (point["count"], point["min"], point["max"]) == (value.count, value.min, value.max)


def test_mindinsights_lineage(example, in_mindinsight):
    found, shown = Run(example[1]).lineage(), in_mindinsight["lineage"]["./"]["model_lineage"]
    assert found.status == shown["user_defined"]["status"] == "FINISHED"
    assert shown["network"] == found.network
    assert shown["loss"] == pytest.approx(found.loss)
    assert shown["metric"] == pytest.approx(found.metrics)


@pytest.mark.parametrize("way", ["python", "rust"])
def test_tensorboard(example, tensorboard_client, way):
    name, directory = example
    document = tensorboard_client(directory, way).expect_sound()
    run, seen = Run(directory), views.tensorboard(document)
    assert {kind for kind, _ in seen} >= KINDS
    views.expect_scalars(run, seen)
    assert sorted(seen["histogram", PARAMETERS[name]]) == run.histograms(PARAMETERS[name]).step.tolist()
    (point,) = document["runs"]["."]["plugins"]["graphs"]["__run_graph__"]["points"]
    assert sum(point["graphs"][0]["ops"].values()) == len(run.graph()[0].nodes)
