"""Storage that is full, read-only, gone or replaced: training goes on, drops are counted, and recording resumes."""

from __future__ import annotations

import itertools
import os
import subprocess
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from testkit import events, records

from summarykit import Run, StorageError, SummaryRecord

LIMITED = """
import sys, os, time, signal, resource
from summarykit import SummaryRecord, StorageError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

def limit(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

def fill(record, start, stop):
    accepted = 0
    for step in range(start, stop):
        record.add_value("scalar", "loss", float(step))
        accepted += record.record(step)
    return accepted

def total(stats):
    assert stats["recorded"] == stats["written"] + sum(stats["dropped"].values()) + stats["waiting"], stats
    return stats["recorded"]
limit(65536)
"""


def test_full1_a_full_disk_does_not_hold_up_the_loop(run_script, tmp_path):
    code = """
record = SummaryRecord(sys.argv[1])
begun = time.thread_time()
fill(record, 0, 20_000)
assert time.thread_time() - begun < 2
begun = time.monotonic()
assert record.flush() is False
record.close()
assert time.monotonic() - begun < 60
stats = record.stats()
assert total(stats) == 20_000 and stats["waiting"] == 0, stats
assert stats["dropped"] == {"storage: File too large": 20_000 - stats["written"]}, stats
print(stats["written"])
"""
    done = run_script(LIMITED + code, tmp_path).expect_success()
    assert done.stderr.count("\n") == done.stderr.count("cannot write") + done.stderr.count("only counted") == 2, done.stderr
    written = int(done.stdout)
    sizes = [path.stat().st_size for path in records.record_files(tmp_path)]
    assert all(0.95 * 65536 < size <= 65536 for size in sizes)
    counts = [len(events.scalars(tmp_path, "loss", layout)) for layout in events.SCALAR]
    assert records.check_directory(tmp_path)
    assert min(counts) == written
    assert events.scalars(tmp_path, "loss") == [(step, float(step)) for step in range(counts[0])]


def test_full2_strict_mode_raises_once_in_the_caller(run_script, tmp_path):
    code = """
record = SummaryRecord(sys.argv[1], raise_exception=True)
errors = []
for step in range(20_000):
    try:
        record.add_value("scalar", "loss", float(step)); record.record(step)
    except StorageError as error:
        errors.append(error)
    if step % 2000 == 0:
        time.sleep(0.15)
try:
    record.flush()
except StorageError as error:
    errors.append(error)
record.close()
assert len(errors) == 1, errors
error = errors[0]
assert isinstance(error, OSError) and error.errno == 27 and error.filename.startswith(sys.argv[1]), vars(error)
assert "File too large" in str(error), error
"""
    run_script(LIMITED + code, tmp_path).expect_success()


def test_full2_strict_mode_at_close(run_script, tmp_path):
    code = """
try:
    with SummaryRecord(sys.argv[1], raise_exception=True) as record:
        record.add_value("tensor", "big", [0.0] * 25_000); record.record(1)
except StorageError as error:
    print(error.errno)
record.close()
try:
    with SummaryRecord(sys.argv[1], raise_exception=True) as record:
        record.add_value("tensor", "big", [0.0] * 25_000); record.record(1)
        raise KeyError("mine")
except KeyError:
    print("mine")
"""
    assert run_script(LIMITED + code, tmp_path).expect_success().stdout == "27\nmine\n"


RESUMES = """
record = SummaryRecord(sys.argv[1], max_file_size=eval(sys.argv[2]))
fill(record, 0, 3000)
assert record.flush() is False
stats = record.stats()
assert total(stats) == 3000 and stats["dropped"] == {} and stats["lag"] > 0, stats
time.sleep(0.3)
limit(resource.RLIM_INFINITY)
fill(record, 3000, 3500)
assert record.flush() is True and record.stats()["lag"] == 0
stats = record.stats()
assert stats["written"] == 3500 and stats["waiting"] == 0 and stats["dropped"] == {}, stats
limit(os.path.getsize(stats["files"][-1]) + 100)
fill(record, 3500, 3600)
assert record.flush() is False
limit(resource.RLIM_INFINITY)
record.close()
assert record.stats()["dropped"] == {}, record.stats()
"""


@pytest.mark.parametrize("max_file_size", [None, 1_000_000])
def test_full_for_a_while_nothing_is_lost_that_fits_in_memory(max_file_size, run_script, tmp_path):
    run_script(LIMITED + RESUMES, tmp_path, max_file_size).expect_success()
    assert events.both(tmp_path) == [(step, float(step)) for step in range(3600)]


@pytest.mark.viewers
@pytest.mark.shared
def test_full_for_a_while_the_rust_loader_reads_the_file(run_script, tensorboard_client, tmp_path):
    run_script(LIMITED + RESUMES, tmp_path, None).expect_success()
    document = tensorboard_client(tmp_path, "rust").expect_sound()
    shown = document["runs"]["."]["plugins"]["scalars"]["loss"]["points"]
    assert shown[-1]["step"] == 3599
    assert all(point["value"] == point["step"] for point in shown)


def test_full_while_files_rotate_makes_no_heap_of_empty_files(run_script, tmp_path):
    """Every rotation during the outage would leave a file behind, and give up what was in hand."""
    code = """
limit(0)
record = SummaryRecord(sys.argv[1], max_file_size=4096)
for step in range(0, 3000, 100):
    fill(record, step, step + 100); record.flush()
limit(resource.RLIM_INFINITY)
fill(record, 3000, 3100)
record.close()
stats = record.stats()
assert total(stats) == 3100 and stats["waiting"] == 0, stats
"""
    run_script(LIMITED + code, tmp_path).expect_success()
    assert len(records.record_files(tmp_path)) < 10
    found = events.both(tmp_path)
    assert found == sorted(found)
    assert found[0] == (0, 0.0)
    assert found[-100:] == [(step, float(step)) for step in range(3000, 3100)]


@contextmanager
def small_disk(where: Path, size: str):
    """A file system of its own; needs root."""
    where.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(where)], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"mounting needs root ({done.stderr.strip()})")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(where)], check=True)


def test_a_full_file_system_that_is_cleared_again_while_a_reader_follows(tmp_path):
    disk = tmp_path / "disk"
    with small_disk(disk, "400k"):
        (disk / "ballast").write_bytes(bytes(200_000))
        run = disk / "run"
        followed, over = [], threading.Event()
        record = SummaryRecord(run)
        record.add_value("scalar", "loss", 0.0)
        record.record(0)
        assert record.flush()
        follower = threading.Thread(target=lambda: followed.extend(Run(run).follow(interval=0.02, stop=over.is_set)))
        follower.start()
        for step in range(1, 4000):
            record.add_value("scalar", "loss", float(step))
            assert record.record(step)
            if step % 20 == 0:
                time.sleep(0.001)
        assert record.flush() is False
        time.sleep(0.3)
        (disk / "ballast").unlink()
        assert record.flush() is True
        record.close()
        over.set()
        follower.join(150)
        assert record.stats()["written"] == 4000
        assert events.both(run) == [(step, float(step)) for step in range(4000)]
        assert [(p.step, p.value.value) for p in followed] == [(step, float(step)) for step in range(4000)]


def fill(record, start, stop):
    for step in range(start, stop):
        record.add_value("scalar", "loss", float(step))
        assert record.record(step)


def total(stats):
    assert stats["recorded"] == stats["written"] + sum(stats["dropped"].values()) + stats["waiting"]
    return stats["recorded"]


def remove(directory):
    for path in records.record_files(directory):
        path.unlink()
    directory.rmdir()


def test_full3_a_directory_deleted_in_the_middle_of_the_run(tmp_path, caplog):
    run = tmp_path / "deep" / "run"
    with SummaryRecord(run) as record:
        fill(record, 0, 100)
        assert record.flush()
        remove(run)
        fill(record, 100, 2100)
        assert record.flush()
    assert events.both(run) == [(step, float(step)) for step in range(100, 2100)]
    assert [each.message for each in caplog.records].count(f"{run}: {record.stats()['files'][0]} was deleted while it was being written; "
                                                           "going on in a new file") == 1


@pytest.mark.parametrize("name", ["tfevents", "summary."])
def test_one_file_deleted_in_the_middle_of_the_run(name, tmp_path):
    with SummaryRecord(tmp_path) as record:
        fill(record, 0, 100)
        record.flush()
        next(path for path in records.record_files(tmp_path) if name in path.name).unlink()
        fill(record, 100, 200)
    for layout in events.SCALAR:
        assert events.scalars(tmp_path, "loss", layout)[-100:] == [(step, float(step)) for step in range(100, 200)]
    assert len(Run(tmp_path).scalars("loss")) == 200


def test_a_directory_replaced_by_a_file_and_later_usable_again(tmp_path):
    run = tmp_path / "run"
    with SummaryRecord(run) as record:
        fill(record, 0, 100)
        assert record.flush()
        remove(run)
        run.write_text("in the way")
        fill(record, 100, 200)
        assert record.flush() is False
        stats = record.stats()
        assert total(stats) == 200
        assert sum(stats["dropped"].values()) == 100
        run.unlink()
        fill(record, 200, 300)
        assert record.flush() is True
    assert events.both(run) == [(step, float(step)) for step in range(200, 300)]
    assert total(record.stats()) == 300


def test_a_directory_that_is_missing_from_the_start(tmp_path, no_leftovers):
    """Deleted between the construction and the first value, and something else is there now."""
    run = tmp_path / "run"
    record = SummaryRecord(run, raise_exception=True, max_file_size=10_000)
    run.rmdir()
    run.write_text("in the way")
    with pytest.raises(StorageError) as caught:
        for step in itertools.count():
            record.add_value("scalar", "loss", float(step))
            record.record(step)
            time.sleep(0.01)
    assert caught.value.filename == str(run)
    record.close()
    assert total(record.stats()) == sum(record.stats()["dropped"].values()) > 0


def test_a_descriptor_that_somebody_else_closed(tmp_path):
    with SummaryRecord(tmp_path) as record:
        fill(record, 0, 100)
        record.flush()
        for path in records.record_files(tmp_path):
            os.close(next(int(fd) for fd in os.listdir("/proc/self/fd") if is_open_as(fd, path)))
        fill(record, 100, 200)
        assert record.flush()
    assert events.both(tmp_path) == [(step, float(step)) for step in range(200)]


def test_a_name_that_comes_again_is_told_once(tmp_path):
    """Within a second of the first one the new file may have the name of that which was deleted."""
    with SummaryRecord(tmp_path / "run") as record:
        for step in range(3):
            fill(record, step, step + 1)
            assert record.flush()
            files = record.stats()["files"]
            assert len(files) == len(set(files))
            assert set(map(str, records.record_files(tmp_path))) == set(files[-2:])
            assert record.path == files[-2]
            remove(tmp_path / "run")


@pytest.mark.parametrize("ending", ["close", "record and close"])
def test_a_descriptor_that_is_another_files_by_now(ending, run_script, tmp_path):
    """A program closed all that it had, and opened files of its own: these are neither written nor closed."""
    code = """
import os, sys
from summarykit import SummaryRecord
record = SummaryRecord(sys.argv[1] + "/run")
record.add_value("scalar", "loss", 0.0); record.record(0); record.flush()
os.closerange(3, 100)
own = [os.open(f"{sys.argv[1]}/own{number}", os.O_WRONLY | os.O_CREAT) for number in range(10)]
if sys.argv[2] == "record and close":
    record.add_value("scalar", "loss", 1.0); record.record(1)
    assert record.flush()
record.close()
for each in own: os.write(each, b"mine")
"""
    run_script(code, tmp_path, ending).expect_success()
    assert events.both(tmp_path / "run", "loss") == [(step, float(step)) for step in range(1 if ending == "close" else 2)]
    assert {path.read_bytes() for path in tmp_path.glob("own*")} == {b"mine"}


@pytest.mark.parametrize("ending", ["close", "record and close"])
def test_where_a_descriptor_is_another_files_by_now_that_is_not_cut(ending, run_script, tmp_path):
    """Our file ended within a record when its descriptor was taken away."""
    code = """
import os, resource, sys
from summarykit import SummaryRecord

def record(step, values):
    summary.add_value("tensor", "t", values); summary.record(step)

summary = SummaryRecord(sys.argv[1] + "/run", formats=("tensorboard",), num_process=0)
record(0, [0.0])
assert summary.flush()
unlimited = resource.RLIM_INFINITY
resource.setrlimit(resource.RLIMIT_FSIZE, (os.path.getsize(summary.path) + 50, unlimited))
record(1, [1.0] * 1000)
assert not summary.flush()
resource.setrlimit(resource.RLIMIT_FSIZE, (unlimited, unlimited))
os.closerange(3, 100)
own = [os.open(f"{sys.argv[1]}/own{number}", os.O_WRONLY | os.O_CREAT) for number in range(10)]
for each in own: os.write(each, b"mine" * 1000)
if sys.argv[2] == "record and close":
    record(2, [2.0])
    assert summary.flush()
summary.close()
assert sum(summary.stats()["dropped"].values()) == 1
"""
    run_script(code, tmp_path, ending).expect_success()
    assert {path.read_bytes() for path in tmp_path.glob("own*")} == {b"mine" * 1000}
    assert Run(tmp_path / "run").tensors("t").step.tolist() == ([0] if ending == "close" else [0, 2])


def is_open_as(fd, path):
    try:
        return os.readlink(f"/proc/self/fd/{fd}") == str(path)
    except OSError:
        return False


def test_full5_below_a_regular_file(tmp_path):
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file", tmp_path / "file" / "run"):
        with pytest.raises(OSError, match=str(tmp_path / "file")):
            SummaryRecord(path)


def test_full5_a_read_only_directory_is_refused_at_construction(run_script, tmp_path):
    """As another user, since root ignores modes."""
    code = """
import os, sys
from summarykit import SummaryRecord
if os.getuid() == 0:
    os.setgid(65534); os.setuid(65534)
for directory in (sys.argv[1], sys.argv[1] + "/below"):
    try:
        SummaryRecord(directory)
    except PermissionError as error:
        assert error.filename == directory, error.filename
        print("refused")
"""
    tmp_path.chmod(0o555)
    for parent in tmp_path.parents[:2]:
        parent.chmod(0o755)
    done = run_script(code, tmp_path).expect_success()
    assert done.stdout == "refused\nrefused\n"


def test_full5_a_read_only_file_system_is_refused_at_construction(tmp_path):
    disk = tmp_path / "disk"
    with small_disk(disk, "100k"):
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        with pytest.raises(OSError, match=str(disk)):
            SummaryRecord(disk)
        with pytest.raises(OSError, match=str(disk)):
            SummaryRecord(disk / "run")


def test_a_file_that_cannot_be_opened_for_want_of_descriptors(run_script, tmp_path):
    code = """
import os, sys, resource
from summarykit import SummaryRecord
record = SummaryRecord(sys.argv[1])
record.add_value("scalar", "loss", 1.0)
hoard = []
resource.setrlimit(resource.RLIMIT_NOFILE, (50, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
try:
    while True: hoard.append(os.open("/dev/null", os.O_RDONLY))
except OSError:
    pass
assert record.record(1) and record.flush() is False
record.add_value("histogram", "h", [1.0])    # whose module cannot be opened now
assert record.record(1) is False
for fd in hoard: os.close(fd)
record.add_value("scalar", "loss", 2.0); record.record(2)
assert record.flush() is True and record.stats()["lag"] == 0
"""
    done = run_script(code, tmp_path).expect_success()
    assert "Too many open files" in done.stderr
    assert events.both(tmp_path) == [(2, 2.0)]


def test_trap_1_5_a_small_disk_is_filled_to_the_end(tmp_path):
    """MindSpore dropped, and said nothing, where less than 32 times a record's size was free."""
    disk = tmp_path / "disk"
    with small_disk(disk, "3m"):
        with SummaryRecord(disk / "run", formats=("mindspore",)) as record:
            for step in range(10):
                record.add_value("tensor", "x", [float(step)] * 50_000)    # 600 kB: as float32 and, exactly, as float64
                record.record(step)
                record.flush()
            stats = record.stats()
        assert total(record.stats()) == 10
        assert stats["written"] == record.stats()["written"] == 5
        records.check_directory(disk)
        assert [point.step for point in events.all_points(disk)] == list(range(5))


def test_full_for_long_memory_is_bounded(run_script, tmp_path):
    """A few megabytes wait for the disk; what comes beyond is dropped and counted at once."""
    code = """
import numpy as np
record = SummaryRecord(sys.argv[1])
for step in range(30):
    record.add_value("tensor", "x", np.zeros(2**18, np.float32)); assert record.record(step)    # 1 MiB
    assert record.flush() is False
stats = record.stats()
assert total(stats) == 30 and stats["waiting"] <= 6, stats
assert stats["dropped"] == {"storage: File too large": 30 - stats["waiting"]}, stats
limit(resource.RLIM_INFINITY)
record.add_value("tensor", "x", np.zeros(2**18, np.float32)); record.record(30)
record.flush()
record.close()
print(record.stats()["written"])
"""
    done = run_script(LIMITED + code, tmp_path).expect_success()
    steps = [point.step for point in events.all_points(tmp_path)]
    assert len(steps) == int(done.stdout)
    assert steps[:4] == [0, 1, 2, 3]
    assert steps == sorted(steps)
