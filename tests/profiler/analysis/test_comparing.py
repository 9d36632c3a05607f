"""Before and after: what became faster, and whether that is more than noise."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from testkit.recordings import recording

from summarykit.profiler.analysis import analyse, compare
from summarykit.profiler.recording import Category


def trained(wait: float, seed: int):
    random = np.random.default_rng(seed)
    spans, steps, time = [], [], 0.0
    for step in range(30):
        here = wait * random.uniform(0.9, 1.1)
        spans += [("data wait", Category.PHASE, 0, time, here), ("forward", Category.PHASE, 0, time + here, 40)]
        length = here + 40 + random.normal(2, 0.3)
        steps.append((step, time, time + length))
        time += length
    return analyse(recording(spans, steps))


def test_a_gain_is_told_and_compared_with_the_promise():
    found = compare(trained(30, 1), trained(1, 2))
    assert found.steps["verdict"][0] == "faster"
    assert found.steps["change"][0] == pytest.approx(-29, abs=1.5)
    assert dict(zip(found.phases["phase"], found.phases["change"], strict=True))["data wait"] == pytest.approx(-29, abs=1.5)
    place = found.kept["rule"].tolist().index("data_wait")
    assert found.kept["gone"][place]
    assert found.kept["promised"][place] == pytest.approx(found.kept["gained"][place], rel=0.25)
    assert "step: faster" in str(found)
    assert json.loads(found.to_json())["steps"]["verdict"] == ["faster"]
    assert compare(trained(1, 2), trained(30, 1)).steps["verdict"][0] == "slower"


@pytest.mark.parametrize("seed", range(10))
def test_the_same_twice_is_no_difference(seed):
    assert compare(trained(20, seed), trained(20, seed + 100)).steps["verdict"][0] == "no difference"


def lasting(lengths):
    ends = np.cumsum(lengths)
    steps = [(step, end - length, end) for step, (length, end) in enumerate(zip(lengths, ends, strict=True))]
    return analyse(recording([("forward", Category.PHASE, 0, begin, end - begin) for _, begin, end in steps], steps))


def test_steps_that_take_turns_to_be_short_and_long_count_as_their_mean():
    """A loader with two workers has two batches at a time; the median step is a short or a long one."""
    found = compare(lasting([20.0, 22.0] * 20), lasting([4.0, 14.0] * 20 + [4.0])).steps
    assert found["verdict"][0] == "faster"
    assert found["before"][0] == pytest.approx(21.0)
    assert found["change"][0] == pytest.approx(-12.0, abs=0.2)
    assert found["median_after"][0] == 4.0
    assert "medians 21.0 and 4" in str(compare(lasting([20.0, 22.0] * 20), lasting([4.0, 14.0] * 20 + [4.0])))


def test_one_long_step_hides_no_gain_and_makes_none():
    usual, hiccup = [20.0, 21.0] * 20, [10.0, 11.0] * 20
    hiccup[25] = 2000.0
    found = compare(lasting(usual), lasting(hiccup))
    assert found.steps["verdict"][0] == "faster"
    assert found.steps["after"][0] == found.steps["median_after"][0] == 10.5
    usual[25] = 2000.0
    assert compare(lasting([20.0, 21.0] * 20), lasting(usual)).steps["verdict"][0] == "no difference"


def test_of_a_single_step_nothing_is_sure():
    many = lasting([8.0, 14.0] * 20)
    for before, after in ((lasting([10.0]), lasting([13.0])), (lasting([13.0]), many), (many, lasting([13.0]))):
        assert compare(before, after).steps["verdict"][0] == "no difference"


def test_where_means_and_medians_contradict_each_other_nothing_is_sure():
    lengths = [8.0] * 31 + [1000.0] * 9
    assert compare(lasting([12.0, 12.1] * 20), lasting([8.0] * 40)).steps["verdict"][0] == "faster"
    assert compare(lasting([12.0, 12.1] * 20), lasting(lengths)).steps["verdict"][0] == "no difference"


def test_recordings_without_steps_cannot_be_compared_and_say_so():
    empty = analyse(recording([("op", Category.HOST_OP, 0, 0, 1)]))
    found = compare(empty, empty)
    assert found.steps["verdict"][0] == "unknown"
    assert "cannot be compared" in str(found)
    assert json.loads(found.to_json())["steps"]["before"] == [None]
    with pytest.raises(ValueError, match="before: a report on one recording"):
        compare(analyse([]), empty)
    with pytest.raises(TypeError, match="after: a report is needed"):
        compare(empty, "recording")


@pytest.mark.shared
def test_two_public_recordings_one_with_workers(shared: Path):
    folder = shared / "data/profiler/kineto"
    found = compare(analyse(folder / "tb_resnet50_nw0"), analyse(folder / "tb_resnet50_nw4"))
    assert found.steps["verdict"][0] == "faster"
    place = found.kept["rule"].tolist().index("data_wait")
    assert found.kept["gone"][place]
    assert found.kept["promised"][place] == pytest.approx(found.kept["gained"][place], rel=0.25)
