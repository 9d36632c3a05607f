"""Many scalars a step: add_scalars, add_scalars_dict, the charts that show them; settings and their metrics."""

from __future__ import annotations

import threading
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from testkit import scripts

from summarykit import Run, SummaryWriter
from summarykit.formats import wire


def series(directory, tag):
    found = Run(directory).scalars(tag)
    return list(zip(found.step.tolist(), found.value.tolist(), strict=True))


def charts(directory):
    """Category -> chart -> tags, of the newest layout of a run."""
    value = Run(directory, raw=True).points("custom_scalars", "custom_scalars__config__")[-1].value
    found = {}
    for _, category in wire.fields(value.data.item()):
        (_, title), *rest = wire.fields(category)
        for _, chart in rest:
            (_, name), (_, content) = wire.fields(chart)
            found.setdefault(title.decode(), {})[name.decode()] = [tag.decode() for _, tag in wire.fields(content)]
    return found


def test_fi5_twenty_keys_take_one_file_and_no_thread_more(tmp_path):
    with SummaryWriter(tmp_path / "run") as writer:
        writer.add_scalar("loss", 0.5, 0)
        writer.flush()
        threads, held = threading.active_count(), scripts.descriptors(tmp_path)
        for step in range(20):
            writer.add_scalars("group", {f"key{number}": float(number * step) for number in range(20)}, step)
        writer.flush()
        assert threading.active_count() <= threads
        assert set(scripts.descriptors(tmp_path)) <= set(held)
    assert len(list((tmp_path / "run").iterdir())) == 1
    assert [len(series(tmp_path / "run", f"group/key{number}")) for number in range(20)] == [20] * 20
    assert series(tmp_path / "run", "group/key3")[:3] == [(0, 0.0), (1, 3.0), (2, 6.0)]


def test_the_curves_are_drawn_in_one_chart(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalars("a.b/losses", {"train": 1.0, "te+st": 2.0}, 1)
        writer.add_scalars("a.b/losses", {"train": 1.0, "te+st": 2.0}, 2)
        writer.add_scalars("a.b/losses", {"train": 1.0, "new": 3.0}, 3)
        writer.add_scalars("other", {"x": 1.0}, 1)
    assert charts(tmp_path) == {
        "a.b": {"a.b/losses": [r"a\.b/losses/train$", r"a\.b/losses/te\+st$", r"a\.b/losses/new$"]}, "default": {"other": ["other/x$"]}
    }  # fmt: skip
    assert len(Run(tmp_path, raw=True).points("custom_scalars", "custom_scalars__config__")) == 3


def test_layouts_of_several_calls_add_up(tmp_path, caplog):
    with SummaryWriter(tmp_path) as writer:
        writer.add_custom_scalars({"a": {"x": ["Multiline", ["l1", "l2"]]}})
        writer.add_custom_scalars_multilinechart(["l3"], "a", "y")
        writer.add_custom_scalars_marginchart(["m", "low", "high"])
        writer.add_custom_scalars_marginchart(["m", "low"])
        writer.add_custom_scalars({"a": 5})
        writer.add_custom_scalars(None)
    found = charts(tmp_path)
    assert found["a"] == {"x": ["l1", "l2"], "y": ["l3"]}
    assert list(found["default"]) == ["untitled"]
    assert sum(writer.stats()["dropped"].values()) == 3


def test_as_runs_each_curve_is_where_the_peers_have_it(tmp_path):
    with SummaryWriter(tmp_path, add_scalars_as="runs") as writer:
        for step in range(5):
            writer.add_scalars("group/x", {"a": float(step), "b": 2.0}, step)
        writer.add_scalar("loss", 0.5, 1)
        assert writer.flush()
        assert writer.stats()["recorded"] == 11
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_dir()) == ["group_x_a", "group_x_b"]
    assert series(tmp_path / "group_x_a", "group/x") == [(step, float(step)) for step in range(5)]
    assert writer.stats()["written"] == 11


@pytest.mark.parametrize("values", [
    {"a": 1, "b": np.float32(0.5), "c": np.array([2.0])}, {"a": 1.0, "b": True}, {"a": np.float64(1.5)}, {}, {1: 2.0, None: 3.0},
])  # fmt: skip
def test_numbers_of_every_type(tmp_path, values):
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalar("loss", 0.5, 1)
        for step in range(3):
            writer.add_scalars("g", values, step)
            writer.add_scalars_dict({str(key): value for key, value in values.items()}, step)
    for key, value in values.items():
        assert series(tmp_path, f"g/{key}") == series(tmp_path, str(key)) == [(step, float(np.ravel(value)[0])) for step in range(3)]


def test_bad_values_and_tags_cost_themselves_only(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalars("g", {"a": 1.0, "bad": None, "worse": [1, 2]}, 1)
        writer.add_scalars("\0", {"a": 1.0, "b": 2.0}, 1)
        writer.add_scalars_dict({"x": 1.0, "y": None, "": 3.0, "z": 4.0}, 1)
        writer.add_scalars("g", {"a": 1.0}, 1.5)
        writer.add_scalars("g", {"a": 2.0}, 2)
    assert Run(tmp_path).tags()["scalar"] == ["g/a", "x", "z"]
    assert series(tmp_path, "g/a") == [(1, 1.0), (2, 2.0)]
    assert sum(writer.stats()["dropped"].values()) == 2 + 2 + 2 + 1


def test_cb5_a_dictionary_of_anything(tmp_path):
    logs = {"loss": 0.1, "lr": np.array(0.01), "note": "x", "nested": {"a": 1, "deeper": {"b": 2.5}}, "space": SimpleNamespace(c=3)}
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalars_dict(logs, 7)
    run = Run(tmp_path)
    assert {tag: series(tmp_path, tag) for tag in run.tags()["scalar"]} == {
        "loss": [(7, 0.1)], "lr": [(7, 0.01)], "nested/a": [(7, 1.0)], "nested/deeper/b": [(7, 2.5)], "space/c": [(7, 3.0)]
    }  # fmt: skip
    assert run.points("text", "note")[0].value.data.item() == b"x"
    assert writer.stats()["dropped"] == {}


NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0/"), min_size=1, max_size=5)


@given(st.lists(st.dictionaries(NAMES, st.floats(allow_nan=False) | st.integers(-9, 9), max_size=6), max_size=6))
def test_any_dictionaries_come_back(tmp_path_factory, steps):
    directory = tmp_path_factory.mktemp("run")
    with SummaryWriter(directory) as writer:
        for step, values in enumerate(steps):
            writer.add_scalars_dict(values, step)
    wanted = {}
    for step, values in enumerate(steps):
        for name, value in values.items():
            wanted.setdefault(name, []).append((step, float(value)))
    assert {tag: series(directory, tag) for tag in wanted} == wanted


def hparams(directory):
    return Run(directory).hparams()


def test_hp1_settings_go_into_the_run_itself(tmp_path):
    given_ = {"l": [1, 2], "n": np.float32(1), "d": {"a": 1}, "o": None, "p": Path("x")}
    with SummaryWriter(tmp_path) as writer:
        writer.add_hparams(given_, {"acc": 0.5, "t": np.array(2.5)}, global_step=3)
    assert hparams(tmp_path) == {"l": "[1, 2]", "n": 1.0, "d/a": 1.0, "o": "None", "p": "x"}
    assert (series(tmp_path, "acc"), series(tmp_path, "t")) == ([(3, 0.5)], [(3, 2.5)])
    assert [path.is_file() for path in tmp_path.iterdir()] == [True]


def test_the_same_settings_again_stay_in_the_run_and_others_get_one_of_their_own(tmp_path):
    """TensorBoard knows one set a run; the loop over settings in the peers' documentation must still show all of them."""
    with SummaryWriter(tmp_path) as writer:
        for lr in (0.1, 0.1, 0.2, 0.3):
            writer.add_hparams({"lr": lr}, {"acc": lr})
    below = sorted(path for path in tmp_path.iterdir() if path.is_dir())
    assert hparams(tmp_path) == {"lr": 0.1}
    assert [hparams(path) for path in below] == [{"lr": 0.2}, {"lr": 0.3}]


@pytest.mark.parametrize("call", [
    lambda writer: writer.add_hparams({"lr": 0.1}, {"acc": 1.0}, None, "trial", 3),    # PyTorch's places
    lambda writer: writer.add_hparams({"lr": 0.1}, {"acc": 1.0}, "trial", 3),    # tensorboardX's
    lambda writer: writer.add_hparams({"lr": 0.1}, {"acc": 1.0}, name="trial", global_step=3),
    lambda writer: writer.add_hparams({"lr": 0.1}, {"acc": 1.0}, run_name="trial", global_step=3),
])  # fmt: skip
def test_a_name_gives_the_settings_a_run_of_their_own(tmp_path, call):
    with SummaryWriter(tmp_path) as writer:
        call(writer)
    assert (hparams(tmp_path / "trial"), series(tmp_path / "trial", "acc")) == ({"lr": 0.1}, [(3, 1.0)])


@pytest.mark.parametrize(("hparam_dict", "metric_dict"), [(None, {}), ("text", {}), ({"a": 1}, {"x": "text"}), ({"a": 1}, {"x": None})])
def test_bad_settings_and_metrics_cost_themselves_only(tmp_path, hparam_dict, metric_dict):
    with SummaryWriter(tmp_path) as writer:
        writer.add_hparams(hparam_dict, metric_dict)
        writer.add_scalar("loss", 0.5, 1)
    assert series(tmp_path, "loss") == [(1, 0.5)]
    assert sum(writer.stats()["dropped"].values()) == 1
    assert hparams(tmp_path) == ({"a": 1.0} if isinstance(hparam_dict, dict) else {})
