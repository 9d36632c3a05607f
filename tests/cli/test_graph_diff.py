"""``summarykit show --graph-diff``."""

from __future__ import annotations

import pytest

from summarykit import SummaryRecord

BEFORE = {
    "x": {"op": "Input"}, "neg": {"op": "Neg", "inputs": ["x"]}, "relu": {"op": "Relu", "inputs": ["neg"]},
    "drop": {"op": "Dropout", "inputs": ["relu"]}, "out": {"op": "Output", "inputs": ["drop"]},
}  # fmt: skip
AFTER = {"x": {"op": "Input"}, "prelu": {"op": "PRelu", "inputs": ["x"]}, "out": {"op": "Output", "inputs": ["prelu"]}}


@pytest.fixture
def recorded(tmp_path):
    with SummaryRecord(tmp_path / "run") as record:
        record.add_value("graph", "before", BEFORE)
        record.add_value("graph", "after", AFTER)
        record.record(1)
    return tmp_path / "run"


def test_two_graphs_need_no_names(cli, recorded):
    out = cli("show", recorded, "--graph-diff").expect(0).out
    assert out.splitlines()[0] == "before (5 nodes) → after (3 nodes): 2 nodes kept"
    assert "replaced, 1 time: Neg + Relu + Dropout → PRelu\n  neg, relu, drop → prelu" in out
    assert [line.split() for line in out.splitlines() if line.startswith("Neg")] == [["Neg", "1", "0", "-1"]]


def test_names_choose_and_order_them(cli, recorded):
    out = cli("show", recorded, "--graph-diff", "after", "before").expect(0).out
    assert out.startswith("after (3 nodes) → before (5 nodes)")
    assert "PRelu → Neg + Relu + Dropout" in out


def test_json(cli, recorded):
    found = cli("show", recorded, "--json", "--graph-diff").json
    assert found == {
        "old": {"graph": "before", "nodes": 5}, "new": {"graph": "after", "nodes": 3}, "kept": 2, "added": [], "removed": [],
        "replaced": [
            {
                "old": [{"name": "neg", "op": "Neg"}, {"name": "relu", "op": "Relu"}, {"name": "drop", "op": "Dropout"}],
                "new": [{"name": "prelu", "op": "PRelu"}],
            }
        ],
    }  # fmt: skip


def test_graphs_of_two_runs(cli, tmp_path):
    for name, graph in (("a", BEFORE), ("b", AFTER)):
        with SummaryRecord(tmp_path / name) as record:
            record.add_value("graph", "net", graph)
            record.record(1)
    assert cli("show", tmp_path, "--graph-diff", "a:net", "b:net").expect(0).out.startswith("a:net (5 nodes) → b:net (3 nodes)")


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["before"], ["two names or none", "'before'"]),
        (["before", "later"], ["no graph is named 'later'", "'after'"]),
        (["a", "b", "c"], ["got 3"]),
    ],
)
def test_wrong_names_are_told(cli, recorded, names, words):
    cli("show", recorded, "--graph-diff", *names).expect_error(*words)


def test_one_graph_alone_cannot_be_compared(cli, tmp_path):
    with SummaryRecord(tmp_path) as record:
        record.add_value("graph", "net", BEFORE)
        record.record(1)
    cli("show", tmp_path, "--graph-diff").expect_error("needs the names of two graphs", "'net'")


def test_what_was_added_or_removed_is_listed(cli, tmp_path):
    with SummaryRecord(tmp_path) as record:
        record.add_value("graph", "long", {f"n{number}": {"op": "Relu"} for number in range(30)})
        record.add_value("graph", "short", {"n0": {"op": "Relu"}})
        record.record(1)
    out = cli("show", tmp_path, "--graph-diff").expect(0).out
    assert "removed: Relu ×29" in out
    assert "… and 9 more" in out
    assert "added: Relu ×29" in cli("show", tmp_path, "--graph-diff", "short", "long").expect(0).out
