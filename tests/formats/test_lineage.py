"""Lineage in MindSpore's messages: what is encoded comes back whole, and protobuf reads what MindInsight shows of it."""

from __future__ import annotations

import string

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from summarykit.formats.mindspore import lineage
from summarykit.formats.mindspore.parse import parse_lineage
from summarykit.formats.proto.messages import message
from summarykit.shapes import Blob, Lineage

NAMES = st.text(string.ascii_letters + "_/é", min_size=1, max_size=8)
LEAVES = st.one_of(st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(allow_nan=False), st.text(max_size=8))
TREES = st.recursive(LEAVES, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=3)), max_leaves=10)
TRAIN = (
    "optimizer", "learning_rate", "loss_function", "epoch", "parallel_mode", "device_num", "batch_size", "train_dataset_path",
    "train_dataset_size", "network", "loss", "model_path", "model_size", "further",
)  # fmt: skip
OTHERS = ("metric", "valid_dataset_path", "valid_dataset_size", "children", "operations", "sampler")
VALUES = st.dictionaries(st.sampled_from(TRAIN + OTHERS), TREES)
PARTS = st.sampled_from((Lineage.TRAIN, Lineage.EVALUATION, Lineage.DATASET, Lineage.CUSTOM, Lineage.RUN, Lineage.CODE))


def event(part, values, **shown):
    return message("mindspore.irpb.LineageEvent").FromString(lineage.encode(Lineage(part, values, shown), 7, 12.5))


def without_ours(found):
    """The same message as somebody else would have written it."""
    found.ClearField("values")
    return found.SerializeToString()


@given(part=PARTS, values=VALUES)
def test_hp1_any_values_come_back_whole(part, values):
    (point,) = parse_lineage(lineage.encode(Lineage(part, values), -7, 12.5))
    assert (point.kind, point.tag, point.step, point.wall_time) == ("lineage", part, -7, 12.5)
    assert point.value.part == part
    assert point.value.values == values
    assert point.value.shown == {}


@given(part=PARTS, content=st.binary(max_size=40))
def test_garbage_is_given_back_or_read_as_something(part, content):
    from summarykit.formats.mindspore.parse import piece

    found = piece("lineage", part, content)
    assert isinstance(found, Lineage) or found == Blob(part, content)


def test_train_lineage_in_mindspores_fields():
    values = dict(zip(TRAIN, ("SGD", 0.1, "MSE", 3, "alone", 2, 8, "/data", 64, "Net", 0.25, "/x.ckpt", 12, "more"), strict=True))
    found = event(Lineage.TRAIN, values)
    train = found.train_lineage
    assert (found.wall_time, found.step) == (12.5, 7)
    hyper = train.hyper_parameters
    assert (hyper.optimizer, hyper.loss_function, hyper.epoch, hyper.parallel_mode, hyper.device_num, hyper.batch_size) == (
        "SGD", "MSE", 3, "alone", 2, 8)  # fmt: skip
    assert hyper.learning_rate == np.float32(0.1)
    assert (train.train_dataset.train_dataset_path, train.train_dataset.train_dataset_size) == ("/data", 64)
    assert (train.algorithm.network, train.algorithm.loss, train.model.path, train.model.size) == ("Net", 0.25, '{"ckpt": "/x.ckpt"}', 12)
    del values["further"]
    assert lineage.decode(Lineage.TRAIN, without_ours(train)).values == values


def test_what_does_not_fit_mindspores_field_is_left_out_of_it():
    found = event(Lineage.TRAIN, {"epoch": 2**40, "batch_size": 1.5, "optimizer": 3, "learning_rate": True, "loss": 1e300}).train_lineage
    assert not any(found.hyper_parameters.HasField(name) for name in ("epoch", "batch_size", "optimizer", "learning_rate"))
    assert found.algorithm.loss == np.inf
    assert lineage.decode(Lineage.TRAIN, found.SerializeToString()).values["epoch"] == 2**40


def test_metrics_are_json_that_a_page_can_be_sent():
    found = event(Lineage.EVALUATION, {"metric": {"accuracy": 0.5, "loss": float("nan"), "most": float("inf")}, "valid_dataset_size": 9})
    assert found.evaluation_lineage.metric == '{"accuracy": 0.5, "loss": "nan", "most": "inf"}'
    assert found.evaluation_lineage.valid_dataset.valid_dataset_size == 9
    assert event(Lineage.EVALUATION, {}).evaluation_lineage.metric == "{}"    # an absent one makes MindInsight fail


def test_user_defined_values_have_an_entry_each():
    found = event(Lineage.CUSTOM, {"int": 7, "big": 2**40, "float": 0.5, "nested": {"deep": {"text": "x"}}, "none": None}, status="FAILED")
    entries = [(each.map_int32, each.map_double, each.map_str) for each in found.user_defined_info.user_info]
    assert [sum(map(len, entry)) for entry in entries] == [1] * 6
    flat = {name: value for entry in entries for each in entry for name, value in each.items()}
    assert flat == {"int": 7, "big": str(2**40), "float": 0.5, "nested/deep/text": "x", "none": "None", "status": "FAILED"}
    again = lineage.decode(Lineage.CUSTOM, found.user_defined_info.SerializeToString())
    assert again.values["nested"] == {"deep": {"text": "x"}}
    assert again.shown == {"status": "FAILED"}


GRAPH = {
    "op_type": "Map", "flag": True, "workers": 2, "share": 0.5, "none": None, "columns": ["image", None, 3], "options": {"a": 1},
    "operations": [{"op": "Resize", "size": [3, 4]}, {"op": "Normalise", "weights": [0.5, 0.25]}],
    "sampler": {"sampler_type": "RandomSampler", "replacement": False},
    "children": [{"op_type": "MNIST", "dir": "/data", "children": []}],
}  # fmt: skip


def test_a_data_set_in_mindspores_fields():
    found = event(Lineage.DATASET, GRAPH).dataset_graph
    assert found.parameter.mapStr["options"] == '{"a": 1}'
    assert list(found.parameter.mapStrList["columns"].strValue) == ['"image"', "", "3"]
    assert list(found.operations[0].size) == [3, 4]
    assert found.children[0].parameter.mapStr["dir"] == "/data"
    again = lineage.decode(Lineage.DATASET, without_ours(found)).values
    assert again == {**GRAPH, "options": '{"a": 1}'}


@pytest.mark.parametrize("values", [{"children": 3}, {"operations": [1, "x"]}, {"sampler": "random"}, {"children": [{}, None]}, {1: 2}])
def test_a_data_set_of_another_form_is_written_as_far_as_it_goes(values):
    assert event(Lineage.DATASET, values).HasField("dataset_graph")
