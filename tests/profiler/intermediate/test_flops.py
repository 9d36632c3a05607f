"""Floating-point operations of a device, by scope."""

from __future__ import annotations

import json
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from summarykit.profiler.intermediate.flops import scopes
from summarykit.profiler.recording import Table


def operations(*rows) -> Table:
    """Of ``(name, count, cube, vector)``."""
    name, count, cube, vector = zip(*rows, strict=True)
    return Table(name=np.array(name, object), count=np.array(count), cube=np.array(cube, float), vector=np.array(vector, float))


def flows(diagram) -> tuple[dict[str, float], dict[str, float]]:
    """What flows into and out of each node."""
    into, out = defaultdict(float), defaultdict(float)
    for link in diagram["data"]["links"]:
        into[link["target"]] += link["value"]
        out[link["source"]] += link["value"]
    return into, out


def test_operations_flow_from_the_outer_scopes_to_the_inner_ones():
    found = scopes(
        operations(
            ("Default/network/conv1/Conv2D-op1", 2, 3e6, 1e6),
            ("Default/network/conv1/BiasAdd-op2", 2, 0, 5e5),
            ("Default/network/fc/MatMul-op3", 1, 4e6, 0),
            ("Default/Cast-op4", 1, 0, 1e6),
            ("Gradients/Default/network/gradConv2D/Conv2D-op5", 1, 2e6, 0),
            ("Gradients/recompute_Default/network/Mul-op6", 1, 0, 7e6),
            ("outside-op7", 1, 1e6, 0),
        )
    )
    assert [tuple(link.values()) for link in found["data"]["links"]] == [
        ("Total", "Default", 14.0),
        ("Default", "network(1_Default)", 13.0),
        ("network(1_Default)", "conv1(2_Default)", 9.0),
        ("network(1_Default)", "fc(2_Default)", 4.0),
        ("Total", "Gradients", 9.0),
        ("Gradients", "Default(1_Gradients)", 2.0),
        ("Default(1_Gradients)", "network(2_Gradients)", 2.0),
        ("network(2_Gradients)", "gradConv2D(3_Gradients)", 2.0),
        ("Gradients", "recompute_Default(1_recompute_Gradients)", 7.0),
        ("recompute_Default(1_recompute_Gradients)", "network(2_recompute_Gradients)", 7.0),
    ]
    assert found["data"]["nodes"][:3] == [{"name": "Total"}, {"name": "Default"}, {"name": "network(1_Default)"}]
    assert found["max_scope_num"] == 4


def test_operators_without_scopes_make_an_empty_diagram():
    assert scopes(operations(("a", 1, 1, 1))) == {"data": {"nodes": [], "links": []}, "max_scope_num": 0}


NAMES = st.lists(st.sampled_from(["Default", "Gradients", "recompute_Default", "a", "b b", ""]), min_size=2, max_size=6).map("/".join)
ROWS = st.tuples(NAMES, st.integers(1, 9), st.integers(0, 10**6).map(lambda value: value * 1000), st.just(0))


@given(st.lists(ROWS, min_size=1, max_size=20))
def test_no_scope_hands_on_more_than_it_gets_and_none_is_within_itself(rows):
    found = scopes(operations(*rows))
    into, out = flows(found)
    names = [node["name"] for node in found["data"]["nodes"]]
    assert len(set(names)) == len(names)
    assert set(names) == into.keys() | out.keys()
    assert out["Total"] == pytest.approx(sum(count * cube for _, count, cube, _ in rows) / 1e6, abs=0.01)
    for name in names[1:]:
        assert out[name] <= into[name] + 0.01
    left = {(link["source"], link["target"]) for link in found["data"]["links"]}
    while left:    # a diagram with a circle is never drawn
        leaves = {target for _, target in left} - {source for source, _ in left}
        assert leaves
        left = {link for link in left if link[1] not in leaves}


@pytest.mark.shared
def test_a_diagram_of_mindspore_has_the_same_parts(shared):
    """A capture's own counters are not public, its diagram is: from before scopes were told apart by their level."""
    folder = shared / "data/profiler/ascend/intermediate/profiler"
    theirs = json.loads((folder / "flops_scope_0.json").read_text())
    ours = scopes(operations(("Default/a/b-op1", 1, 1e6, 1e6)))
    assert (ours.keys(), ours["data"].keys()) == (theirs.keys(), theirs["data"].keys())
    for part in ("nodes", "links"):
        assert {name: type(value) for name, value in ours["data"][part][0].items()} == {
            name: type(value) for name, value in theirs["data"][part][0].items()
        }
    _, out = flows(theirs)
    assert out["Total"] == pytest.approx(json.loads((folder / "flops_summary_0.json").read_text())["FLOPs"], abs=0.01)
