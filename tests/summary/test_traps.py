"""MindSpore's SummaryRecord, trap by trap: what it did wrong (by the sections of the reference on MindSpore 2.10) must go right here.

The name of each test names the section. Traps that other tests spring: 1.4 and 7.13 with several processes (FI2), 1.5 with a full disk
(FULL1, FULL2), 7.3 (SP5), 7.5 (the journal), 7.10 and 7.9 (EX1, EX2), 7.17 (SP4).
"""

from __future__ import annotations

import os
import signal
import stat
import threading
import time

import numpy as np
import pytest
from testkit import events, records, scripts

from summarykit import RefusedValueError, Run, SummaryRecord


def one(directory, kind="scalar", value=1.0, tag="x", step=1, **options):
    with SummaryRecord(directory, **options) as record:
        record.add_value(kind, tag, value)
        assert record.record(step)
        assert record.flush()
    return record


def kinds(directory, layout="mindspore"):
    return [(point.kind, point.tag, point.step) for point in events.all_points(directory, layout)]


# --- 1.1 the constructor


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"log_dir": 7}, TypeError, "log_dir"),
        ({"log_dir": "  "}, ValueError, "log_dir"),
        ({"log_dir": "s3://bucket/run"}, ValueError, "URL"),
        ({"file_prefix": ""}, ValueError, "file_prefix"),
        ({"file_prefix": "a/b"}, ValueError, "file_prefix"),
        ({"file_prefix": "é"}, ValueError, "file_prefix"),
        ({"file_prefix": None}, TypeError, "file_prefix must be a str, got None"),
        ({"file_suffix": None}, TypeError, "file_suffix must be a str, got None"),
        ({"num_process": "a"}, TypeError, "num_process"),
        ({"num_process": -1}, ValueError, "num_process"),
        ({"max_file_size": 0}, ValueError, "max_file_size"),
        ({"max_file_size": -1}, ValueError, "max_file_size"),
        ({"max_file_size": True}, TypeError, "max_file_size"),
        ({"max_file_size": 1e6}, TypeError, "max_file_size"),
        ({"raise_exception": 1}, TypeError, "raise_exception"),
        ({"export_options": {"format": "npy"}}, ValueError, "export_options"),
        ({"export_options": {"tensor_format": "csv"}}, ValueError, "export_options"),
        ({"export_options": "npy"}, TypeError, "export_options"),
    ],
)
def test_1_1_wrong_arguments_are_refused_by_name_when_it_is_made(arguments, error, words, tmp_path):
    with pytest.raises(error, match=words):
        SummaryRecord(**{"log_dir": tmp_path / "run", **arguments})
    assert not (tmp_path / "run").exists()


def test_1_1_a_file_in_the_place_of_the_directory_is_an_oserror_with_its_path(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file") as caught:
        SummaryRecord(tmp_path / "file")
    assert caught.value.filename == str(tmp_path / "file")


def test_1_1_a_constructor_that_failed_locks_nothing(tmp_path):
    (tmp_path / "file").write_text("")
    for log_dir in (tmp_path / "file", " ", 7):
        with pytest.raises((OSError, ValueError, TypeError)):
            SummaryRecord(log_dir)
    one(tmp_path / "run")
    assert events.both(tmp_path / "run") == [(1, 1.0)]


def test_1_1_prefixes_with_a_hyphen_are_fine(tmp_path):
    one(tmp_path, file_prefix="my-run.v2", file_suffix="_a-b")
    assert all(path.name.startswith("my-run.v2.out.") for path in records.record_files(tmp_path))


@pytest.mark.parametrize("num_process", [0, 1, 32])
def test_1_1_any_number_of_processes_records(num_process, tmp_path):
    one(tmp_path, "histogram", np.arange(10.0), num_process=num_process)
    assert kinds(tmp_path) == [("histogram", "x", 1)]


def test_1_1_strict_mode_reaches_the_trainer(tmp_path):
    with SummaryRecord(tmp_path, raise_exception=True) as record, pytest.raises(RefusedValueError, match="complex"):
        record.add_value("scalar", "x", 1j)


def test_1_1_making_one_starts_and_writes_nothing(no_leftovers, tmp_path):
    before = dict(os.environ), [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)], set(threading.enumerate())
    children = scripts.children()
    begun = time.thread_time()
    with SummaryRecord(tmp_path / "deep" / "run"):
        assert set(threading.enumerate()) <= before[2]    # those of tests before this one may end
        assert set(scripts.children()) <= set(children)
    assert time.thread_time() - begun < 0.5
    assert list((tmp_path / "deep" / "run").iterdir()) == []
    assert before[:2] == (dict(os.environ), [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)])


# --- 1.2 the methods


@pytest.mark.parametrize("step", [np.int32(5), np.int64(5), np.uint8(5), 5.0])
def test_1_2_any_integer_is_a_step(step, tmp_path):
    one(tmp_path, step=step)
    assert events.both(tmp_path) == [(5, 1.0)]


def test_1_2_the_values_of_a_network_s_step_are_not_left_for_the_next(tmp_path):
    """There the call that wrote the graph returned early, and the pool went into the next step."""
    with SummaryRecord(tmp_path, network=object()) as record:
        for step in (1, 2):
            record.add_value("scalar", "x", float(step))
            assert record.record(step, train_network=object())
    assert events.both(tmp_path) == [(1, 1.0), (2, 2.0)]


def test_1_2_a_filter_decides_by_plugin(tmp_path):
    with SummaryRecord(tmp_path) as record:
        record.add_value("scalar", "x", 1.0)
        record.add_value("tensor", "x", [1.0])
        assert record.record(1, plugin_filter=lambda plugin: plugin == "tensor")
        assert record.record(2)
    assert kinds(tmp_path) == [("tensor", "x", 1)]


def test_1_2_record_tells_the_truth(tmp_path):
    with SummaryRecord(tmp_path) as record:
        assert record.record(1) is True    # all of nothing was accepted
        record.add_value("scalar", "bad", "text")
        record.add_value("scalar", "good", 1.0)
        assert record.record(2) is False
        record.add_value("scalar", "good", 1.0)
        assert record.record(3) is True
    record.add_value("scalar", "good", 1.0)
    assert record.record(4) is False
    assert events.both(tmp_path) == [(2, 1.0), (3, 1.0)]
    assert sum(record.stats()["dropped"].values()) == 2


def test_1_2_flush_returns_when_the_bytes_are_in_the_file(tmp_path):
    with SummaryRecord(tmp_path, flush_secs=100.0) as record:
        for step in range(5):
            record.add_value("scalar", "x", float(step))
            record.add_value("histogram", "h", np.arange(100_000.0))
            record.record(step)
            assert record.flush()
            assert len(events.scalars(tmp_path, "x")) == len(events.scalars(tmp_path, "x", "tensorboard")) == step + 1
            assert [point.kind for point in events.all_points(tmp_path)].count("histogram") == step + 1


def test_1_2_close_may_be_called_again(no_leftovers, tmp_path):
    record = one(tmp_path)
    for _ in range(3):
        record.close()
        assert record.flush()
        assert record.record(2) is False
    assert events.both(tmp_path) == [(1, 1.0)]


def test_1_2_an_unknown_mode_is_refused(tmp_path):
    with SummaryRecord(tmp_path) as record:
        record.set_mode("eval")
        assert record.mode == "eval"
        with pytest.raises(ValueError, match=r"mode must be one of 'train', 'eval', got 'test'"):
            record.set_mode("test")


def test_1_2_log_dir_is_the_directory_and_path_a_file_that_exists(tmp_path):
    with SummaryRecord(tmp_path) as record:
        assert record.log_dir == str(tmp_path)
        assert record.path is None
        record.add_value("scalar", "x", 1.0)
        record.record(1)
        record.flush()
        assert os.path.isfile(record.path)


def test_1_2_a_closed_record_cannot_be_entered(tmp_path):
    record = one(tmp_path)
    with pytest.raises(ValueError, match="closed"), record:
        pass


# --- 1.3 the plugins


@pytest.mark.parametrize("value", [1, 0.5, True, np.float32(0.5), np.int64(3), np.bool_(True), np.array([[2.0]]), [1.5], np.float16(0.5)])
def test_1_3_plain_numbers_are_scalars(value, tmp_path):
    one(tmp_path, value=value)
    assert events.both(tmp_path) == [(1, float(np.array(value).item()))]


def test_1_3_what_is_no_picture_is_refused_at_the_call(tmp_path, caplog):
    """There a worker logged it and the value was gone, while ``record`` said True."""
    with SummaryRecord(tmp_path) as record:
        record.add_value("image", "x", np.zeros((1, 2, 4, 4, 4)))
        assert record.record(1) is False
        record.add_value("image", "x", np.zeros((1, 3, 0, 4)))
        assert record.record(2) is False
        assert sum(record.stats()["dropped"].values()) == 2
    assert "image" in caplog.text


@pytest.mark.parametrize("kind", ["tensor", "histogram"])
def test_1_3_arrays_without_axes_are_fine(kind, tmp_path):
    one(tmp_path, kind, np.float32(0.5))
    assert kinds(tmp_path) == kinds(tmp_path, "tensorboard") == [(kind, "x", 1)]


@pytest.mark.parametrize("kind", ["scalar", "tensor", "histogram"])
def test_1_3_of_two_values_of_one_name_the_last_wins_as_the_warning_says(kind, tmp_path, caplog):
    with SummaryRecord(tmp_path) as record:
        for step in range(3):
            record.add_value(kind, "x", 1.0)
            record.add_value(kind, "x", 2.0)
            assert record.record(step)
    assert kinds(tmp_path) == [(kind, "x", step) for step in range(3)]
    assert caplog.text.count("the last value wins") == 1
    if kind == "scalar":
        assert events.both(tmp_path) == [(step, 2.0) for step in range(3)]


@pytest.mark.parametrize("value", [2**53 + 1, 1e300, 1e-320, 2**31 + 1, float("inf"), float("-inf")])
def test_1_3_scalars_are_not_rounded_to_float32(value, tmp_path):
    one(tmp_path, value=value)
    assert events.both(tmp_path) == [(1, float(value))]


@pytest.mark.parametrize("plugin", ["explainer", "LANDSCAPE", "", "scalars", None])
def test_1_3_an_unknown_plugin_is_refused_with_those_that_there_are(plugin, tmp_path):
    with SummaryRecord(tmp_path) as record, pytest.raises(ValueError, match="scalar, histogram, image, tensor"):
        record.add_value(plugin, "x", 1.0)


@pytest.mark.parametrize("kind", ["scalar", "tensor", "histogram", "image"])
def test_1_3_a_name_is_checked_whatever_the_plugin(kind, tmp_path):
    with SummaryRecord(tmp_path) as record:
        with pytest.raises(ValueError, match="empty"):
            record.add_value(kind, "", 1.0)
        with pytest.raises(TypeError, match="str"):
            record.add_value(kind, None, 1.0)


# --- 1.4 the files


def test_1_4_two_records_of_one_second_keep_their_data(tmp_path):
    for value in (1.0, 2.0, 3.0):
        one(tmp_path, value=value)
    assert [value for _, value in events.both(tmp_path)] == [1.0, 2.0, 3.0]


def test_1_4_nothing_recorded_no_file(tmp_path):
    with SummaryRecord(tmp_path) as record:
        for step in range(3):
            record.record(step)
        record.flush()
    assert list(tmp_path.iterdir()) == []


def test_1_4_files_may_be_read_and_deleted_as_any_other(tmp_path):
    """There they were left with mode 0400."""
    one(tmp_path, "tensor", [1.0], export_options={"tensor_format": "npy"})
    paths = [*records.record_files(tmp_path), *tmp_path.rglob("*.npy")]
    assert len(paths) == 3
    assert all(stat.S_IMODE(path.stat().st_mode) & 0o600 == 0o600 for path in paths)


def test_1_4_wall_times_rise_along_the_file_within_a_kind(tmp_path):
    with SummaryRecord(tmp_path) as record:
        for step in range(20):
            record.add_value("scalar", "x", 1.0)
            record.add_value("histogram", "h", np.arange(1000.0 * (step % 3 + 1)))
            record.record(step)
    for kind in ("scalar", "histogram"):
        times = [point.wall_time for point in events.all_points(tmp_path) if point.kind == kind]
        assert times == sorted(times)
        assert time.time() - 60 < times[0] <= times[-1] <= time.time()


def test_1_4_exports_of_one_second_do_not_overwrite_each_other(tmp_path):
    for value in (1.0, 2.0, 3.0):
        one(tmp_path, "tensor", [value], export_options={"tensor_format": "npy"})
    paths = list(tmp_path.rglob("*.npy"))
    assert sorted(np.load(path)[0] for path in paths) == [1.0, 2.0, 3.0]
    assert {path.name for path in paths} == {"x_1.npy"}
    assert all(path.parent.name == "tensor" and path.parent.parent.name.startswith("export_") for path in paths)


def test_1_4_an_export_that_fails_costs_nothing_else(tmp_path, caplog):
    with SummaryRecord(tmp_path, export_options={"tensor_format": "npy"}) as record:
        record.add_value("tensor", "x", [1.0])
        record.record(1)
        record.flush()
        folder = next(tmp_path.rglob("*.npy")).parent
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()
        folder.write_text("in the way")
        for step in (2, 3):
            record.add_value("tensor", "x", [1.0])
            assert record.record(step)
        assert record.flush()
        assert record.stats()["recorded"] == record.stats()["written"] == 3
    assert kinds(tmp_path) == [("tensor", "x", step) for step in (1, 2, 3)]
    assert caplog.text.count("was not exported") == 1


# --- 1.5 sizes and disks


def test_1_5_what_does_not_fit_does_not_end_the_recording(tmp_path):
    """There a tensor of 20 kB, refused by a budget of 3000 bytes, took all that came later with it."""
    with SummaryRecord(tmp_path, max_file_size=3000) as record:
        for step in range(5):
            record.add_value("scalar", "x", float(step))
            record.add_value("tensor", "t", np.zeros(5000, np.float32))
            assert record.record(step)
        assert record.flush()
        assert record.stats()["dropped"] == {}
    assert len(events.both(tmp_path)) == 5
    assert [kind for kind, _, _ in kinds(tmp_path)].count("tensor") == 5


def test_1_5_a_disk_with_some_space_left_is_used(tmp_path, monkeypatch):
    """There a record was dropped unless 32 times its size was free."""
    monkeypatch.setattr(os, "statvfs", lambda *args: pytest.fail("free space must not be asked for at each write"))
    one(tmp_path, "tensor", np.zeros(100_000))
    assert kinds(tmp_path) == [("tensor", "x", 1)]


# --- 7 behaviour


BAD = {
    "complex scalar": ("scalar", 1j),
    "complex tensor": ("tensor", np.zeros(3, np.complex128)),
    "text": ("tensor", np.array(["a"])),
}
HARD = {
    "bools": ("histogram", np.array([True, False])),
    "int64 near its ends": ("histogram", np.array([-(2**63), 2**63 - 1])),
    "float64 near its ends": ("histogram", np.array([-1e308, 1e308, 1.7e308])),
    "unsigned near its end": ("histogram", np.array([0, 2**64 - 1], np.uint64)),
    "nothing": ("histogram", np.array([])),
    "only NaN": ("histogram", np.array([np.nan] * 5)),
    "float16": ("tensor", np.array([1.0, 65504.0], np.float16)),
}


@pytest.mark.parametrize("case", [*BAD, *HARD])
def test_7_1_no_value_ends_the_writer(case, tmp_path):
    """There it died, ``record`` went on to say True, and four calls later training hung."""
    kind, value = {**BAD, **HARD}[case]
    begun = time.monotonic()
    with SummaryRecord(tmp_path) as record:
        for step in range(50):
            record.add_value("scalar", "good", float(step))
            record.add_value(kind, "case", value)
            assert record.record(step) is (case in HARD)
        assert record.flush()
    assert time.monotonic() - begun < 60
    assert events.both(tmp_path, "good") == [(step, float(step)) for step in range(50)]
    assert len([point for point in events.all_points(tmp_path) if point.tag == "case"]) == (50 if case in HARD else 0)


def test_7_1_bad_names_and_steps_raise_before_they_reach_the_writer(tmp_path):
    with SummaryRecord(tmp_path) as record:
        with pytest.raises(ValueError, match="surrogate"):
            record.add_value("scalar", "\ud800", 1.0)
        record.add_value("scalar", "x", 1.0)
        with pytest.raises(ValueError, match="step"):
            record.record(2**63)
        assert record.record(1)
    assert events.both(tmp_path) == [(1, 1.0)]


def test_7_4_no_processes_are_started(tmp_path, monkeypatch):
    monkeypatch.setattr("summarykit.writing.process.START_SECS", 100.0)    # on a busy machine values may wait longer
    before = scripts.children()    # one that a test before this one started may still be ending
    with SummaryRecord(tmp_path, num_process=8) as record:
        for step in range(20):
            record.add_value("histogram", "h", np.arange(10_000.0))
            record.record(step)
        assert record.flush()
        assert set(scripts.children()) <= set(before)


@pytest.mark.parametrize("reap", [True, False])
def test_7_6_7_7_nothing_outlives_a_trainer_that_is_killed_while_a_large_tensor_is_written(reap, start_script, tmp_path):
    """Reaped or not (a zombie, as below a PID 1 that does not wait): there, three processes stayed for ever."""
    code = """
import sys, numpy as np
from summarykit import SummaryRecord
record = SummaryRecord(sys.argv[1])
for step in range(10_000):
    record.add_value("scalar", "x", float(step))
    record.add_value("tensor", "big", np.zeros(2**20)); record.record(step)
    if step == 3: print("running", flush=True)
"""
    script, process = start_script(code, tmp_path)
    assert process.stdout.readline() == "running\n"
    process.kill()
    if reap:
        process.wait()
    assert scripts.wait_until_gone(script.token, 5) == []
    for path in records.record_files(tmp_path):
        events.whole(path)    # raises for any damage but a torn tail
    process.wait()


def test_7_8_ctrl_c_in_the_loop_keeps_everything(run_script, tmp_path):
    code = """
import os, signal, sys, threading
from summarykit import SummaryRecord
with SummaryRecord(sys.argv[1]) as record:
    for step in range(200):
        record.add_value("scalar", "x", float(step)); record.record(step)
    os.kill(os.getpid(), signal.SIGINT)
    while True: pass
"""
    done = run_script(code, tmp_path)
    assert done.returncode == -signal.SIGINT
    assert events.both(tmp_path) == [(step, float(step)) for step in range(200)]


def test_7_11_visible_without_flush_after_the_interval(tmp_path):
    with SummaryRecord(tmp_path) as record:
        record.add_value("scalar", "x", 1.0)
        record.record(1)
        deadline = time.monotonic() + 60
        while not events.scalars(tmp_path) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert events.both(tmp_path) == [(1, 1.0)]


def test_7_14_any_number_of_live_records_in_one_process_and_directory(tmp_path):
    all_records = [SummaryRecord(tmp_path) for _ in range(5)]
    for number, record in enumerate(all_records):
        record.add_value("scalar", f"x{number}", float(number))
        assert record.record(1)
    all_records[0].close()
    all_records[0].close()
    for record in all_records:
        record.close()
    assert events.by_tag(tmp_path) == {f"x{number}": [(1, float(number))] for number in range(5)}


def test_7_15_bfloat16_and_numpy_values(tmp_path):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    values = np.array([1.5, -2.0, 3.0e38], ml_dtypes.bfloat16)
    with SummaryRecord(tmp_path) as record:
        for kind, value in (("scalar", values[0]), ("tensor", values), ("histogram", values)):
            record.add_value(kind, "x", value)
        assert record.record(1)
    assert events.both(tmp_path) == [(1, 1.5)]
    assert Run(tmp_path).tensors("x").at(1)[:].tolist() == [float(value) for value in values]


def test_7_16_the_process_keeps_its_protobuf(run_script, tmp_path):
    code = """
import os, sys
before = dict(os.environ)
import numpy as np
from summarykit import SummaryRecord
with SummaryRecord(sys.argv[1]) as record:
    for kind in ("scalar", "histogram", "tensor"):
        record.add_value(kind, "x", 1.0)
    assert record.record(1)
assert dict(os.environ) == before
assert not any(name.startswith("google.protobuf") for name in sys.modules)
"""
    run_script(code, tmp_path).expect_success()


def test_7_18_a_script_without_a_main_guard_runs_once(run_script, tmp_path):
    code = f"""
import multiprocessing, sys
multiprocessing.set_start_method("spawn")
print("script")
import numpy as np
from summarykit import SummaryRecord
record = SummaryRecord({str(tmp_path)!r}, num_process=4)
record.add_value("histogram", "h", np.arange(100_000.0)); record.record(1)
record.close()
"""
    script = tmp_path / "script.py"
    script.write_text(code)
    done = run_script(f"import runpy; runpy.run_path({str(script)!r}, run_name='__main__')").expect_success()
    assert done.stdout == "script\n"


@pytest.mark.parametrize("tag", ["a b", "a:b", "[:x]", "层/权重", "x" * 3000, "é" * 300, "a/" * 200, "."])
def test_7_19_any_tag_is_exported(tag, tmp_path):
    with SummaryRecord(tmp_path, export_options={"tensor_format": "npy"}) as record:
        for name in (tag, tag + "!"):
            record.add_value("tensor", name, [1.0])
            record.add_value("tensor", name + "2", [2.0])
        assert record.record(-3)
        assert record.flush()
    assert len(list(tmp_path.rglob("*_-3.npy"))) == 4
    assert record.stats()["dropped"] == {}


@pytest.mark.parametrize("step", [-1, -(2**63), 2**31, 2**53 + 1, 2**63 - 2])
def test_7_20_steps_beyond_the_usual(step, tmp_path):
    one(tmp_path, step=step)
    assert events.both(tmp_path) == [(step, 1.0)]
