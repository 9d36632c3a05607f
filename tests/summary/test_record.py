"""SummaryRecord: what goes in comes out; what cannot go in costs itself alone."""

from __future__ import annotations

import copy
import logging
import os
import pickle
import threading
from collections import defaultdict
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from testkit.records import check_directory

from summarykit.errors import RefusedValueError
from summarykit.reading import Run
from summarykit.summary import SummaryRecord


def scalars(directory, tag):
    series = Run(directory).scalars(tag)
    return list(zip(series.step.tolist(), series.value.tolist(), strict=True))


def test_the_example_of_its_docstring(tmp_path):
    with SummaryRecord(tmp_path) as record:
        record.add_value("scalar", "loss", 0.5)
        assert record.record(step=1) is True
    assert scalars(tmp_path, "loss") == [(1, 0.5)]
    assert sorted(check_directory(tmp_path).values()) == [2, 3]    # an opening record, or two, and the scalar


def test_every_kind_reaches_both_files(tmp_path):
    with SummaryRecord(tmp_path) as record:
        record.add_value("scalar", "s", 1)
        record.add_value("histogram", "h", np.arange(100))
        record.add_value("image", "i", np.zeros((4, 5, 3), np.uint8))
        record.add_value("tensor", "t", np.arange(6).reshape(2, 3))
        assert record.record(2)
        assert record.flush()
        assert record.stats()["written"] == 4
    assert sorted(check_directory(tmp_path).values()) == [5, 6]
    run = Run(tmp_path)
    assert run.histograms("h")[0].value.counts.sum() == 100
    assert run.tensors("t").at(2)[1, :].tolist() == [3, 4, 5]


VALUES = st.floats() | st.integers(-(2**53), 2**53) | st.booleans() | st.floats(width=32).map(np.float32) | st.floats().map(np.float64)


TAGS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)


@given(st.lists(st.dictionaries(TAGS, VALUES, max_size=5), max_size=20))
def test_any_scalars_under_any_tags_come_back_exactly(tmp_path_factory, steps):
    directory = tmp_path_factory.mktemp("run")
    with SummaryRecord(directory) as record:
        for step, values in enumerate(steps):
            for tag, value in values.items():
                record.add_value("scalar", tag, value)
            assert record.record(step)
    run = Run(directory)
    for tag in {tag for values in steps for tag in values}:
        expected = [float(values[tag]) for values in steps if tag in values]
        np.testing.assert_array_equal(run.scalars(tag).value, expected)


def test_the_last_of_two_values_wins_and_it_is_said_once(tmp_path, caplog):
    with SummaryRecord(tmp_path) as record, caplog.at_level(logging.WARNING):
        for step in range(3):
            record.add_value("scalar", "a", 1.0)
            record.add_value("scalar", "a", 2.0)
            record.record(step)
    assert scalars(tmp_path, "a") == [(0, 2.0), (1, 2.0), (2, 2.0)]
    assert len([line for line in caplog.messages if "added twice" in line]) == 1


def test_a_refused_value_costs_itself_alone(tmp_path, caplog):
    with SummaryRecord(tmp_path) as record:
        record.add_value("scalar", "good", 1.0)
        record.add_value("scalar", "bad", "twelve")
        record.add_value("tensor", "worse", np.array([1j]))
        assert record.record(1) is False
        record.add_value("scalar", "good", 2.0)
        assert record.record(2) is True
        record.flush()
        stats = record.stats()
    assert (stats["recorded"], stats["written"], sum(stats["dropped"].values())) == (4, 2, 2)
    assert any("'bad'" in line for line in caplog.messages)
    assert any("'worse'" in line for line in caplog.messages)
    assert scalars(tmp_path, "good") == [(1, 1.0), (2, 2.0)]


def test_strict_mode_raises_where_the_value_is_added(tmp_path):
    with SummaryRecord(tmp_path, raise_exception=True) as record, pytest.raises(RefusedValueError, match="complex"):
        record.add_value("tensor", "t", np.array([1j]))


@pytest.mark.parametrize("step", [1.5, True, "12", None, np.float64(0.5), np.bool_(True), [1]])
def test_st2_what_is_no_step_is_refused(tmp_path, step):
    with SummaryRecord(tmp_path) as record, pytest.raises(TypeError, match="step must be an integer, got"):
        record.record(step)


@pytest.mark.parametrize("step", [2**63, -(2**63) - 1, 1e30])
def test_st2_a_step_beyond_int64_is_refused(tmp_path, step):
    with SummaryRecord(tmp_path) as record, pytest.raises(ValueError, match="step must lie in"):
        record.record(step)


@pytest.mark.parametrize("step", [2.0, np.int8(2), np.uint64(2), np.int32(2), np.array(2), Decimal(2).__int__()])
def test_st2_any_integer_is_a_step(tmp_path, step):
    with SummaryRecord(tmp_path) as record:
        record.add_value("scalar", "a", 1.0)
        assert record.record(step)
    assert scalars(tmp_path, "a") == [(2, 1.0)]


@pytest.mark.parametrize(
    ("name", "error"), [("", ValueError), ("a\0b", ValueError), ("\ud800", ValueError), ("x" * 70_000, ValueError), (5, TypeError)]
)
def test_tg2_what_is_no_tag_is_refused(tmp_path, name, error):
    with SummaryRecord(tmp_path) as record, pytest.raises(error, match="name"):
        record.add_value("scalar", name, 1.0)


def test_an_unknown_kind_is_refused_with_those_that_there_are(tmp_path):
    with SummaryRecord(tmp_path) as record, pytest.raises(ValueError, match=r"'explainer' is not known; allowed: scalar, histogram"):
        record.add_value("explainer", "a", 1.0)


def test_a_filter_discards_what_it_rejects(tmp_path, caplog):
    with SummaryRecord(tmp_path) as record:
        for step in (1, 2):
            record.add_value("scalar", "s", float(step))
            record.add_value("tensor", "t", np.array([step]))
            assert record.record(step, plugin_filter=lambda plugin, step=step: plugin == "scalar" or step == 2)
        record.add_value("tensor", "t", np.array([3]))
        assert record.record(3, plugin_filter="scalar".__eq__)
        assert record.record(4)
    assert not caplog.records
    run = Run(tmp_path)
    assert run.scalars("s").step.tolist() == [1, 2]
    assert [point.step for point in run.tensors("t")] == [2]


def test_what_a_filter_that_fails_was_asked_about_stays_for_the_next_step(tmp_path):
    def fails(plugin):
        if plugin == "tensor":
            raise LookupError(plugin)
        return True

    with SummaryRecord(tmp_path) as record:
        record.add_value("scalar", "s", 1.0)
        record.add_value("tensor", "t", np.array([1]))
        with pytest.raises(LookupError):
            record.record(1, plugin_filter=fails)
        record.record(2)
    run = Run(tmp_path)
    assert run.scalars("s").step.tolist() == [2]
    assert [point.step for point in run.tensors("t")] == [2]


@pytest.mark.parametrize("wrong", ["scalar", ["scalar"], True], ids=repr)
def test_a_filter_that_is_no_function_is_refused_and_leaves_the_step_pending(tmp_path, wrong):
    with SummaryRecord(tmp_path) as record:
        record.add_value("scalar", "a", 1.0)
        with pytest.raises(TypeError, match="plugin_filter must be a function that is given a plugin's name, got"):
            record.record(1, plugin_filter=wrong)
        assert record.record(1)
    assert (Run(tmp_path).scalars("a").step.tolist(), Run(tmp_path).scalars("a").value.tolist()) == ([1], [1.0])


def test_closed_is_closed(tmp_path):
    record = SummaryRecord(tmp_path)
    record.add_value("scalar", "a", 1.0)
    record.record(1)
    record.close()
    record.close()
    record.add_value("scalar", "a", 2.0)
    assert record.record(2) is False
    assert record.stats()["dropped"] == {"the record was closed": 1}
    with pytest.raises(ValueError, match="closed"), record:
        pass
    assert scalars(tmp_path, "a") == [(1, 1.0)]


def test_each_thread_records_what_it_added(tmp_path):
    """FK6: eight threads, one record; every value at its own thread's step."""
    with SummaryRecord(tmp_path) as record:

        def work(number):
            for step in range(1000):
                record.add_value("scalar", f"t{number}", float(step * 10 + number))
                assert record.record(step * 10 + number)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
    run = Run(tmp_path)
    for number in range(8):
        series = run.scalars(f"t{number}")
        assert series.step.tolist() == list(range(number, 10_000, 10))
        assert series.value.tolist() == series.step.tolist()


def test_pickled_and_copied_records_open_files_of_their_own(tmp_path):
    with SummaryRecord(tmp_path, flush_secs=0.05) as record:
        for place, other in enumerate([pickle.loads(pickle.dumps(record)), copy.copy(record)]):
            with other:
                other.add_value("scalar", f"copy{place}", 1.0)
                assert other.record(1)
        record.add_value("scalar", "original", 1.0)
        record.record(1)
    assert len(os.listdir(tmp_path)) == 6
    assert Run(tmp_path).tags()["scalar"] == ["copy0", "copy1", "original"]


def test_a_copy_fails_not_where_something_lies_in_the_way_of_its_directory(tmp_path):
    """In another process, say, that a queue has brought it to."""
    with SummaryRecord(tmp_path / "run", resume=1) as record:
        packed = pickle.dumps(record)
    (tmp_path / "run").rmdir()
    (tmp_path / "run").write_text("in the way")
    with pickle.loads(packed) as other:
        for step in range(3):
            other.add_value("scalar", "copy", 1.0)
            assert other.record(step)
            assert other.flush() == (step > 0)
            (tmp_path / "run").unlink() if step == 0 else None
        assert other.stats()["dropped"] == {"storage: Not a directory": 1}
    assert Run(tmp_path / "run").scalars("copy").step.tolist() == [1, 2]


def test_modes_and_paths(tmp_path):
    with SummaryRecord(str(tmp_path)) as record:
        assert record.log_dir == str(tmp_path)
        assert record.path is None
        record.set_mode("eval")
        assert record.mode == "eval"
        with pytest.raises(ValueError, match="mode must be one of 'train', 'eval', got 'test'"):
            record.set_mode("test")
        record.add_value("scalar", "a", 1.0)
        record.record(1)
        record.flush()
        assert record.path is not None
        assert "summary" in os.path.basename(record.path)


def test_npy_export(tmp_path):
    with SummaryRecord(tmp_path, export_options={"tensor_format": "npy"}) as record:
        record.add_value("tensor", "a/b c", np.arange(3))
        record.add_value("tensor", "长" * 100, np.arange(4))
        record.record(5)
    found = sorted(tmp_path.glob("export_*/tensor/*.npy"))
    assert len(found) == 2
    assert found[1].name == "a%2Fb%20c_5.npy"
    assert len(found[0].name) < 255
    assert [np.load(path).tolist() for path in found] == [[0, 1, 2, 3], [0, 1, 2]]


def test_va2_first_non_finite_step_of_each_tag(tmp_path):
    with SummaryRecord(tmp_path) as record:
        for step, value in enumerate([1.0, float("nan"), float("inf"), 2.0, float("-inf")]):
            record.add_value("scalar", "loss", value)
            record.add_value("scalar", "fine", 1.0)
            record.record(step)
        record.flush()
        assert record.stats()["nonfinite"] == {"loss": 1}
    np.testing.assert_array_equal(Run(tmp_path).scalars("loss").value, [1.0, np.nan, np.inf, 2.0, -np.inf])


def test_ex8_a_signal_handler_that_records_while_a_step_is_closed_records_no_value_twice(tmp_path, monkeypatch):
    with SummaryRecord(tmp_path) as record:

        def interrupted(kind):
            monkeypatch.undo()
            record.record(2)    # as a handler does that comes at the end of the call
            return defaultdict(kind)

        record.add_value("tensor", "state", [1.0])
        monkeypatch.setattr("summarykit.summary.record.defaultdict", interrupted)
        record.record(1)
    assert Run(tmp_path).tensors("state").step.tolist() == [2]
