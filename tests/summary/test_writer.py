"""SummaryWriter: what goes in comes out, whatever it is and wherever it is called; nothing raises in the loop."""

from __future__ import annotations

import gc
import json
import logging
import math
import os
import pickle
import threading
import time
import weakref
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from testkit import events
from testkit.records import check_directory

from summarykit import Run, SummaryWriter
from summarykit.errors import RefusedValueError, StorageError
from summarykit.formats.proto.messages import message


def series(directory, tag):
    found = Run(directory).scalars(tag)
    return list(zip(found.step.tolist(), found.value.tolist(), strict=True))


def test_the_example_of_its_docstring(tmp_path):
    with SummaryWriter(tmp_path / "first") as writer:
        writer.add_scalar("loss", 0.5, 1)
    assert series(tmp_path / "first", "loss") == [(1, 0.5)]
    assert len(check_directory(tmp_path / "first")) == 1


def test_both_formats_where_they_are_asked_for(tmp_path):
    with SummaryWriter(tmp_path, formats=("mindspore", "tensorboard")) as writer:
        for step in range(100):
            writer.add_scalar("loss", step / 7, step)
    assert events.both(tmp_path, "loss") == [(step, step / 7) for step in range(100)]


FLOATS = st.floats() | st.floats(width=32).map(np.float32) | st.integers(-(2**53), 2**53) | st.booleans()
TAGS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)
STEPS = st.integers(-(2**63), 2**63 - 1)


@given(st.lists(st.tuples(TAGS, FLOATS, STEPS), max_size=30))
def test_tg1_any_scalars_under_any_tags_at_any_steps_come_back_exactly(tmp_path_factory, calls):
    directory = tmp_path_factory.mktemp("run")
    with SummaryWriter(directory) as writer:
        for tag, value, step in calls:
            writer.add_scalar(tag, value, step)
    wanted: dict[str, list] = {}
    for tag, value, step in calls:
        wanted.setdefault(tag, []).append((step, float(value)))
    found = {tag: Run(directory, raw=True).scalars(tag) for tag in wanted}
    for tag, points in wanted.items():
        np.testing.assert_equal(list(zip(found[tag].step.tolist(), found[tag].value.tolist(), strict=True)), points)


@pytest.mark.parametrize("step", [2**31, 2**53 + 1, 2**63 - 1, np.int32(7), np.int64(2**62), np.array(5), 2.0])
def test_st1_steps_of_any_integer_type_are_exact(tmp_path, step):
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalar("loss", 0.5, step)
        writer.add_scalar("loss", 0.5, step)
    assert Run(tmp_path, raw=True).scalars("loss").step.tolist() == [int(step)] * 2


@pytest.mark.parametrize("step", [1.5, True, "12", 2**63, -(2**63) - 1, np.bool_(True), [1], math.nan])
def test_st2_what_is_no_step_is_refused_and_costs_that_value_only(tmp_path, step):
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalar("loss", 0.5, 1)
        writer.add_scalar("loss", 0.5, step)
        writer.add_text("note", "text", step)
        writer.add_scalar("loss", 0.5, 2)
    assert Run(tmp_path).scalars("loss").step.tolist() == [1, 2]
    assert sum(writer.stats()["dropped"].values()) == 2


@pytest.mark.parametrize("tag", ["", "a\0b", "\ud800", "x" * 70_000, 5, None, ["list"]])
def test_tg2_what_is_no_tag_is_refused_and_costs_that_value_only(tmp_path, tag):
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalar("loss", 0.5, 1)
        if not isinstance(tag, list):
            writer.add_scalar(tag, 0.5, 1)
        writer.add_histogram(tag, [1, 2], 1)
    assert Run(tmp_path).tags() == {"scalar": ["loss"]}
    assert sum(writer.stats()["dropped"].values()) == 2 - isinstance(tag, list)


@pytest.mark.parametrize("value", [1 + 2j, "text", None, object(), [1, 2], np.zeros(3), np.array([1 + 2j], np.complex64)])
def test_va12_a_bad_value_in_the_middle_costs_itself_only(tmp_path, value, caplog):
    with SummaryWriter(tmp_path) as writer:
        for step in range(40):
            writer.add_scalar("loss", 0.5, step)
            if step in (10, 20):
                writer.add_scalar("loss", value, step)
    assert len(series(tmp_path, "loss")) == 40
    assert list(writer.stats()["dropped"].values()) == [2]
    assert len(caplog.records) == 1


def test_strict_raises_in_the_call(tmp_path):
    writer = SummaryWriter(tmp_path, raise_exception=True)
    with pytest.raises(RefusedValueError, match="neither a number"):
        writer.add_scalar("loss", None, 1)
    with pytest.raises(RefusedValueError, match="step"):
        writer.add_scalar("loss", 0.5, 1.5)
    writer.add_scalar("loss", 0.5, 1)
    writer.close()
    assert series(tmp_path, "loss") == [(1, 0.5)]


def test_full2_strict_raises_storage_errors_in_the_next_call(tmp_path, run_script):
    code = """
import resource, signal, sys
from summarykit import SummaryWriter
from summarykit.errors import StorageError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))
writer = SummaryWriter(sys.argv[1], raise_exception=True)
try:
    for step in range(200_000):
        writer.add_scalar("loss", 0.5, step)
        if step % 1000 == 0: writer.flush()
except StorageError as error:
    print(error.errno)
"""
    assert run_script(code, tmp_path).expect_success().stdout == "27\n"
    assert issubclass(StorageError, OSError)


def test_tm1_a_time_that_is_given_is_kept_exactly(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalar("loss", 0.5, 1, 12.5)
        writer.add_text("note", "text", 1, walltime=13.25)
        writer.add_scalar("loss", 0.5, 2, walltime=math.nan)    # TensorBoard's server reads no further than that
        writer.add_scalar("loss", 0.5, 3, walltime="late")
        writer.add_scalar("loss", 0.5, 4, walltime=10**400)
    assert Run(tmp_path).scalars("loss").wall_time.tolist() == [12.5]
    assert Run(tmp_path).points("text", "note").wall_time.tolist() == [13.25]
    assert sum(writer.stats()["dropped"].values()) == 3


def test_rs4_without_a_step_it_is_step_0_and_hides_nothing(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        for step in range(100):
            writer.add_scalar("train", 0.5, step)
        writer.add_text("note", "text")
        writer.add_scalar("val", 0.5, 5)
    assert len(series(tmp_path, "train")) == 100
    assert Run(tmp_path).points("text", "note").step.tolist() == [0]


def test_va13_arrays_may_change_after_the_call(tmp_path):
    values, picture = np.ones(1000), np.zeros((3, 4, 4), np.uint8)
    with SummaryWriter(tmp_path) as writer:
        writer.add_histogram("h", values, 1)
        writer.add_tensor("t", values, 1)
        writer.add_image("i", picture, 1)
        values[:], picture[:] = 5, 255
    run = Run(tmp_path)
    assert (run.histograms("h")[0].value.max, run.tensors("t").at(1)[0]) == (1.0, 1.0)


def test_va1_va2_titles_and_double_precision(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalar("a", 1234567.890123, 1, double_precision=True)
        writer.add_scalar("b", 16777217, 1, new_style=True)
        writer.add_scalar("c", 0.1, 1, display_name="Title", summary_description="*what*")
        writer.add_scalar("d", 0.1, 1, None, "Title", "*what*")    # tensorboardX's places
        writer.add_scalar("e", None, 1, new_style=True)
    assert [series(tmp_path, tag)[0][1] for tag in "abcd"] == [1234567.890123, 16777217.0, 0.1, 0.1]
    titles = {point[0]: point[1] for point in titled(next(tmp_path.iterdir()))}
    assert titles == {"a": ("", ""), "b": ("", ""), "c": ("Title", "*what*"), "d": ("Title", "*what*")}


def titled(path):
    for payload in events.whole(path)[0]:
        for value in message("tensorboard.Event").FromString(payload).summary.value:
            yield value.tag, (value.metadata.display_name, value.metadata.summary_description)


def test_a_closed_writer_opens_new_files_when_it_is_used_again(tmp_path):
    """As the peers do: some training loops close it after every epoch."""
    writer = SummaryWriter(tmp_path, purge_step=0)
    for epoch in range(3):
        writer.add_scalar("loss", 0.5, epoch)
        writer.add_scalar("loss2", 0.5, epoch)
        writer.close()
        writer.close()
    assert Run(tmp_path).scalars("loss").step.tolist() == [0, 1, 2]
    stats = writer.stats()
    assert (stats["recorded"], stats["written"], stats["dropped"], len(stats["files"])) == (6, 6, {}, 3)
    assert [len(events.purges(path)) for path in events.files(tmp_path, "tensorboard")] == [2, 1, 1]
    with writer:
        writer.add_scalar("loss", 0.5, 3)
    assert len(series(tmp_path, "loss")) == 4


def test_after_an_error_it_can_be_used_again(tmp_path):
    writer = SummaryWriter(tmp_path)
    with pytest.raises(KeyError), writer:
        writer.add_scalar("loss", 0.5, 1)
        writer.add_scalar("loss", 0.5, 2)
        raise KeyError
    writer.add_scalar("loss", 0.5, 3)
    writer.close()
    assert Run(tmp_path).scalars("loss").step.tolist() == [1, 2, 3]


def test_writers_that_were_closed_are_let_go(tmp_path):
    writer = SummaryWriter(tmp_path)
    writer.add_scalar("loss", 0.5, 1)
    writer.close()
    old = weakref.ref(writer._writer)
    writer.add_scalar("loss", 0.5, 2)
    end = time.monotonic() + 60
    while old() is not None and time.monotonic() < end:    # the pump looks at it once more
        time.sleep(0.05)
        gc.collect()
    assert old() is None
    writer.close()


def test_without_a_directory_it_makes_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with SummaryWriter(comment="_lr0.1") as writer:
        writer.add_scalar("loss", 0.5, 1)
    assert writer.log_dir.startswith("runs" + os.sep)
    assert writer.log_dir.endswith("_lr0.1")
    assert (writer.get_logdir(), writer.logdir) == (writer.log_dir, writer.log_dir)
    assert series(writer.log_dir, "loss") == [(1, 0.5)]


def test_nothing_on_the_disk(tmp_path):
    with SummaryWriter(tmp_path / "run", write_to_disk=False) as writer:
        for step in range(10):
            writer.add_scalar("loss", 0.5, step)
        writer.add_image("i", np.zeros((3, 4, 4)), 1)
        writer.add_hparams({"lr": 1}, {"a": 1.0}, run_name="x")
        assert writer.flush() is True
    writer.add_scalar("loss", 0.5, 11)
    assert not (tmp_path / "run").exists()
    assert writer.stats()["files"] == []


@pytest.mark.parametrize(("arguments", "error", "name"), [
    ({"log_dir": "s3://bucket/run"}, ValueError, "log_dir"),
    ({"log_dir": 5}, TypeError, "log_dir must be a str or a path, got 5"),
    ({"log_dir": b"run"}, TypeError, "log_dir must be"),
    ({"flush_secs": 0}, ValueError, "flush_secs"),
    ({"flush_secs": "often"}, TypeError, "flush_secs"),
    ({"filename_suffix": "a/b"}, ValueError, "filename_suffix 'a/b'"),
    ({"filename_suffix": 3}, TypeError, "filename_suffix"),
    ({"formats": None}, ValueError, "formats must be a tuple"),
    ({"formats": ("no",)}, ValueError, "formats"),
    ({"formats": "tensorboard"}, ValueError, "formats"),
    ({"add_scalars_as": "files"}, ValueError, "add_scalars_as"),
    ({"on_full": "wait"}, ValueError, "on_full"),
    ({"max_file_size": 0}, ValueError, "max_file_size"),
    ({"purge_step": 1.5}, TypeError, "purge_step must be an int, got 1.5"),
    ({"resume": "1"}, TypeError, "resume must be an int"),
    ({"purge_step": 1, "resume": 2}, ValueError, "purge_step"),
    ({"rank": -1}, ValueError, "rank"),
    ({"flush_sec": 3}, TypeError, "flush_sec"),
    ({"num_process": -1}, ValueError, "num_process"),
    ({"fence": "no"}, TypeError, "fence"),
])  # fmt: skip
def test_bad_arguments_raise_at_construction(tmp_path, arguments, error, name):
    with pytest.raises(error, match=name):
        SummaryWriter(**{"log_dir": tmp_path / "run", **arguments})
    assert not (tmp_path / "run").exists()


def test_rs1_the_step_to_go_on_at_may_be_one_of_numpy(tmp_path):
    """A checkpoint often holds such."""
    for resume in (None, np.int64(1)):
        with SummaryWriter(tmp_path, purge_step=resume) as writer:
            for step in range(2 if resume is None else 1, 3):
                writer.add_scalar("loss", 0.5 if resume is None else 0.25, step)
    assert series(tmp_path, "loss") == [(1, 0.25), (2, 0.25)]


WRONG = {"a list": [1, 2], "nothing": None, "a number": 1.0, "a text": "loss"}


@pytest.mark.parametrize("value", WRONG.values(), ids=WRONG)
@pytest.mark.parametrize("way", ["chart", "runs", "add_scalars_dict"])
def test_what_is_no_dict_of_numbers_costs_itself_alone(way, value, tmp_path, caplog):
    with SummaryWriter(tmp_path, add_scalars_as="chart" if way == "add_scalars_dict" else way) as writer:
        writer.add_scalar("before", 1.0, 1)
        if way == "add_scalars_dict":
            writer.add_scalars_dict(value, 1)
        else:
            writer.add_scalars("losses", value, 1)
        writer.add_scalar("after", 1.0, 1)
    reason = f"scalar: {'add_scalars_dict' if way == 'add_scalars_dict' else 'add_scalars'} takes a dict of names and values"
    assert [dropped.startswith(reason) for dropped in writer.stats()["dropped"]] == [True]
    assert Run(tmp_path).tags() == {"scalar": ["after", "before"]}


@pytest.mark.parametrize("name", ["a\0b", "x" * 300])
def test_a_run_below_that_cannot_be_made_costs_its_values_alone(name, tmp_path):
    with SummaryWriter(tmp_path, add_scalars_as="runs") as writer:
        writer.add_scalars("loss", {name: 1.0, "b": 2.0}, 1)
        writer.add_hparams({"lr": 1}, {"acc": 1.0}, run_name=name)
        writer.add_scalar("after", 1.0, 1)
    assert sum(writer.stats()["dropped"].values()) == 2
    assert all(reason.startswith("run: it cannot be made: ") for reason in writer.stats()["dropped"])
    assert series(tmp_path / "loss_b", "loss") == [(1, 2.0)]
    assert series(tmp_path, "after") == [(1, 1.0)]


def test_a_kind_is_named_once_in_the_reason_of_a_refusal(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_image("i", np.zeros((4,)), 1, dataformats="XY")
        writer.add_audio("a", np.zeros((3, 3, 3)), 1)
        writer.add_text("t", None, 1)
        writer.add_scalar("s", np.array("x"), 1)
    beginnings = sorted(reason.partition(" ")[0] for reason in writer.stats()["dropped"])
    assert beginnings == ["audio:", "image:", "scalar:", "text"]
    assert not any(f"{kind}: {kind}" in reason for kind in ("audio", "image", "text") for reason in writer.stats()["dropped"])


def test_arguments_of_the_peers_are_taken(tmp_path):
    theirs = {"max_queue": 100, "flush_secs": 30, "filename_suffix": ".train", "comet_config": {"disabled": True}}
    with SummaryWriter(logdir=str(tmp_path), **theirs) as writer:
        writer.add_scalar("loss", 0.5, 1)
    assert ".train." in next(tmp_path.iterdir()).name
    with SummaryWriter(str(tmp_path / "b"), "", None, 10, 120, "", True, None) as writer:    # by position
        writer.add_scalar("loss", 0.5, 1)
    assert series(tmp_path / "b", "loss") == [(1, 0.5)]


def test_a_value_is_in_the_file_after_a_tenth_of_a_second_whatever_flush_secs_is(tmp_path):
    """FL2, and what a kill may cost."""
    writer = SummaryWriter(tmp_path, flush_secs=120)
    writer.add_scalar("loss", 0.5, 1)
    end = time.monotonic() + 60
    while not writer.stats()["written"] and time.monotonic() < end:
        time.sleep(0.02)
    assert series(tmp_path, "loss") == [(1, 0.5)]
    writer.close()


def test_ranks_write_into_directories_of_their_own(tmp_path):
    with SummaryWriter(tmp_path, rank=2) as writer:
        writer.add_scalar("loss", 0.5, 1)
    assert writer.log_dir == str(tmp_path / "rank_2")
    assert series(tmp_path / "rank_2", "loss") == [(1, 0.5)]


def test_fk6_eight_threads_through_one_writer(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        def work(number):
            for step in range(1000):
                writer.add_scalar(f"t{number}", float(step), step)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for number in range(8):
        assert series(tmp_path, f"t{number}") == [(step, float(step)) for step in range(1000)]


def test_fk1_forked_children_write_files_of_their_own(tmp_path, run_script):
    code = """
import os, signal, sys
from summarykit import SummaryWriter
writer = SummaryWriter(sys.argv[1], purge_step=0)
writer.add_scalar("p", 0.0, 0); writer.flush()
kids = []
for k in range(2):
    pid = os.fork()
    if pid == 0:
        signal.alarm(80)
        for i in range(200): writer.add_scalar(f"c{k}", float(i), i)
        writer.close(); os._exit(0)
    kids.append(pid)
for i in range(1, 201): writer.add_scalar("p", float(i), i)
assert all(os.waitpid(p, 0)[1] == 0 for p in kids)
writer.close()
"""
    run_script(code, tmp_path).expect_success()
    assert len(list(tmp_path.iterdir())) == 3
    assert [len(series(tmp_path, tag)) for tag in ("p", "c0", "c1")] == [201, 200, 200]


def test_ex1_nothing_is_lost_without_close(tmp_path, run_script):
    code = """
import sys
from summarykit import SummaryWriter
writer = SummaryWriter(sys.argv[1])
for i in range(500): writer.add_scalar("loss", float(i), i)
writer.add_histogram("h", list(range(100)), 1)
"""
    run_script(code, tmp_path).expect_success()
    assert len(series(tmp_path, "loss")) == 500
    assert Run(tmp_path).histograms("h")[0].value.count == 100


def test_a_writer_may_be_used_in_an_exit_handler(tmp_path, run_script):
    code = """
import atexit, sys
from summarykit import SummaryWriter
writer = SummaryWriter(sys.argv[1])
atexit.register(lambda: [writer.add_scalar("late", float(i), i) for i in range(100)])
import summarykit.writing.lifecycle
atexit.register(lambda: writer.add_scalar("loss", 0.5, 1))
"""
    run_script(code, tmp_path).expect_success()
    assert len(series(tmp_path, "late")) == 100


def test_fk3_it_can_be_pickled(tmp_path):
    writer = SummaryWriter(tmp_path, purge_step=1, filename_suffix="x")
    copy = pickle.loads(pickle.dumps(writer))
    copy.add_scalar("loss", 0.5, 0)
    copy.close()
    writer.add_scalar("later", 0.5, 1)
    writer.close()
    assert series(tmp_path, "loss") == [(0, 0.5)]
    purges = [events.purges(path) for path in sorted(tmp_path.iterdir())]
    assert purges == [[events.LAST_STEP, 1], [events.LAST_STEP]]    # it was the copy that came first, and resumed


def test_fk3_a_copy_records_beside_the_original_wherever_the_program_is(tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    writer = SummaryWriter("run", rank=1)
    monkeypatch.chdir("elsewhere")
    with pickle.loads(pickle.dumps(writer)) as copy:
        copy.add_scalar("loss", 1.0, 1)
    assert len(list((tmp_path / "run/rank_1").iterdir())) == 1
    assert not list((tmp_path / "elsewhere").iterdir())


@pytest.mark.parametrize("write_to_disk", [True, False])
def test_fk3_a_copy_fails_not_where_something_lies_in_the_way_of_its_directory(write_to_disk, tmp_path):
    writer = SummaryWriter(tmp_path / "run", write_to_disk=write_to_disk)
    (tmp_path / "run").rmdir() if write_to_disk else None
    (tmp_path / "run").write_text("in the way")
    copy = pickle.loads(pickle.dumps(writer))
    copy.add_scalar("loss", 0.5, 0)
    assert copy.flush() is not write_to_disk
    (tmp_path / "run").unlink()
    for step, again in enumerate([copy, pickle.loads(pickle.dumps(copy))]):
        again.add_scalar("loss", 0.5, step)
        again.close()
    assert (tmp_path / "run").exists() == write_to_disk
    assert not write_to_disk or series(tmp_path / "run", "loss") == [(0, 0.5), (1, 0.5)]


def test_one_that_is_forgotten_closes_its_files(tmp_path, no_leftovers):
    writer = SummaryWriter(tmp_path)
    writer.add_scalar("loss", 0.5, 1)
    del writer
    gc.collect()
    end = time.monotonic() + 60
    while threading.active_count() > 1 and time.monotonic() < end:
        time.sleep(0.02)
    assert series(tmp_path, "loss") == [(1, 0.5)]


def test_use_metadata_gives_step_and_time(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalar("loss", 0.5, 1)
        with writer.use_metadata(global_step=7, walltime=12.5):
            writer.add_scalar("loss", 0.5)
            writer.add_text("note", "text")
            writer.add_scalar("loss", 0.5, 8, 13.5)
        writer.add_scalar("loss", 0.5)
    run = Run(tmp_path, raw=True)
    assert run.scalars("loss").step.tolist() == [1, 7, 8, 0]
    assert run.scalars("loss").wall_time.tolist()[1:3] == [12.5, 13.5]
    assert run.points("text", "note").step.tolist() == [7]


def test_messages_of_tensorboard_are_taken_by_file_writer(tmp_path):
    """Code that makes its summaries itself, as the usual way around the peers' add_hparams does."""
    with SummaryWriter(tmp_path) as writer:
        summary = message("tensorboard.Summary")()
        summary.value.add(tag="loss", simple_value=0.5)
        summary.value.add(tag="settings").metadata.plugin_data.plugin_name = "hparams"
        writer.file_writer.add_summary(summary, 3, 12.5)
        writer.file_writer.add_event(message("tensorboard.Event")(step=4, wall_time=13.5, summary=summary))
        assert writer.file_writer.get_logdir() == str(tmp_path)
        writer.file_writer.flush()
    found = Run(tmp_path).scalars("loss")
    assert (found.step.tolist(), found.wall_time.tolist(), found.value.tolist()) == ([3, 4], [12.5, 13.5], [0.5, 0.5])
    assert Run(tmp_path).points("hparams", "settings").step.tolist() == [3, 4]


def test_values_of_any_plugin(tmp_path, caplog):
    told = message("tensorboard.SummaryMetadata")()
    told.plugin_data.plugin_name, told.plugin_data.content = "mine", b"meta"
    with SummaryWriter(tmp_path) as writer:
        writer.add_plugin("numbers", np.arange(4.0).reshape(2, 2), told, 1)
        writer.add_plugin("bytes", b"content", told, 1)
        writer.add_plugin("table", np.array([[b"a", b"b"]], object), told, 1)
        writer.add_plugin("none", 1.0, None, 1)
    run = Run(tmp_path)
    assert run.tags() == {"mine": ["bytes", "numbers", "table"]}
    values = {tag: run.points("mine", tag)[0].value for tag in run.tags()["mine"]}
    assert {tag: value.data.tolist() for tag, value in values.items()} == {
        "numbers": [[0, 1], [2, 3]], "bytes": b"content", "table": [[b"a", b"b"]]
    }  # fmt: skip
    assert {value.metadata for value in values.values()} == {b"meta"}
    assert "SummaryMetadata" in caplog.text


def test_raw_histograms(tmp_path):
    values = np.random.default_rng(0).normal(size=500)
    counts, limits = np.histogram(values, 8)
    with SummaryWriter(tmp_path) as writer:
        sums = values.min(), values.max(), 500, values.sum(), values @ values
        writer.add_histogram_raw("h", *sums, limits[1:].tolist(), counts.tolist(), 1)
        writer.add_histogram_raw("empty", 0, 0, 0, 0, 0, [], [], 1)
        for limits_, counts_ in (([1, 2], [1]), ([2, 1], [1, 1]), ([1, 2], [-1, 1]), ("text", [1]), ([1], None)):
            writer.add_histogram_raw("bad", 0, 1, 1, 1, 1, limits_, counts_, 1)
    run = Run(tmp_path)
    assert run.tags() == {"histogram": ["empty", "h"]}
    shape = run.histograms("h")[0].value
    np.testing.assert_array_equal(shape.counts, counts)
    np.testing.assert_allclose(shape.edges, limits)
    assert sum(writer.stats()["dropped"].values()) == 5


def test_export_to_json(tmp_path):
    with SummaryWriter(tmp_path / "run", max_file_size=4096, formats=("mindspore", "tensorboard")) as writer:
        for step in range(200):
            writer.add_scalar("loss", step / 7, step, walltime=1000.0 + step)
        writer.add_scalar("loss", math.nan, 200, walltime=1200.0)
        writer.export_scalars_to_json(tmp_path / "scalars.json")
        with pytest.raises(FileNotFoundError):
            writer.export_scalars_to_json(tmp_path / "no" / "scalars.json")
    found = json.loads((tmp_path / "scalars.json").read_text(), parse_constant=pytest.fail)
    assert found == {f"{tmp_path / 'run'}/loss": [*([1000.0 + step, step, step / 7] for step in range(200)), [1200.0, 200, None]]}


def test_fi6_files_rotate(tmp_path):
    with SummaryWriter(tmp_path, max_file_size=4096) as writer:
        for step in range(2000):
            writer.add_scalar("loss", 0.5, step)
    assert len(list(tmp_path.iterdir())) > 10
    assert len(series(tmp_path, "loss")) == 2000


def test_every_method_tells_what_it_takes():
    for name, method in vars(SummaryWriter).items():
        if not name.startswith("_") and callable(method):
            assert method.__doc__, name


def test_a_missing_extra_is_told_and_never_silent(tmp_path, caplog, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "onnx", None)
    (tmp_path / "model.onnx").write_bytes(b"")
    with caplog.at_level(logging.WARNING), SummaryWriter(tmp_path / "run") as writer:
        writer.add_onnx_graph(tmp_path / "model.onnx")
    assert "pip install 'summarykit[onnx]'" in caplog.text
    assert sum(writer.stats()["dropped"].values()) == 1


def test_the_directory_may_be_a_path(tmp_path):
    with SummaryWriter(Path(tmp_path)) as writer:
        writer.add_scalar("loss", 0.5, 1)
    assert isinstance(writer.log_dir, str)
