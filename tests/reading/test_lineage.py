"""What a run came from and what came of it, read back."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import replace

import pytest
from testkit import building

from summarykit import SummaryRecord
from summarykit.clock import DEAD_SECS, Process
from summarykit.formats.mindspore import lineage
from summarykit.formats.origin import Origin
from summarykit.reading import Run, RunLineage, convert, runs
from summarykit.shapes import Lineage

GONE = Process(2**22 + 1, 1, "another boot", 1, "elsewhere")


def write(directory, *parts, stamp=1_700_000_000, process=GONE):
    """A lineage file with these parts."""
    file = directory / f"events.out.events.summary.{stamp}.0.host.1.000000_MS_lineage"
    opening = lineage.opening(Origin("a" * 32, 0, process), 1.0)
    building.write(file, [opening, *(lineage.encode(part, step, 2.0 + step) for step, part in enumerate(parts))])
    return file


def train(**values):
    return Lineage(Lineage.TRAIN, values)


def run(**values):
    return Lineage(Lineage.RUN, values)


def test_of_every_part_the_last_counts(tmp_path):
    write(tmp_path, train(optimizer="SGD", loss=2.0), run(status="RUNNING", started=1.0), train(optimizer="SGD", loss=1.0), run(
        status="FINISHED", started=1.0, ended=4.0, step=7))  # fmt: skip
    found = Run(tmp_path).lineage()
    assert found == RunLineage("FINISHED", 1.0, 4.0, 7, hyper_parameters={"optimizer": "SGD"}, loss=1.0)
    assert found.duration == 3.0
    assert Run(tmp_path).status == "FINISHED"


def test_where_nobody_told_there_is_nothing(tmp_path):
    building.file(tmp_path, "mindspore", [building.scalar("loss", 1, 1)])
    assert Run(tmp_path).lineage() == RunLineage()
    assert Run(tmp_path).lineage().duration is None


def test_a_later_training_makes_void_what_was_told_before(tmp_path):
    evaluation = Lineage(Lineage.EVALUATION, {"metric": {"accuracy": 0.5}})
    write(tmp_path, train(optimizer="SGD"), evaluation, run(status="FAILED"))
    write(tmp_path, train(optimizer="Adam"), stamp=1_700_000_001)
    assert Run(tmp_path).lineage() == RunLineage(hyper_parameters={"optimizer": "Adam"})


def test_a_later_evaluation_adds_to_the_training(tmp_path):
    write(tmp_path, train(optimizer="SGD"), run(status="FINISHED"))
    write(tmp_path, Lineage(Lineage.EVALUATION, {"metric": {"accuracy": 0.5}}), stamp=1_700_000_001)
    found = Run(tmp_path).lineage()
    assert (found.status, found.hyper_parameters, found.metrics) == ("FINISHED", {"optimizer": "SGD"}, {"accuracy": 0.5})


def test_the_settings_of_a_session_of_tensorboard(tmp_path):
    with SummaryRecord(tmp_path, formats=("tensorboard",)) as record:
        record.add_value("hparams_session", "session", {"lr": 0.1, "nested": {"units": 3}})
        record.record(0)
    assert Run(tmp_path).lineage() == RunLineage(custom={"lr": 0.1, "nested/units": 3.0})
    assert runs(tmp_path).lineage().rows[0]["lr"] == 0.1


@pytest.mark.parametrize("form", ["mindspore", "tensorboard"])
def test_it_survives_a_conversion(tmp_path, form):
    custom = Lineage(Lineage.CUSTOM, {"a": {"b": None}}, {"status": "x"})
    parts = train(optimizer="SGD", further=[1]), custom, run(status="FAILED", started=1.0)
    (tmp_path / "run").mkdir()
    write(tmp_path / "run", *parts)
    written = convert(tmp_path, tmp_path.with_name("converted") / form, form).written
    assert [path.name.endswith("_lineage") for path in written] == [False, True]
    assert Run(written[0].parent).lineage() == Run(tmp_path / "run").lineage()
    assert Run(written[0].parent).points("lineage", Lineage.CUSTOM)[0].value.shown == {"status": "x"}


class TestRunning:
    """A status that is RUNNING is believed only as long as its writer lives."""

    def test_while_its_process_lives(self, tmp_path):
        file = write(tmp_path, run(status="RUNNING", started=1.0), process=Process.current())
        os.utime(file, (1, 1))
        assert Run(tmp_path).status == "RUNNING"

    def test_ru1_dead_where_its_process_is_gone(self, tmp_path):
        over = subprocess.Popen([sys.executable, "-c", ""])
        over.wait()
        file = write(tmp_path, run(status="RUNNING", started=1.0), process=replace(Process.current(), pid=over.pid))
        os.utime(file, (5, 5))
        found = Run(tmp_path).lineage()
        assert (found.status, found.ended, found.duration) == ("DEAD", 5.0, 4.0)

    def test_ru1_of_another_machine_by_its_heartbeat(self, tmp_path):
        file = write(tmp_path, run(status="RUNNING"))
        assert Run(tmp_path).status == "RUNNING"
        os.utime(file, (1, time.time() - DEAD_SECS - 1))
        assert Run(tmp_path).status == "DEAD"

    def test_values_that_come_in_are_signs_of_life_too(self, tmp_path):
        file = write(tmp_path, run(status="RUNNING"))
        os.utime(file, (1, 1))
        building.file(tmp_path, "mindspore", [building.scalar("loss", 1, 1)])
        assert Run(tmp_path).status == "RUNNING"

    def test_another_status_is_final(self, tmp_path):
        os.utime(write(tmp_path, run(status="INTERRUPTED")), (1, 1))
        assert Run(tmp_path).status == "INTERRUPTED"


class TestTable:
    @pytest.fixture
    def table(self, tmp_path):
        for number, rate in enumerate((0.1, 0.2)):
            (tmp_path / f"run{number}").mkdir()
            metric = Lineage(Lineage.EVALUATION, {"metric": {"accuracy": rate * 2, "top": {"5": 1.0}}})
            custom = Lineage(Lineage.CUSTOM, {"optimizer": "mine", "model": {"depth": number}, "empty": {}})
            write(tmp_path / f"run{number}", train(optimizer="SGD", learning_rate=rate, loss=1.0, network="Net"), metric, custom)
        (tmp_path / "other").mkdir()
        building.file(tmp_path / "other", "tensorboard", [building.scalar("loss", 1, 1)])
        return runs(tmp_path).lineage()

    def test_a_row_for_each_run(self, table):
        assert len(table) == 3
        assert table.column("run") == ["other", "run0", "run1"]
        assert table.column("learning_rate") == [None, 0.1, 0.2]
        assert table.column("custom/optimizer") == [None, "mine", "mine"]
        assert table.column("model/depth") == [None, 0, 1]
        assert table.column("metric/top/5") == [None, 1.0, 1.0]

    def test_its_columns(self, table):
        assert table.columns == (
            "run", "status", "network", "optimizer", "learning_rate", "custom/optimizer", "model/depth", "loss", "metric/accuracy",
            "metric/top/5",
        )  # fmt: skip
        assert "metric/accuracy" in table.metrics
        assert "model/depth" in table.hyper_parameters
        with pytest.raises(KeyError, match="no column 'x'; there are run, status"):
            table.column("x")

    def test_as_a_data_frame(self, table):
        pytest.importorskip("pandas")
        frame = table.to_pandas()
        assert list(frame.columns) == list(table.columns)
        assert frame["metric/accuracy"].max() == 0.4


@pytest.mark.shared
def test_lineage_of_mindspore(shared):
    found = Run(shared / "data/mindspore/graph_mode").lineage()
    assert found.network == "Net"
    assert found.hyper_parameters == {
        "optimizer": "Momentum", "learning_rate": 0.05, "loss_function": "SoftmaxCrossEntropyWithLogits", "epoch": 3,
        "parallel_mode": "stand_alone", "device_num": 1, "batch_size": 8,
    }  # fmt: skip
    assert found.custom == {"user_int": 7, "user_float": 0.25, "user_str": "tag"}
    assert found.metrics == {"Accuracy": 0.20833333333333334}
    assert (found.train_dataset, found.valid_dataset) == ({"size": 48}, {"size": 24})
    assert found.model == {"path": "/data/summary/graph_mode_ckpt/tiny-3_6.ckpt", "size": 6487}
    assert found.dataset_graph["op_type"] == "Batch"
    assert found.dataset_graph["children"][0]["op_type"] == "GeneratorDataset"
    assert found.loss == pytest.approx(1.1316555)
    assert found.status is None
