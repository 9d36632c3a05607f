"""Values, steps and tags at the edges: exact on the way back, or refused alone with a reason."""

from __future__ import annotations

import math
import os

import numpy as np
import psutil
import pytest
from testkit import events, records

from summarykit import RefusedValueError, Run, SummaryRecord


def record_scalars(directory, values, tag="x", **options):
    with SummaryRecord(directory, **options) as record:
        for step, value in enumerate(values):
            record.add_value("scalar", tag, value)
            assert record.record(step)
    return record


def test_va1_scalars_are_exact(tmp_path):
    values = [1234567.890123, 16777217, 1e39, 1e-320, -0.0, 5e-324, 1.7976931348623157e308, 2**53 + 1, 0.1]
    record_scalars(tmp_path, values)
    assert [value for _, value in events.both(tmp_path)] == [float(value) for value in values]
    assert Run(tmp_path).scalars("x").value.tolist() == [float(value) for value in values]


def test_va2_nan_and_infinities_are_kept_and_the_first_step_of_each_tag_is_told(tmp_path):
    values = [1.0, math.nan, math.inf, -math.inf, 2.0]
    with SummaryRecord(tmp_path) as record:
        for step, value in enumerate(values):
            record.add_value("scalar", "loss", value)
            record.add_value("scalar", "fine", 1.0)
            record.add_value("scalar", "late", value if step == 3 else 0.0)
            assert record.record(step)
        assert record.flush()
        assert record.stats()["nonfinite"] == {"loss": 1, "late": 3}
    assert repr([value for _, value in events.both(tmp_path, "loss")]) == repr(values)


class Exploding:
    def __float__(self):
        raise RuntimeError("no")


class ExplodingArray:
    def __array__(self, *args, **keywords):
        raise KeyError("no")


POISON = {
    "complex64 tensor": ("tensor", np.array([1 + 2j], np.complex64)),
    "complex scalar": ("scalar", 1 + 2j),
    "object array": ("histogram", np.array([object()])),
    "object scalar": ("scalar", object()),
    "raising __float__": ("scalar", Exploding()),
    "raising __array__": ("tensor", ExplodingArray()),
    "text": ("scalar", "0.5"),
    "two numbers": ("scalar", [1.0, 2.0]),
    "an int beyond float64": ("scalar", 10**400),
    "a ragged list": ("tensor", [[1.0], [1.0, 2.0]]),
    "an array that no memory holds": ("histogram", np.broadcast_to(np.float64(1), (2**50,))),
    "None": ("scalar", None),
    "a date": ("tensor", np.array(["2020-01-01"], "datetime64[D]")),
}


@pytest.mark.parametrize("poison", POISON)
def test_va12_a_value_that_cannot_be_recorded_costs_itself_alone(poison, tmp_path, caplog):
    kind, value = POISON[poison]
    with SummaryRecord(tmp_path) as record:
        for step in range(20):
            record.add_value("scalar", "good", float(step))
            assert record.record(step)
        for _ in range(2):
            record.add_value("scalar", "good", 20.0)
            record.add_value(kind, "bad", value)
            assert record.record(20) is False
        for step in range(21, 40):
            record.add_value("scalar", "good", float(step))
            assert record.record(step)
        assert record.flush()
        stats = record.stats()
    assert sum(stats["dropped"].values()) == 2
    assert stats["written"] == 41
    assert [step for step, _ in events.both(tmp_path)] == [*range(20), 20, 20, *range(21, 40)]
    told = [each.message for each in caplog.records]
    assert len(told) == 1
    assert "'bad'" in told[0]
    assert kind in told[0]


@pytest.mark.parametrize("poison", POISON)
def test_va12_strict_mode_raises_in_the_caller(poison, tmp_path):
    kind, value = POISON[poison]
    with SummaryRecord(tmp_path, raise_exception=True) as record:
        record.add_value("scalar", "good", 1.0)
        with pytest.raises((RefusedValueError, MemoryError)):
            record.add_value(kind, "bad", value)
        assert record.record(1) is False
        assert record.record(2) is True
    assert events.both(tmp_path) == [(1, 1.0)]


def test_va12_reasons_that_never_repeat_do_not_fill_the_memory(tmp_path, caplog):
    class Mine:
        def __init__(self, number):
            self.number = number

        def __float__(self):
            raise ValueError(f"number {self.number} is not ready")

    with SummaryRecord(tmp_path) as record:
        for step in range(1000):
            record.add_value("scalar", "x", Mine(step))
            record.record(step)
        dropped = record.stats()["dropped"]
    assert sum(dropped.values()) == 1000
    assert len(dropped) <= 101
    assert len(caplog.records) <= 101


def test_va13_values_are_frozen_at_the_call(tmp_path):
    values = {"histogram": np.arange(12.0), "tensor": np.arange(12.0), "image": np.full((8, 8, 3), 200, np.uint8), "scalar": np.array(1.0)}
    with SummaryRecord(tmp_path) as record:
        for kind, value in values.items():
            record.add_value(kind, "kept", value.copy())
            record.add_value(kind, "overwritten", value)
            value *= 0
        assert record.record(1)
    found = {kind: {} for kind in values}
    for point in events.all_points(tmp_path):
        found[point.kind][point.tag] = point.value
    assert [kind for kind in values if found[kind]["kept"] != found[kind]["overwritten"]] == []
    assert Run(tmp_path).tensors("overwritten").at(1)[:].tolist() == list(range(12))


def test_st1_steps_are_exact(tmp_path):
    torch = pytest.importorskip("torch")
    python = [2**31, 2**53 + 1, 2**63 - 1, 0, -1, -(2**63)]
    steps = [*python, np.int32(7), np.int64(2**40), np.uint64(9), np.array(11), torch.tensor(12), torch.tensor(2**41)]
    with SummaryRecord(tmp_path) as record:
        for step in steps:
            record.add_value("scalar", "x", 1.0)
            assert record.record(step)
    assert [step for step, _ in events.both(tmp_path)] == [int(step) for step in steps]
    assert sorted(Run(tmp_path).scalars("x").step.tolist()) == sorted(int(step) for step in steps)


def test_st2_steps_that_are_no_integers_are_refused(tmp_path):
    with SummaryRecord(tmp_path) as record:
        record.add_value("scalar", "x", 1.0)
        for step in (1.5, True, np.True_, "12", None, [1], math.nan, math.inf, np.array([1, 2]), 1 + 0j):
            with pytest.raises(TypeError, match="step must be an integer"):
                record.record(step)
        for step in (2**63, -(2**63) - 1, 1e19):
            with pytest.raises(ValueError, match="step must lie in"):
                record.record(step)
        assert record.record(2.0)
    assert events.both(tmp_path) == [(2, 1.0)]


TAGS = ["loss %/a:b", "训练/损失", "🙂", "a//b", "/lead", "a b", "a_b", "a\nb", "..", "../../etc", "C:\\con", "é", "e\u0301", "x" * 5000]


def test_tg1_tags_are_kept_to_the_byte(tmp_path):
    with SummaryRecord(tmp_path, export_options={"tensor_format": "npy"}) as record:
        for number, tag in enumerate(TAGS):
            record.add_value("scalar", tag, float(number))
            record.add_value("tensor", tag, [float(number)])
        assert record.record(1)
    assert events.by_tag(tmp_path) == {tag: [(1, float(n))] for n, tag in enumerate(TAGS)}
    assert Run(tmp_path).tags()["tensor"] == sorted(TAGS)
    exported = list(tmp_path.rglob("*.npy"))
    assert sorted(np.load(path)[0] for path in exported) == list(range(len(TAGS)))
    assert {path.parent.parent.parent for path in exported} == {tmp_path}


@pytest.mark.parametrize("tag", ["", "a\0b", "\ud800", "x" * 70_000])
@pytest.mark.parametrize("kind", ["scalar", "histogram", "tensor"])
def test_tg2_what_is_no_tag_is_refused_everywhere(kind, tag, tmp_path):
    with SummaryRecord(tmp_path) as record:
        for _ in range(2):
            with pytest.raises(ValueError, match="is not a tag"):
                record.add_value(kind, tag, 1.0)
        with pytest.raises(TypeError, match="name must be a str"):
            record.add_value(kind, 7, 1.0)
        record.add_value("scalar", "good", 1.0)
        assert record.record(1)
    assert events.both(tmp_path) == [(1, 1.0)]


def test_tg5_ten_thousand_tags(tmp_path):
    before, threads = psutil.Process().memory_info().rss, psutil.Process().num_threads()
    with SummaryRecord(tmp_path) as record:
        for step in range(10):
            for number in range(10_000):
                record.add_value("scalar", f"layer{number}/weight", float(number))
            assert record.record(step)
        assert record.flush()
        assert psutil.Process().num_threads() <= threads + 2
        assert psutil.Process().memory_info().rss - before < 200 * 2**20
        assert record.stats()["written"] == 100_000
        assert len(records.record_files(tmp_path)) == 2
    assert len(os.listdir(tmp_path)) == 2
    assert len(Run(tmp_path).tags()["scalar"]) == 10_000
