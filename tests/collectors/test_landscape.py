"""Checkpoints for landscapes: what is stored, when, and what the training notices of it."""

from __future__ import annotations

import json
import logging
import os
import signal
import threading
import time

import numpy as np
import pytest
from testkit import surfaces

from summarykit import Loop, SummaryCollector
from summarykit.collectors.landscape import LandscapeCollector
from summarykit.landscape import LandscapeSettings, SummaryLandscape, metadata, saving, weights

INTERVALS = [[2, 3, 4], [4, 6, 8]]


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """However slow the disk of this machine is, no checkpoint is lost for it."""
    monkeypatch.setattr(saving, "_PATIENCE", 60.0)


class Net:
    """Three parameters that grow by 1 a step."""

    def __init__(self):
        self.parameters = {"weight": np.zeros((3, 4), "f4"), "bias": np.zeros(3), "count": np.array(0)}


def train(callback, steps=10, epochs=1, net=None, **loop):
    net = net or Net()
    with Loop(net, None, range(steps), epochs, callback, **loop) as running:
        for _ in running.epochs():
            for _ in running.steps():
                for value in net.parameters.values():
                    value += 1
    return net


def stored(directory):
    folder = directory / metadata.DIRECTORY
    return {number: weights.open_safetensors(folder / name) for number, name in metadata.read(folder).files.items()}


def collectors(directory, **settings):
    given = {"intervals": INTERVALS, **settings}
    return {
        "part": SummaryCollector(directory, collect_specified_data={"collect_landscape": given}),
        "callback": LandscapeCollector(directory, **given),
    }


@pytest.mark.parametrize("way", ["part", "callback"])
def test_the_weights_of_each_wanted_step_are_stored(tmp_path, way):
    train(collectors(tmp_path)[way])
    found = stored(tmp_path)
    assert sorted(found) == [2, 3, 4, 6, 8]
    for number, checkpoint in found.items():
        assert (checkpoint.array("weight") == number).all()
        assert checkpoint.array("weight").dtype == np.float32
        assert checkpoint.array("bias").dtype == np.float64
        assert checkpoint.told == {"parameters": ["weight", "bias"], "filter_axis": 0}


@pytest.mark.parametrize("way", ["part", "callback"])
def test_epochs_are_counted_where_they_are_the_unit(tmp_path, way):
    train(collectors(tmp_path, unit="epoch", intervals=[[1, 2, 4]])[way], steps=3, epochs=4)
    assert {number: checkpoint.array("count").item() for number, checkpoint in stored(tmp_path).items()} == {1: 3, 2: 6, 4: 12}
    told = metadata.read(tmp_path / "ckpt_dir")
    assert (told.settings.unit, told.step_per_epoch) == ("epoch", 3)


def test_the_metadata_are_mindspores_with_relative_paths(tmp_path):
    train(LandscapeCollector(tmp_path, [[2, 3, 4]], landscape_size=5, num_samples=16, create_landscape={"result": False}), steps=6)
    assert json.loads((tmp_path / "ckpt_dir/train_metadata.json").read_text()) == {
        "epoch_group": {"0": [2, 3, 4]}, "unit": "step", "step_per_epoch": 6, "num_samples": 16, "landscape_size": 5,
        "model_params_file_map": {str(number): f"Net_{number}_step.safetensors" for number in (2, 3, 4)},
        "create_landscape": {"train": True, "result": False},
    }  # fmt: skip


def test_a_run_can_be_moved_and_drawn_elsewhere(tmp_path):
    train(LandscapeCollector(tmp_path / "a", INTERVALS, landscape_size=3))
    (tmp_path / "a").rename(tmp_path / "b")
    net = Net()
    given = net, net, [np.ones(4)], {"Loss": lambda network, batch: float(network.parameters["weight"].sum())}
    found = SummaryLandscape(tmp_path / "b").gen_landscapes_with_multi_process(lambda: given)
    assert found[0].path.z.tolist() == pytest.approx([24, 36, 48])


def test_the_start_tells_how_much_it_will_be(tmp_path, caplog):
    with caplog.at_level(logging.INFO, "summarykit"):
        train(LandscapeCollector(tmp_path, INTERVALS))
    assert "landscape: up to 5 checkpoints of 0.0 MB each, 0.00 GB in all, go to" in caplog.text


def test_max_bytes_is_respected_and_said_once(tmp_path, caplog):
    callback = LandscapeCollector(tmp_path, INTERVALS, max_bytes=1500)
    train(callback)
    told = callback.stats()
    assert told["bytes"] <= 1500
    assert told["stored"] == len(stored(tmp_path)) > 0
    assert told["lost"] == {"max_bytes=1,500 would be exceeded": 5 - told["stored"]}
    assert caplog.text.count("max_bytes") == 1


def test_a_run_that_goes_on_keeps_the_earlier_checkpoints_and_a_new_one_does_not(tmp_path):
    train(LandscapeCollector(tmp_path, INTERVALS), steps=4)
    assert sorted(stored(tmp_path)) == [2, 3, 4]
    train(LandscapeCollector(tmp_path, INTERVALS), steps=4, initial_step=4)
    assert sorted(stored(tmp_path)) == [2, 3, 4, 6, 8]
    train(LandscapeCollector(tmp_path, INTERVALS), steps=3)
    assert sorted(stored(tmp_path)) == [2, 3]


def test_a_network_without_weights_costs_nothing_but_a_notice(tmp_path, caplog):
    with Loop(object(), None, range(5), 1, LandscapeCollector(tmp_path, INTERVALS)) as loop:
        for _ in loop.steps():
            pass
    assert "landscape: nothing is stored: no weights are known of a network of type object" in caplog.text


def test_an_exception_of_the_training_leaves_what_was_stored(tmp_path):
    with pytest.raises(ZeroDivisionError), Loop(Net(), None, range(9), 1, LandscapeCollector(tmp_path, INTERVALS)) as loop:
        for step in loop.steps():
            1 / (5 - step)
    assert sorted(stored(tmp_path)) == [2, 3, 4]


FULL = """
import resource, signal, sys, time
import numpy as np
from summarykit import Loop
from summarykit.collectors.landscape import LandscapeCollector
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
net = {"weight": np.zeros((50, 1000))}
callback = LandscapeCollector(sys.argv[1], [[2, 4, 6]])
with Loop(net, None, range(9), 1, callback) as loop:
    for step in loop.steps():
        if step == 3:
            while callback.stats()["stored"] < 1:
                time.sleep(0.01)
            resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))
print(callback.stats())
"""


def test_full_disk_training_goes_on(tmp_path, run_script):
    done = run_script(FULL, tmp_path).expect_success()
    assert "'stored': 1" in done.stdout
    assert "File too large" in done.stdout
    assert done.stderr.count("a checkpoint is not stored: File too large; training goes on") == 1
    assert sorted(stored(tmp_path)) == [2]
    assert {file.name for file in (tmp_path / "ckpt_dir").iterdir()} == {"dict_2_step.safetensors", "train_metadata.json"}


def test_a_disk_that_stands_still_holds_the_training_up_once(tmp_path, monkeypatch):
    """Three checkpoints find room: one that is being written, two that wait. The fourth waits in vain, the fifth does not wait at all."""
    writing, going_on, save = threading.Event(), threading.Event(), weights.save

    def slow(*arguments):
        writing.set()
        going_on.wait(60)
        return save(*arguments)

    monkeypatch.setattr(saving.weights, "save", slow)
    monkeypatch.setattr(saving, "_PATIENCE", 0.05)
    net = {"weight": np.zeros(3)}
    saver = saving.CheckpointSaver(tmp_path, metadata.TrainMetadata(LandscapeSettings(((1, 2, 3, 4, 5, 6),))), net)
    assert saver.save(1)
    assert writing.wait(60)
    assert [saver.save(number) for number in (2, 3, 4)] == [True, True, False]
    monkeypatch.setattr(saving, "_PATIENCE", 1e6)    # who waited so long would hang
    assert not saver.save(5)
    going_on.set()
    saver.close()
    assert sorted(stored(tmp_path)) == [1, 2, 3]
    assert saver.stats()["lost"] == {"the disk is too slow: two checkpoints are waiting already": 2}
    assert saver.save(6)
    saver.close()
    assert sorted(stored(tmp_path)) == [1, 2, 3, 6]


def test_a_directory_that_cannot_be_written_does_not_stop_the_training(tmp_path, caplog):
    (tmp_path / "ckpt_dir").write_text("a file is in the way")
    callback = LandscapeCollector(tmp_path, INTERVALS)
    assert train(callback).parameters["count"] == 10
    assert sum(callback.stats()["lost"].values()) == 6


KILLED = """
import sys, time
import numpy as np
from summarykit import Loop
from summarykit.collectors.landscape import LandscapeCollector
net = {"weight": np.zeros((2000, 1000))}
callback = LandscapeCollector(sys.argv[1], [list(range(1, 2000))])
with Loop(net, None, range(2000), 1, callback) as loop:
    for step in loop.steps():
        net["weight"][...] = step + 1
        if callback.stats()["stored"] >= 3:
            print("going", flush=True)
        time.sleep(0.05)
"""


def test_a_killed_run_leaves_whole_checkpoints_and_current_metadata(tmp_path, start_script):
    _, process = start_script(KILLED, tmp_path)
    assert process.stdout.readline() == "going\n"
    time.sleep(0.1)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    found = stored(tmp_path)
    assert len(found) >= 3
    for number, checkpoint in found.items():
        assert (checkpoint.array("weight") == number).all()


def test_the_fence_copies_beside_the_training_and_never_a_later_state(tmp_path):
    torch = pytest.importorskip("torch")
    net = torch.nn.Linear(300, 300)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.zero_()
    optimizer = torch.optim.SGD(net.parameters(), lr=1.0)
    callback = LandscapeCollector(tmp_path, [list(range(1, 9))])
    with Loop(net, optimizer, range(8), 1, callback) as loop:
        for _ in loop.steps():
            optimizer.zero_grad()
            (-sum(parameter.sum() for parameter in net.parameters())).backward()
            optimizer.step()
    assert callback.stats()["stored"] == 8, callback.stats()
    for number, checkpoint in stored(tmp_path).items():
        assert checkpoint.told["parameters"] == ["weight", "bias"]
        assert (checkpoint.array("weight") == number).all()


def test_batch_normalisations_statistics_are_stored_and_not_moved(tmp_path):
    torch = pytest.importorskip("torch")
    net = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3))
    with Loop(net, None, range(4), 1, LandscapeCollector(tmp_path, [[1, 2, 3]])) as loop:
        for _ in loop.steps():
            net(torch.randn(5, 4))
    checkpoint = stored(tmp_path)[3]
    assert checkpoint.array("1.num_batches_tracked").item() == 3
    assert checkpoint.told["parameters"] == ["0.weight", "0.bias", "1.weight", "1.bias"]


def test_others_read_the_files(tmp_path):
    reader = pytest.importorskip("safetensors.numpy")
    train(LandscapeCollector(tmp_path, INTERVALS))
    found = reader.load_file(tmp_path / "ckpt_dir/Net_4_step.safetensors")
    assert (found["weight"] == 4).all()


@pytest.mark.shared
def test_mindspores_checkpoints_are_read(shared):
    folder = shared / "data/mindspore/graph_mode/ckpt_dir"
    told = metadata.read(folder)
    assert told.files[8] == "Net_8_step.ckpt"    # its own path is of another machine
    from summarykit.landscape.checkpoint import open_weights

    checkpoint = open_weights(folder / told.files[8])
    assert {name: place.shape for name, place in checkpoint.places.items()} == {
        "conv1.weight": (4, 3, 3, 3), "conv1.bias": (4,), "bn.moving_mean": (4,), "bn.moving_variance": (4,), "bn.gamma": (4,),
        "bn.beta": (4,), "conv2.weight": (6, 4, 3, 3), "fc.weight": (4, 96), "fc.bias": (4,),
    }  # fmt: skip
    np.testing.assert_allclose(checkpoint.array("bn.gamma"), 1, atol=0.01)


def test_weights_in_every_dtype_come_back(tmp_path):
    state = {name: np.arange(6).reshape(2, 3).astype(name) for name in weights.NAMES if name not in weights.WIDENED}
    weights.save(tmp_path / "w", state, {"anything": [1, {"a": None}]})
    found = weights.open_safetensors(tmp_path / "w")
    assert found.told == {"anything": [1, {"a": None}]}
    for name, value in state.items():
        np.testing.assert_array_equal(found.array(name), value)
        np.testing.assert_array_equal(found.read(name, 2, 5), value.ravel()[2:5])


def test_settings_are_those_of_the_landscape(tmp_path):
    assert surfaces.LandscapeSettings.of({"intervals": INTERVALS}).wanted == (2, 3, 4, 6, 8)
