"""What the collector tells of a run: how it was set up, what came of it, how it ended."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from testkit import records

from summarykit import Loop, Run, SummaryCollector, SummaryRecord
from summarykit.clock import BEAT_SECS
from summarykit.collectors import git, lineage, lineage_facts
from summarykit.integrations.driver import Driver
from summarykit.ranks import Rank
from summarykit.training import CallbackParams
from summarykit.writing import lineage as writing_lineage

DATA = "collect_specified_data"


@pytest.fixture(autouse=True)
def _patience(monkeypatch):
    """Until the code version is known: a busy machine may need longer than a user is to wait at the end of a run."""
    monkeypatch.setattr(lineage, "PATIENCE", 60)


class Net(dict):
    pass


class Network:
    def __init__(self):
        self.parameters = {"w": np.zeros((3, 4), np.float32), "b": np.zeros(4, np.float32)}


def batches(number=4):
    return [(np.zeros((8, 3), np.float32), np.zeros(8))] * number


def train(directory, *, action=None, evaluate=True, epochs=2, **arguments):
    collector = SummaryCollector(directory, **arguments)
    with Loop(Network(), {"lr": 0.1}, batches(), epochs, collector, loss_fn="mse") as loop:
        for _ in loop.epochs():
            for _ in loop.steps():
                loop.report(loss=1 / loop.step)
                if action and loop.step == 3:
                    action()
            if evaluate:
                with loop.evaluation(batches(2)):
                    for _ in loop.steps():
                        pass
                    loop.report(accuracy=loop.step / 10, name="a text")
    return collector


def lineage_files(directory):
    return [file for file in records.record_files(Path(directory)) if file.name.endswith("_lineage")]


def test_ru1_a_run_that_finishes(tmp_path):
    train(tmp_path / "run", custom_lineage_data={"width": 3})
    found = Run(tmp_path / "run").lineage()
    assert (found.status, found.step, found.error, found.traceback) == ("FINISHED", 8, "", "")
    assert found.network == "Network"
    assert found.hyper_parameters == {
        "learning_rate": 0.1, "loss_function": "mse", "epoch": 2, "batch_size": 8, "parallel_mode": "stand_alone", "device_num": 1,
    }  # fmt: skip
    assert found.custom == {"width": 3}
    assert found.loss == 0.125
    assert found.metrics == {"accuracy": 0.8}
    assert found.model == {"size": 64, "parameters": 16}
    assert (found.train_dataset, found.valid_dataset) == ({"size": 32}, {"size": 16})
    assert 0 <= found.duration == found.ended - found.started
    assert found.code["python"]


def test_one_file_for_each_run(tmp_path):
    train(tmp_path / "run")
    (file,) = lineage_files(tmp_path / "run")
    assert records.check_directory(tmp_path / "run")
    os.remove(file)
    collector = train(tmp_path / "run", evaluate=False)
    train(tmp_path / "run")
    assert len(lineage_files(tmp_path / "run")) == 2
    assert any(path.endswith("_lineage") for path in collector.stats()["files"])


def fail():
    raise ValueError("bad loss")


def interrupt():
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("action", "error", "status", "message"),
    [
        (fail, ValueError, "FAILED", "bad loss"), (interrupt, KeyboardInterrupt, "INTERRUPTED", ""),
        (sys.exit, SystemExit, "INTERRUPTED", ""),
    ],
)
def test_ru1_a_run_that_an_exception_ends(tmp_path, action, error, status, message):
    with pytest.raises(error):
        train(tmp_path / "run", action=action)
    found = Run(tmp_path / "run").lineage()
    assert (found.status, found.step, found.error, found.message) == (status, 3, error.__name__, message)
    assert found.ended is not None
    assert found.loss == pytest.approx(1 / 3)
    if action is fail:
        assert 'raise ValueError("bad loss")' in found.traceback


def test_li1_where_a_traceback_is_cut_no_half_of_a_secret_is_told(tmp_path):
    def fail():
        raise ValueError("api_key='" + "q" * 4_000 + "'" + " " * 64_000)

    with pytest.raises(ValueError, match="api_key"):
        train(tmp_path / "run", action=fail)
    found = Run(tmp_path / "run").lineage().traceback
    assert "qq" not in found


@pytest.mark.parametrize("rate", [0.5, None])
def test_what_was_told_first_counts(tmp_path, rate):
    """A rate that is scheduled, and a last batch that is smaller, change nothing of how the run was set up."""
    optimizer = {"lr": 0.1}
    data = [np.zeros((8, 3)), np.zeros((8, 3)), np.zeros((5, 3))]
    with Loop({"w": np.ones(2)}, optimizer, data, 1, SummaryCollector(tmp_path / "run")) as loop:
        for _ in loop.steps():
            optimizer["lr"] = rate
    found = Run(tmp_path / "run").lineage()
    assert (found.hyper_parameters["learning_rate"], found.hyper_parameters["batch_size"]) == (0.1, 8)


def test_an_evaluation_alone(tmp_path):
    train(tmp_path / "run", custom_lineage_data={"width": 3})
    loop = Loop(callbacks=SummaryCollector(tmp_path / "run", custom_lineage_data={"again": 1}))
    with loop.evaluation(batches(1)):
        for _ in loop.steps():
            pass
        loop.report(accuracy=0.99)
    found = Run(tmp_path / "run").lineage()
    assert (found.status, found.metrics, found.valid_dataset) == ("FINISHED", {"accuracy": 0.99}, {"size": 8})
    assert len(lineage_files(tmp_path / "run")) == 2


def test_of_each_metric_the_last_value(tmp_path):
    with Loop(Net(), {"lr": 0.1}, batches(), 1, SummaryCollector(tmp_path / "run")) as loop:
        for _ in loop.steps():
            loop.report(loss=1.0)
        for values in ({"accuracy": 0.1, "top": {"5": 0.2}}, {"accuracy": np.float32(0.5)}):
            with loop.evaluation():
                loop.report(values)
    assert Run(tmp_path / "run").lineage().metrics == {"accuracy": 0.5, "top/5": 0.2}


def test_hp1_settings_of_any_type(tmp_path):
    given = {"l": [1, 2], "n": np.float32(1), "d": {"a": 1}, "o": None, "p": Path("x"), "big": 2**60, "token": "t"}
    train(tmp_path / "run", custom_lineage_data=SimpleNamespace(**given))
    expected = {"l": [1, 2], "n": 1.0, "d": {"a": 1}, "o": None, "p": "x", "big": 2**60, "token": "***"}
    assert Run(tmp_path / "run").lineage().custom == expected
    assert Run(tmp_path / "run").hparams()["d/a"] == 1.0
    assert not [path for path in (tmp_path / "run").iterdir() if path.is_dir()]


def test_settings_that_mindinsight_hands_over(tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("MINDINSIGHT_HYPER_CONFIG", json.dumps({"custom_lineage_data": {"a": 1, "b": 2}}))
    train(tmp_path / "one", custom_lineage_data={"b": 3})
    assert Run(tmp_path / "one").lineage().custom == {"a": 1, "b": 3}
    for number, text in enumerate(("{", "[]", '{"custom_lineage_data": 3}')):
        monkeypatch.setenv("MINDINSIGHT_HYPER_CONFIG", text)
        train(tmp_path / str(number))
        assert Run(tmp_path / str(number)).status == "FINISHED"
    assert caplog.text.count("MINDINSIGHT_HYPER_CONFIG is not JSON") == 3


def test_it_is_off_where_its_keys_are(tmp_path):
    train(tmp_path / "none", **{DATA: {"collect_train_lineage": False, "collect_eval_lineage": False, "collect_dataset_graph": False}})
    assert not lineage_files(tmp_path / "none")
    assert Run(tmp_path / "none").lineage().status is None
    train(tmp_path / "eval", custom_lineage_data={"a": 1}, **{DATA: {"collect_train_lineage": False}})
    found = Run(tmp_path / "eval").lineage()
    assert (found.status, found.metrics, found.custom) == (None, {"accuracy": 0.8}, {"a": 1})


def test_the_code_version_is_told_as_soon_as_it_is_known(tmp_path, monkeypatch):
    """Were the process killed after step 2, it would be there."""
    known, seen = [], []
    monkeypatch.setattr(git, "version", lambda _: _wait_for(known))
    collector = SummaryCollector(tmp_path / "run")
    with Loop(Net(), {"lr": 0.1}, batches(6), 1, collector) as loop:
        for _ in loop.steps():
            if loop.step == 2:
                known.append("c" * 40)
                _wait_for_the_survey(collector)
            if loop.step == 4:
                collector._collection.record.flush()
                seen.append(Run(tmp_path / "run").lineage().code["commit"])
    assert seen == ["c" * 40]


def _wait_for(known):
    while not known:
        time.sleep(0.001)
    return {"commit": known[0]}


def _wait_for_the_survey(collector):
    (part,) = (part for part in collector._collection._parts if part.key == "collect_train_lineage")
    part._code._thread.join(60)


def test_ru1_killed(tmp_path, start_script):
    """SIGKILL leaves the run RUNNING in its files; whoever reads them sees that its process is gone."""
    code = """
import sys, time, numpy as np
from summarykit import Loop, SummaryCollector
with Loop({"w": np.ones(2)}, {"lr": 0.1}, [np.zeros((8, 3))] * 3, 1, SummaryCollector(sys.argv[1])) as loop:
    for _ in loop.steps():
        loop.report(loss=1.0)
        if loop.step == 2:
            print("ready", flush=True)
            time.sleep(60)
"""
    _, process = start_script(code, tmp_path / "run")
    assert process.stdout.readline() == "ready\n"
    alive = _wait_until_told(tmp_path / "run", "batch_size")
    assert alive.status == "RUNNING"
    assert alive.duration > 0
    process.send_signal(signal.SIGKILL)
    process.wait()
    dead = Run(tmp_path / "run").lineage()
    assert dead.status == "DEAD"
    assert dead.hyper_parameters["batch_size"] == 8
    assert records.check_directory(tmp_path / "run")


def _wait_until_told(run, name, seconds=60):
    end = time.monotonic() + seconds
    while True:
        found = Run(run).lineage()
        if name in found.hyper_parameters or time.monotonic() > end:
            return found
        time.sleep(0.02)


def test_an_idle_run_gives_a_sign_of_life(tmp_path, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(writing_lineage, "time", SimpleNamespace(monotonic=lambda: now[0], time=time.time))
    with SummaryRecord(tmp_path) as record:
        record.add_value("run_status", "run_status", {"status": "RUNNING"})
        record.record(0)
        record.flush()
        (file,) = lineage_files(tmp_path)
        os.utime(file, (1, 1))
        now[0] += BEAT_SECS / 2
        record._writer.desk.works.lineage.beat()
        assert file.stat().st_mtime == 1
        now[0] += BEAT_SECS
        record._writer.desk.works.lineage.beat()
        assert file.stat().st_mtime > 1e9


def test_a_forked_child_leaves_the_file_to_its_parent(tmp_path):
    with SummaryRecord(tmp_path) as record:
        record.add_value("run_status", "run_status", {"status": "RUNNING"})
        record.record(0)
        record.flush()
        child = os.fork()
        if not child:
            record.add_value("run_status", "run_status", {"status": "FAILED"})
            record.record(0)
            record.close()
            os._exit(0)
        os.waitpid(child, 0)
        record.add_value("run_status", "run_status", {"status": "FINISHED"})
        record.record(1)
    assert len(lineage_files(tmp_path)) == 2
    assert records.check_directory(tmp_path)


def test_a_full_disk_costs_a_part_and_no_more(tmp_path, monkeypatch):
    with SummaryRecord(tmp_path) as record:
        write, torn = os.write, []

        def sometimes(fd, data):
            if torn:
                raise OSError(torn.pop(), "No space left on device")
            if b"FAILED" in bytes(data):
                torn.append(28)
                return write(fd, bytes(data)[:20])
            return write(fd, data)

        monkeypatch.setattr("summarykit.writing.file.os.write", sometimes)
        for status in ("RUNNING", "FAILED", "FINISHED"):
            record.add_value("run_status", "run_status", {"status": status})
            record.record(0)
            record.flush()
        assert record.stats()["dropped"] == {"run_status: OSError": 1}
    assert Run(tmp_path).status == "FINISHED"
    assert not Run(tmp_path).damage


class TestFacts:
    def test_of_torch(self, tmp_path):
        torch = pytest.importorskip("torch")
        model = torch.nn.DataParallel(torch.nn.Linear(3, 2))
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, weight_decay=0.1)
        data = torch.utils.data.TensorDataset(torch.zeros(20, 3))
        loader = torch.utils.data.DataLoader(data, batch_size=8)
        (tmp_path / "model.pt").write_bytes(b"12345")
        found = lineage_facts.of_training(CallbackParams(
            network=model, optimizer=optimizer, loss_fn=torch.nn.MSELoss(), train_dataset=loader, latest_ckpt_file=tmp_path / "model.pt",
        ))  # fmt: skip
        assert found == {
            "optimizer": "AdamW", "learning_rate": 0.01, "weight_decay": 0.1, "betas": (0.9, 0.999), "eps": 1e-8,
            "loss_function": "MSELoss", "batch_size": 8, "network": "Linear", "train_dataset_size": 20, "model_parameters": 8,
            "model_size": 5,
            "model_path": str(tmp_path / "model.pt"),
        }  # fmt: skip
        assert lineage_facts.number(model.module.weight[0, 0]) is not None

    def test_of_several_optimizers(self):
        class One:
            lr = 0.1

        class Two:
            lr = 0.2

        found = lineage_facts.of_training(CallbackParams(optimizer={"generator": One(), "critic": Two()}))
        assert found == {"optimizer": "One, Two", "learning_rate": 0.1}

    def test_of_nothing_and_of_the_spiteful(self):
        class Spiteful:
            def __getattr__(self, name):
                raise RuntimeError(name)

            __len__ = __float__ = property(lambda self: 1 / 0)

        assert lineage_facts.of_training(CallbackParams()) == {}
        thing = Spiteful()
        fields = ("network", "optimizer", "loss_fn", "train_dataset", "train_dataset_element")
        lineage_facts.of_training(CallbackParams(dict.fromkeys(fields, thing), latest_ckpt_file="/absent"))
        assert lineage_facts.number(thing) is None

    @pytest.mark.parametrize(("source", "devices"), [("torch.distributed", 4), ("RANK", 1)])
    def test_of_many_processes(self, monkeypatch, source, devices):
        monkeypatch.setattr(lineage_facts, "detect", lambda: Rank(0, 4, 0, source))
        found = lineage_facts.of_training(CallbackParams(device_number=1, parallel_mode="stand_alone"))
        assert found["device_num"] == devices
        assert ("parallel_mode" in found) == (devices == 1)

    @pytest.mark.parametrize("value", ["1", None, np.ones(2), {}])
    def test_no_number(self, value):
        assert lineage_facts.number(value) is None

    def test_where_the_data_are(self, tmp_path):
        (tmp_path / "data.tfrecord").write_bytes(b"")
        source = SimpleNamespace(dataset_files=[str(tmp_path / "data.tfrecord")], children=[])
        batched = SimpleNamespace(children=[SimpleNamespace(children=[source])])
        assert lineage_facts.path_of(batched) == str(tmp_path)
        assert lineage_facts.path_of(SimpleNamespace(dataset=SimpleNamespace(root=tmp_path))) == str(tmp_path)
        assert lineage_facts.path_of(object()) is None


def test_imports_stay_light():
    """Nothing of this is imported before a run begins."""
    names = ("subprocess", "platform", "summarykit.collectors.git")
    code = f"import sys, summarykit; print([name for name in {names} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


@pytest.mark.parametrize("kind", ["instant", "running_mean", "window_mean"])
def test_the_kind_of_loss_that_a_framework_reports_is_told_and_is_no_setting(tmp_path, kind):
    driver = Driver(SummaryCollector(tmp_path))
    driver.train_begin(optimizer={"lr": 0.1}, loss_kind=kind)
    driver.step_begin()
    driver.step_end({"loss": 0.5})
    driver.train_end()
    run = Run(tmp_path)
    assert run.lineage().loss_kind == kind
    assert "loss_kind" not in {**run.lineage().hyper_parameters, **run.hparams()}


def test_of_a_loop_written_by_hand_nobody_knows_the_kind_of_loss(tmp_path):
    train(tmp_path)
    assert Run(tmp_path).lineage().loss_kind == ""
