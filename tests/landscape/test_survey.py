"""How a surface is computed: executors, interruptions, what is recorded, what is refused."""

from __future__ import annotations

import json
import logging
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
from testkit import surfaces

from summarykit import Run
from summarykit.landscape import LossSurface, SummaryLandscape, metadata
from summarykit.landscape.cells import Cells
from summarykit.landscape.grid import Grid
from summarykit.landscape.progress import line


def computed(run, make=surfaces.double, **options) -> list[LossSurface]:
    return SummaryLandscape(run).gen_landscapes_with_multi_process(make, **options)


@pytest.fixture
def run(tmp_path):
    return surfaces.store(tmp_path / "run", landscape_size=7)


@pytest.fixture
def marks(tmp_path, monkeypatch):
    monkeypatch.setenv("MARKS", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(surfaces.Path(surfaces.__file__).parents[1]))
    return tmp_path


def assert_equal(found, wanted):
    for one, other in zip(found, wanted, strict=True):
        assert one.z.tobytes() == other.z.tobytes()
        assert one.metrics["Norm"].tobytes() == other.metrics["Norm"].tobytes()
        assert one.convergence == other.convergence
        if one.path is not None:
            assert one.path.z.tobytes() == other.path.z.tobytes()


def test_what_is_computed_is_recorded_under_mindspores_tags(run):
    surfaces_found = computed(run)
    recorded = Run(run)
    assert recorded.tags() == {"landscape": ["landscape_[1, 6]", "landscape_[6]"]}
    assert_equal(recorded.landscapes(), surfaces_found)
    path, result = recorded.landscapes()
    assert path.path.steps.tolist() == [1, 2, 3, 4, 5, 6]
    assert (path.unit, path.step_per_epoch, result.path) == ("step", 3, None)
    assert sum(path.explained_variance) > 0.9
    assert path.notes["num_samples"] == 2048


def test_it_is_recorded_where_output_says(run, tmp_path):
    computed(run, collect_landscape={"create_landscape": {"train": False}}, output=tmp_path / "out")
    assert Run(tmp_path / "out").tags() == {"landscape": ["landscape_[6]"]}
    assert Run(run).tags() == {}


def test_settings_may_differ_from_those_of_the_training(run):
    (found,) = computed(run, collect_landscape={"landscape_size": 3, "intervals": [[2, 4, 6]], "create_landscape": {"result": False}})
    assert found.z.shape == (3, 3)
    assert found.path.steps.tolist() == [2, 4, 6]
    assert metadata.read(run / "ckpt_dir").settings.landscape_size == 7    # the file stays as training wrote it


def test_ranges_may_be_given(run):
    path, result = computed(run, x_range=(-3, 1), y_range=(0, 2))
    for found in (path, result):
        np.testing.assert_allclose(found.x, np.linspace(-3, 1, 7))
        np.testing.assert_allclose(found.y, np.linspace(0, 2, 7))


def test_any_executor_gives_the_same_values(run):
    wanted = computed(run)
    with ThreadPoolExecutor(1) as executor:
        assert_equal(computed(run, executor=executor), wanted)


def test_processes_give_the_same_values_and_each_sees_its_device(run, marks):
    wanted = computed(run)
    assert_equal(computed(run, surfaces.marked, device_ids=[3, 5], device_target="GPU"), wanted)
    assert {each.name.rpartition("_")[2] for each in marks.glob("made_*")} == {"3", "5"}


def test_what_a_dead_process_had_is_computed_again(run, marks, caplog):
    wanted = computed(run)
    (marks / "die").touch()
    assert_equal(computed(run, surfaces.marked, device_ids=[0, 1]), wanted)
    assert "a process that computed a landscape died" in caplog.text


def always_dying():
    surfaces.os._exit(3)


def test_processes_that_die_again_and_again_are_an_error(run, marks):
    from concurrent.futures import BrokenExecutor

    with pytest.raises(BrokenExecutor):
        computed(run, always_dying, device_ids=[0, 1])


def test_a_function_that_cannot_travel_is_told_so(run):
    with pytest.raises(TypeError, match="callback_fn cannot be sent to another process"):
        computed(run, lambda: surfaces.double(), device_ids=[0, 1])


KILLED = """
import os, sys
from testkit import surfaces
from summarykit.landscape import SummaryLandscape
def report(progress):
    if progress.done >= 30:
        os._exit(7)
SummaryLandscape(sys.argv[1]).gen_landscapes_with_multi_process(surfaces.double, report=report)
"""


def test_an_interrupted_survey_goes_on_where_it_was(run, marks, run_script):
    """Killed in the middle, and half a block torn off: the rest is computed, and every bit is the same."""
    assert run_script(KILLED, run).returncode == 7
    (cells,) = (run / "ckpt_dir").rglob("cells")
    cells.write_bytes(cells.read_bytes()[:-5])
    seen = []
    found = computed(run, report=seen.append)
    assert seen[0].done == 24    # 30 points are four blocks of eight, one of which was torn
    assert_equal(found, computed(surfaces.store(marks / "other", landscape_size=7)))
    assert not list((run / "ckpt_dir").rglob("cells")), "what is finished is taken away"


def test_resuming_can_be_refused(run, marks, run_script):
    assert run_script(KILLED, run).returncode == 7
    seen = []
    computed(run, report=seen.append, resume=False)
    assert seen[0].done == 0


def test_other_settings_begin_anew(run, marks, run_script):
    assert run_script(KILLED, run).returncode == 7
    seen = []
    computed(run, report=seen.append, collect_landscape={"num_samples": 5})
    assert seen[0].done == 0


def test_progress_tells_what_is_known_and_how_long_it_takes(run):
    seen = []
    computed(run, report=lambda progress: seen.append((progress.done, progress.total, progress.seconds_left, progress.known())))
    assert [each[:2] for each in seen[:2]] == [(0, 55), (8, 55)]
    assert seen[0][2] is None
    assert seen[1][2] > 0
    first = [each for each in seen if each[1] == 55]
    assert np.isnan(first[1][3]).sum() == 47
    assert not np.isnan(first[-1][3]).any()


def test_progress_in_words():
    from summarykit.landscape import Progress

    known = partial(np.zeros, (1, 1))
    assert line(Progress(120, 1604, 190.0, known)) == "120 of 1,604 points, 3 min left"
    assert line(Progress(0, 9, None, known)) == "0 of 9 points"


class Wild(surfaces.Quadratic):
    def measure(self):
        loss = super().measure()["Loss"]
        return {"Loss": (np.nan, np.inf, 1e30, loss)[int(loss * 1e6) % 4]}


def test_ll7_wild_losses_are_kept_as_they_are_and_the_grid_completes(run):
    found, _ = computed(run, Wild)
    assert np.isnan(found.z).any()
    assert np.isinf(found.z).any()
    assert (found.z == 1e30).any()
    np.testing.assert_array_equal(Run(run).landscapes()[0].z, found.z)


def test_an_interpolation_is_the_line_between_two_checkpoints(run):
    found = SummaryLandscape(run).interpolate(surfaces.double, 2, 6, points=5, x_range=(0, 1))
    first, last = surfaces.state(run, 2), surfaces.state(run, 6)
    wanted = [surfaces.quadratic({name: (1 - x) * first[name] + x * last[name] for name in first}) for x in found.x]
    np.testing.assert_allclose(found.z[0], wanted, rtol=1e-10)
    assert found.decomposition == "Interpolation"
    with pytest.raises(KeyError, match="no checkpoint of step 9; there are 1, 2, 3"):
        SummaryLandscape(run).interpolate(surfaces.double, 2, 9)


def test_clean_ckpt_takes_the_checkpoints_away(run):
    SummaryLandscape(run).clean_ckpt()
    assert not (run / "ckpt_dir").exists()
    with pytest.raises(FileNotFoundError, match="collect_landscape"):
        computed(run)


def test_intervals_that_were_not_reached(tmp_path, caplog):
    """One in part: the rest of its path is drawn. One in two points only: left out. None at all: an error that says what there is."""
    run = surfaces.store(tmp_path / "a", intervals=((4, 5, 6, 7), (5, 6, 9), (1, 2, 3)), landscape_size=3)
    assert [each.name for each in computed(run)] == ["landscape_[4, 6]", "landscape_[1, 3]", "landscape_[3]"]
    assert "interval [4, 5, 6, 7]: there is no checkpoint of step [7]; the path of the other 3 is drawn" in caplog.text
    assert "interval [5, 6, 9]: there is no checkpoint of step [9]; it is left out" in caplog.text
    with pytest.raises(ValueError, match=r"none of the intervals has 3 checkpoints; there are those of steps \[1, 2, 3, 4, 5, 6\]"):
        computed(run, collect_landscape={"intervals": [[7, 8, 9]]})


def test_intervals_may_overlap(tmp_path):
    run = surfaces.store(tmp_path, intervals=((1, 2, 3, 4), (3, 4, 5)), landscape_size=3)
    assert [each.name for each in computed(run)] == ["landscape_[1, 4]", "landscape_[3, 5]", "landscape_[5]"]


@pytest.mark.parametrize(("options", "error", "message"), [
    ({"collect_landscape": {"landscape_size": 2}}, ValueError, r"landscape_size must be in 3 … 256, got 2"),
    ({"collect_landscape": {"landscape_size": True}}, TypeError, r"landscape_size must be an integer, got True"),
    ({"collect_landscape": {"size": 5}}, ValueError, "unknown key 'size'; allowed: landscape_size, unit"),
    ({"collect_landscape": {"unit": "batch"}}, ValueError, "unit must be one of 'step', 'epoch', got 'batch'"),
    ({"collect_landscape": {"num_samples": 0}}, ValueError, "num_samples must be in 1 …"),
    ({"collect_landscape": {"intervals": [[1, 2]]}}, ValueError, r"each of intervals needs at least 3 numbers, got \[1, 2\]"),
    ({"collect_landscape": {"intervals": [[3, 2, 1]]}}, ValueError, "each of intervals must ascend"),
    ({"collect_landscape": {"intervals": []}}, ValueError, "at least one list"),
    ({"collect_landscape": {"create_landscape": {"train": 1}}}, TypeError, "'train' must be True or False, got 1"),
    ({"collect_landscape": [1]}, TypeError, "a dict is needed"),
    ({"device_ids": []}, ValueError, "at least one number"),
    ({"device_ids": ["cpu"]}, TypeError, "a list of integers"),
    ({"device_ids": [0, 1], "device_target": "TPU"}, ValueError, "'CPU', 'GPU', 'Ascend' or None, got 'TPU'"),
    ({"x_range": (1, 1)}, ValueError, "x_range must be two ascending numbers"),
    ({"batch_norm": "none"}, ValueError, "batch_norm must be 'stored' or 'estimated', got 'none'"),
    ({"output": 3}, TypeError, "output must be a str or a path, got 3"),
    ({"output": ""}, ValueError, "output '' is not a path"),
    ({"make": None}, TypeError, "callback_fn: a function that makes the model is needed, got None"),
])  # fmt: skip
def test_a_wrong_argument_is_named(run, options, error, message):
    with pytest.raises(error, match=message):
        computed(run, **options)


NETWORK = surfaces.parameters(0)


@pytest.mark.parametrize(("given", "error", "message"), [
    ((NETWORK, NETWORK, [np.ones(2)], {"loss": len}), ValueError, "metrics must have the key 'Loss', got 'loss'"),
    ((NETWORK, NETWORK, [np.ones(2)], {}), ValueError, "metrics must have the key 'Loss', got none"),
    ((NETWORK, NETWORK, [np.ones(2)], len), TypeError, "metrics must be a dict"),
    ((NETWORK, NETWORK, [np.ones(2)]), TypeError, "LandscapeModel or"),
    ((NETWORK, object(), [np.ones(2)], {"Loss": len}), TypeError, "no weights are known of a network of type object"),
    ((NETWORK, NETWORK, [], {"Loss": len}), ValueError, "gives no samples"),
    ((NETWORK, NETWORK, [3], {"Loss": len}), ValueError, "no array whose first axis"),
    ((NETWORK, NETWORK, 3, {"Loss": len}), TypeError, "callback_fn: a data set that gives batches is needed, got 3"),
    ((NETWORK, NETWORK, [np.ones(2)], {"Loss": 3}), TypeError, r"metrics\['Loss'\] must be a function \(network, batch\), got 3"),
])  # fmt: skip
def test_what_callback_fn_gives_is_checked(run, given, error, message):
    with pytest.raises(error, match=message):
        computed(run, lambda: given)


def test_a_checkpoint_of_another_model_is_refused(run):
    other = {"conv.weight": np.zeros((4, 3, 3, 3)), "dense.weight": np.zeros((5, 8)), "dense.bias": np.zeros(5), "scale": np.zeros(())}
    given = other, other, [np.ones(2)], {"Loss": lambda network, batch: 0.0}
    with pytest.raises(ValueError, match=r"a checkpoint of another model: 'dense.weight' has shape \(5, 7\) there and \(5, 8\) here"):
        computed(run, lambda: given)
    file = run / "ckpt_dir" / "Net_3_step.safetensors"
    from summarykit.landscape import weights

    weights.save(file, {"conv.weight": np.zeros(3)}, {})
    with pytest.raises(ValueError, match="is of another model"):
        computed(run)
    file.write_bytes(b"no checkpoint")
    with pytest.raises(ValueError, match="no checkpoint"):
        computed(run)


def test_what_the_checkpoints_do_not_have_is_said_once(run, caplog):
    network = {**surfaces.parameters(0), "bias of mine": np.ones(3)}
    computed(run, lambda: (network, network, [np.ones(2)], {"Loss": network_metric}))
    assert caplog.text.count("the checkpoints have no bias of mine: there the model keeps what callback_fn gave it") == 1


def test_damaged_metadata_are_named(run):
    file = run / "ckpt_dir" / "train_metadata.json"
    file.write_text(json.dumps({"unit": "step"}))
    with pytest.raises(ValueError, match=r"train_metadata\.json is damaged"):
        computed(run)


def network_metric(network, batch):
    return surfaces.quadratic(network) + batch.mean()


@pytest.mark.parametrize("make", [list, iter, lambda batches: (each for each in batches)], ids=["list", "iterator", "generator"])
def test_datasets_of_any_sort_are_cut_to_num_samples(run, make, caplog):
    """The last batch is cut; one-shot iterators and data sets without a length will do."""
    network = surfaces.parameters(0)
    batches = [np.full(4, 0.0), np.full(4, 1.0), np.full(4, 5.0)]
    given = network, network, make(batches), {"Loss": network_metric}
    with caplog.at_level(logging.WARNING):
        found = computed(run, lambda: given, collect_landscape={"num_samples": 6, "landscape_size": 3})
    plain = computed(run, collect_landscape={"landscape_size": 3})
    np.testing.assert_allclose(found[0].z - plain[0].z, 2 / 6, rtol=1e-9)
    assert not caplog.records


def test_a_data_set_that_is_shorter_than_num_samples_is_used_whole(run, caplog):
    network = surfaces.parameters(0)
    given = network, network, [np.full(11, 1.0), np.full(22, 4.0)], {"Loss": network_metric}
    found = computed(run, lambda: given, collect_landscape={"landscape_size": 3})
    np.testing.assert_allclose(found[0].z - computed(run, collect_landscape={"landscape_size": 3})[0].z, 3)
    assert caplog.text.count("the data set has 33 samples, fewer than num_samples=2048") == 1


def test_a_network_that_was_there_comes_back_as_it_was(run):
    import random

    network = surfaces.parameters(7)
    before = {name: each.tobytes() for name, each in network.items()}
    states = random.getstate(), np.random.get_state()[1].tobytes()
    computed(run, lambda: (network, network, [np.ones(2)], {"Loss": network_metric}))
    assert {name: each.tobytes() for name, each in network.items()} == before
    assert (random.getstate(), np.random.get_state()[1].tobytes()) == states


def test_cells_that_are_damaged_are_computed_again(tmp_path):
    plan = Grid(np.arange(5.0), np.arange(5.0), np.zeros((0, 2)))
    cells = Cells(tmp_path / "cells", 25, plan.blocks)
    for number, block in enumerate(plan.blocks):
        cells.add(number, ("Loss", "Accuracy"), np.full((len(block), 2), number, "f8"))
    cells.close()
    content = bytearray((tmp_path / "cells").read_bytes())
    content[-5] ^= 1
    (tmp_path / "cells").write_bytes(content)
    again = Cells(tmp_path / "cells", 25, plan.blocks)
    assert again.done == {0, 1, 2}
    assert again.values[:24, 1].tolist() == [0] * 8 + [1] * 8 + [2] * 8
    again.add(3, ("Loss", "Accuracy"), np.full((1, 2), 3.0))
    again.close()
    final = Cells(tmp_path / "cells", 25, plan.blocks)
    assert final.done == {0, 1, 2, 3}
    with pytest.raises(ValueError, match="measured Loss, but Loss, Accuracy before"):
        final.add(0, ("Loss",), np.zeros((8, 1)))
    final.close()
