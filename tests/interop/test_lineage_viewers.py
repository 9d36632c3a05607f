"""Both viewers show the lineage of a run: MindInsight in its table of runs, TensorBoard as sessions on its HPARAMS page."""

from __future__ import annotations

import numpy as np
import pytest
from testkit import clients

from summarykit import Loop, Run, SummaryCollector, SummaryWriter, convert

pytestmark = [pytest.mark.viewers, pytest.mark.shared]

CUSTOM = {"width": 64, "nested": {"rate": 0.5, "name": "café", "none": None}, "layers": [1, 2], "large": 2**40}
SHOWN = {"width": 64, "nested/rate": 0.5, "nested/name": "café", "nested/none": "None", "layers": "[1, 2]", "large": str(2**40)}


class Network:
    def __init__(self):
        self.parameters = {"weight": np.zeros((3, 4), np.float32)}


class Momentum:
    learning_rate = 0.05


def train(directory, *, fails=False):
    data = [(np.zeros((8, 3), np.float32), np.zeros(8))] * 3
    collector = SummaryCollector(directory, custom_lineage_data=CUSTOM)
    with Loop(Network(), Momentum(), data, 2, collector, loss_fn="cross_entropy") as loop:
        for _ in loop.epochs():
            for _ in loop.steps():
                loop.report(loss=1 / loop.step)
                if fails and loop.step == 4:
                    raise ValueError("no")
            with loop.evaluation(data[:2]):
                for _ in loop.steps():
                    pass
                loop.report(accuracy=loop.step / 8, f1=np.float32(0.1), missing=float("nan"))


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    directory = tmp_path_factory.mktemp("lineage")
    train(directory / "good")
    with pytest.raises(ValueError, match="no"):
        train(directory / "bad", fails=True)
    return directory


@pytest.mark.parametrize("options", [(), ("--rest",)], ids=["python", "rest"])
def test_mindinsight_shows_what_was_told(base, mindinsight_client, options):
    seen = clients.once(clients.with_lineage("./good", "./bad"), lambda: mindinsight_client(base, *options))["lineage"]
    model = seen["./good"]["model_lineage"]
    expected = {
        "network": "Network", "optimizer": "Momentum", "learning_rate": 0.05, "loss_function": "cross_entropy", "epoch": 2, "batch_size": 8,
        "device_num": 1, "train_dataset_count": 24, "test_dataset_count": 16, "model_size": 48,
    }  # fmt: skip
    assert {name: model[name] for name in expected} == expected
    assert model["loss"] == pytest.approx(1 / 6)
    assert model["metric"] == {"accuracy": 0.75, "f1": float(np.float32(0.1)), "missing": "nan"}
    assert {name: model["user_defined"][name] for name in SHOWN} == SHOWN
    assert (model["user_defined"]["status"], model["user_defined"]["parameters"]) == ("FINISHED", 12)
    assert seen["./bad"]["model_lineage"]["user_defined"]["status"] == "FAILED"
    assert seen["./bad"]["model_lineage"]["loss"] == pytest.approx(1 / 4)


def test_mindinsight_shows_the_run_that_goes_on_where_an_earlier_one_was(base, mindinsight_client, tmp_path):
    for times in range(2):
        train(tmp_path / "base/run")
        seen = clients.once(clients.with_lineage("./run"), lambda: mindinsight_client(tmp_path / "base"))
        model = seen["lineage"]["./run"]["model_lineage"]
        assert (model["metric"]["accuracy"], model["user_defined"]["status"]) == (0.75, "FINISHED"), times


def test_mindinsight_shows_what_was_converted(base, mindinsight_client, tmp_path):
    convert(base, tmp_path / "converted", "mindspore")
    complete = clients.with_lineage("./good", "./bad")
    original, converted = (
        clients.once(complete, lambda where=where: mindinsight_client(where))["lineage"] for where in (base, tmp_path / "converted")
    )
    assert original.keys() == {"./good", "./bad"}
    for run, found in original.items():
        theirs = converted[run]
        assert (theirs["model_lineage"], theirs["dataset_graph"]) == (found["model_lineage"], found["dataset_graph"])


@pytest.mark.parametrize("way", ["http", "http --load-fast"])
def test_tensorboard_shows_a_session_for_each_run(base, tensorboard_client, way):
    document = tensorboard_client(base, *way.split()).expect_sound()
    columns = {info["name"]: info for info in document["hparams"]["experiment"]["hparamInfos"]}
    assert {"optimizer", "learning_rate", "batch_size", "loss_function", "epoch", "width", "nested/rate", "layers"} <= columns.keys()
    metrics = {info["name"]["tag"] for info in document["hparams"]["experiment"]["metricInfos"]}
    assert {"loss", "eval/accuracy", "eval/f1"} <= metrics
    sessions = {group["name"]: group for group in document["hparams"]["session_groups"]["sessionGroups"]}
    good, bad = sessions["good"], sessions["bad"]
    assert (good["hparams"]["learning_rate"], good["hparams"]["optimizer"], good["hparams"]["width"]) == (0.05, "Momentum", 64.0)
    assert [each["status"] for each in good["sessions"]] == ["STATUS_SUCCESS"]
    assert [each["status"] for each in bad["sessions"]] == ["STATUS_FAILURE"]


def test_our_reader_tells_the_same(base):
    found = Run(base / "good").lineage()
    assert found.custom == CUSTOM
    assert found.metrics["accuracy"] == 0.75
    assert np.isnan(found.metrics["missing"])


@pytest.mark.parametrize("way", ["http", "http --load-fast"])
@pytest.mark.parametrize(("told", "compared"), [({}, {"loss", "accuracy"}), ({"accuracy": 0.5}, {"accuracy"})])
def test_tensorboard_compares_by_the_metrics_that_were_told_or_by_all(tensorboard_client, tmp_path, way, told, compared):
    """Frameworks tell the settings when the training begins, before there is a metric, and some users again, with one."""
    for number in range(2):
        with SummaryWriter(tmp_path / f"run{number}") as writer:
            writer.add_hparams({"lr": number}, {})
            writer.add_scalar("loss", 0.25, 1)
            writer.add_scalar("accuracy", 0.5, 1)
            writer.add_hparams({"lr": number}, told)
    document = tensorboard_client(tmp_path, *way.split()).expect_sound()
    assert {info["name"]["tag"] for info in document["hparams"]["experiment"]["metricInfos"]} == compared
    values = [group["metricValues"] for group in document["hparams"]["session_groups"]["sessionGroups"]]
    assert [{value["name"]["tag"] for value in each} for each in values] == [compared] * 2
