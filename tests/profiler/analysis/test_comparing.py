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


def test_recordings_without_steps_cannot_be_compared_and_say_so():
    empty = analyse(recording([("op", Category.HOST_OP, 0, 0, 1)]))
    found = compare(empty, empty)
    assert found.steps["verdict"][0] == "unknown"
    assert "cannot be compared" in str(found)
    assert json.loads(found.to_json())["steps"]["before"] == [None]
    with pytest.raises(ValueError, match="before: a report on one recording"):
        compare(analyse([]), empty)


@pytest.mark.shared
def test_two_public_recordings_one_with_workers(shared: Path):
    folder = shared / "data/profiler/kineto"
    found = compare(analyse(folder / "tb_resnet50_nw0"), analyse(folder / "tb_resnet50_nw4"))
    assert found.steps["verdict"][0] == "faster"
    place = found.kept["rule"].tolist().index("data_wait")
    assert found.kept["gone"][place]
    assert found.kept["promised"][place] == pytest.approx(found.kept["gained"][place], rel=0.25)
