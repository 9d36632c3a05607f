"""Bad arguments are refused at construction: the message names the argument, what came and what is allowed."""

from __future__ import annotations

import numpy as np
import pytest

from summarykit.collectors import PARTS, SummaryCollector
from summarykit.collectors.landscape import LandscapeCollector
from summarykit.reading import Run
from summarykit.training import Loop

DATA = "collect_specified_data"
FREQUENCIES = ["collect_freq", "collect_tensor_freq"]
MINDSPORES = [
    "collect_metric", "collect_graph", "collect_train_lineage", "collect_eval_lineage", "collect_input_data", "collect_dataset_graph",
]  # fmt: skip
OURS = [
    "collect_learning_rate", "collect_optimizer", "collect_optimizer_state", "collect_gradient", "collect_gradient_norm",
    "collect_update_ratio", "collect_throughput", "collect_system", "collect_tensor",
]  # fmt: skip
EXPRESSIONS = ["histogram_regular", "collect_activations"]


def landscape(**given):
    return {DATA: {"collect_landscape": {"intervals": [[1, 2, 3]], **given}}}


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"summary_dir": 3}, TypeError, "summary_dir must be a str or a path, got 3"),
        ({"summary_dir": None}, TypeError, "summary_dir"),
        ({"summary_dir": b"x"}, TypeError, "summary_dir"),
        *(({"summary_dir": value}, ValueError, "summary_dir") for value in ("", " ", "a\0b")),
        *(({name: value}, TypeError, f"{name}.*{value!r}") for name in FREQUENCIES for value in (True, 1.5, "10")),
        *(({name: value}, ValueError, f"{name}: an integer above 0 is needed, got {value}") for name in FREQUENCIES for value in (0, -3)),
        ({"collect_freq": None}, TypeError, "collect_freq: an integer above 0 is needed, got None"),
        ({"num_process": -1}, ValueError, "num_process"),
        ({"num_process": "a"}, TypeError, "num_process"),
        ({"num_process": 1.0}, TypeError, "num_process"),
        *(({"max_file_size": value}, ValueError, "max_file_size") for value in (0, -1)),
        *(({"max_file_size": value}, TypeError, "max_file_size") for value in (True, 1.5, "1")),
        *(({"keep_default_action": value}, TypeError, "keep_default_action: True or False is needed, got") for value in (1, None, "yes")),
        ({"custom_lineage_data": [1]}, TypeError, "custom_lineage_data: a dict or None"),
        ({"custom_lineage_data": {1: 2}}, TypeError, "custom_lineage_data: the names must be texts, got 1"),
        *(({"export_options": value}, ValueError, "export_options") for value in ({"tensor": "npy"}, {"tensor_format": "npz"}, {1: 2})),
        *(({"export_options": value}, TypeError, "export_options") for value in ("npy", ["npy"], True)),
        ({"formats": ("hdf5",)}, ValueError, "formats"),
        ({"formats": ()}, ValueError, "formats"),
        ({"resume": 1.5}, TypeError, "resume"),
        ({"rank": -1}, ValueError, "rank"),
        ({"rank": "0"}, TypeError, "rank"),
        ({"ranks": "some"}, ValueError, "ranks .*'some'"),
        ({"ranks": 0}, (TypeError, ValueError), "ranks .*0"),
        ({"on_full": "wait"}, ValueError, "on_full"),
        ({"flush_secs": 0}, ValueError, "flush_secs"),
        ({"collect_specified_data": ["collect_metric"]}, TypeError, "collect_specified_data: a dict or None is needed"),
        ({"collect_specified_data": {"collect_metrics": True}}, ValueError, "unknown key 'collect_metrics'; allowed: .*collect_metric, "),
        ({"collect_specified_data": {1: True}}, ValueError, "unknown key 1"),
        *(({DATA: {key: value}}, TypeError, f"{key}: True or False is needed") for key in MINDSPORES + OURS for value in (1, None, "yes")),
        *(({DATA: {key: value}}, TypeError, f"{key}: a regular expression") for key in EXPRESSIONS for value in (3, True, [], b"x")),
        *(({DATA: {key: "["}}, ValueError, rf"{key}: '\[' is no regular expression: unterminated") for key in EXPRESSIONS),
        *(({DATA: {"collect_landscape": value}}, TypeError, "collect_landscape: a dict, None or") for value in (True, 3, "x", [])),
        ({DATA: {"collect_landscape": {}}}, ValueError, "collect_landscape: 'intervals' is needed"),
        (landscape(intervals=[[1, 2]]), ValueError, "each of intervals needs at least 3 numbers"),
        (landscape(intervals=[]), ValueError, "intervals must hold at least one list"),
        (landscape(intervals=[[3, 2, 1]]), ValueError, "each of intervals must ascend"),
        *((landscape(intervals=value), TypeError, "intervals must be a list") for value in (None, [1, 2, 3], "123", 3)),
        *((landscape(intervals=[[1, 2, value]]), TypeError, "each number of intervals") for value in (3.0, "3", None, True)),
        *((landscape(landscape_size=value), ValueError, "landscape_size") for value in (2, 257, 0, -1)),
        *((landscape(landscape_size=value), TypeError, "landscape_size") for value in (40.0, "40", True, None)),
        (landscape(unit="batch"), ValueError, "unit must be one of 'step', 'epoch', got 'batch'"),
        *((landscape(unit=value), TypeError, "unit must be a text") for value in (None, 1)),
        *((landscape(num_samples=value), TypeError, "num_samples") for value in (1.5, "1", None, True)),
        (landscape(num_samples=0), ValueError, "num_samples"),
        (landscape(create_landscape={"path": True}), ValueError, "create_landscape: unknown key 'path'"),
        (landscape(create_landscape={"train": 1}), TypeError, "create_landscape: 'train' must be True or False"),
        (landscape(create_landscape=True), TypeError, "create_landscape must be a dict"),
        (landscape(size=3), ValueError, "unknown key 'size'"),
    ],
)
def test_a_bad_argument_is_refused_by_name(tmp_path, arguments, error, message):
    with pytest.raises(error, match=message):
        SummaryCollector(**{"summary_dir": tmp_path / "summary", **arguments})


def test_a_directory_that_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError):
        SummaryCollector(tmp_path / "file" / "summary")


@pytest.mark.parametrize("given", ["~/run", "run"])
def test_the_directory_is_where_it_was_when_the_collector_was_made(tmp_path, leave, given):
    """A program may change its directory between there and the training; weights go where the values go, ``~`` or not."""
    callbacks = [SummaryCollector(given, **landscape()), LandscapeCollector(f"{given}2", [[1, 2, 3]])]
    elsewhere = leave()
    loop = Loop({"w": np.ones(3)}, train_dataset=range(3), callbacks=callbacks)
    for batch in loop.steps():
        loop.report(loss=batch)
    assert not list(elsewhere.iterdir())
    assert Run(tmp_path / "run").scalars("loss").value.tolist() == [0, 2]
    assert all((tmp_path / name / "ckpt_dir").is_dir() for name in ("run", "run2"))


def test_all_keys_are_known(tmp_path):
    keys = {PARTS.get(name).key for name in PARTS} - {""}
    assert keys == {*MINDSPORES, *OURS, *EXPRESSIONS, "collect_landscape"}
    told = SummaryCollector.__init__.__doc__
    assert [key for key in keys if f"``{key}``" not in told] == []


def test_a_new_collector_makes_a_directory_and_nothing_in_it(tmp_path, no_leftovers):
    SummaryCollector(tmp_path / "summary", resume=7)
    assert list((tmp_path / "summary").iterdir()) == []


def train(directory, network, **arguments):
    with Loop(network, {"lr": 0.1}, range(3), 1, SummaryCollector(directory.path, 1, **arguments)) as loop:
        for _ in loop.steps():
            loop.report(loss=1, t=[1, 2])
    return {kind: directory.tags(kind) for kind in ("scalar", "histogram", "tensor")}


def hist(*numbers, what):
    return {f"layer{n}.weight/{what}" for n in numbers}


def test_only_what_is_asked_for_without_the_defaults(directory, network):
    found = train(directory, network, keep_default_action=False, collect_specified_data={"collect_metric": True})
    assert found == {"scalar": {"loss"}, "histogram": set(), "tensor": set()}


def test_nothing_without_the_defaults(directory, network):
    assert train(directory, network, keep_default_action=False) == {"scalar": set(), "histogram": set(), "tensor": set()}


def test_no_regular_expression_is_the_first_five_even_without_the_defaults(directory, network):
    found = train(directory, network, keep_default_action=False, collect_specified_data={"histogram_regular": None})
    assert found["histogram"] == hist(0, 1, 2, 3, 4, what="auto")


def test_a_regular_expression_matches_from_the_beginning(directory, network):
    found = train(directory, network, collect_specified_data={"histogram_regular": "layer[36]|weight"})
    assert found["histogram"] == hist(3, 6, what="auto") | hist(3, 6, what="gradient")


def test_a_regular_expression_that_matches_nothing_is_told(directory, network, caplog):
    assert train(directory, network, collect_specified_data={"histogram_regular": "conv"})["histogram"] == set()
    assert [message for message in caplog.messages if "'conv' matches no parameter; their names: layer0.weight, " in message] != []


def test_the_users_dictionary_stays_the_users(directory, network):
    given = {"collect_metric": False}
    found = train(directory, network, collect_specified_data=given)["scalar"]
    assert "loss" not in found
    assert "learning_rate" in found
    assert given == {"collect_metric": False}
