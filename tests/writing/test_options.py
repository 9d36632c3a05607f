"""Bad arguments fail at construction, with a message that names the argument, what came and what is allowed."""

from __future__ import annotations

import os

import numpy as np
import pytest

from summarykit import Run
from summarykit.summary import SummaryRecord

WRONG = [
    ({"log_dir": 3}, TypeError, "log_dir must be a str or a path, got 3"),
    ({"log_dir": b"run"}, TypeError, "log_dir must be a str or a path, got b'run'"),
    ({"log_dir": " "}, ValueError, "log_dir ' '"),
    ({"log_dir": "s3://bucket/run"}, ValueError, "is a URL"),
    ({"file_prefix": "a/b"}, ValueError, "file_prefix 'a/b'"),
    ({"file_suffix": None}, TypeError, "file_suffix must be a str, got None"),
    ({"num_process": "a"}, TypeError, "num_process must be an int, got 'a'"),
    ({"num_process": -1}, ValueError, "num_process must be at least 0"),
    ({"max_file_size": 0}, ValueError, "max_file_size must be at least 1"),
    ({"max_file_size": True}, TypeError, "max_file_size must be an int, got True"),
    ({"max_file_size": 1.5}, TypeError, "max_file_size must be an int, got 1.5"),
    ({"raise_exception": "no"}, TypeError, "raise_exception must be True or False, got 'no'"),
    ({"export_options": []}, TypeError, "export_options must be a dict or None"),
    ({"export_options": {"tensor_format": "hdf5"}}, ValueError, "export_options must be {'tensor_format': 'npy'} or None"),
    ({"export_options": {"format": "npy"}}, ValueError, "export_options must be"),
    ({"formats": ()}, ValueError, "formats must be a tuple of different names"),
    ({"formats": "tensorboard"}, ValueError, "formats must be a tuple"),
    ({"formats": None}, ValueError, "formats must be a tuple"),
    ({"formats": 3}, ValueError, "formats must be a tuple"),
    ({"formats": ["mindspore", ["tensorboard"]]}, ValueError, "formats must be one of"),
    ({"formats": ("hdf5",)}, ValueError, "formats must be one of 'mindspore', 'tensorboard', got 'hdf5'"),
    ({"flush_secs": 0}, ValueError, "flush_secs must be above 0"),
    ({"flush_secs": float("nan")}, ValueError, "flush_secs must be above 0 and finite, got nan"),
    ({"flush_secs": "1"}, TypeError, "flush_secs must be a number of seconds, got '1'"),
    ({"on_full": "wait"}, ValueError, "on_full must be one of 'block', 'drop', got 'wait'"),
    ({"resume": 1.0}, TypeError, "resume must be an int, got 1.0"),
    ({"rank": -1}, ValueError, "rank must be at least 0"),
]


@pytest.mark.parametrize(("arguments", "error", "message"), WRONG, ids=lambda value: str(value)[:40])
def test_refused_at_construction(tmp_path, arguments, error, message):
    with pytest.raises(error) as caught:
        SummaryRecord(**{"log_dir": tmp_path / "run", **arguments})
    assert message in str(caught.value)
    assert not (tmp_path / "run").exists()


def test_a_directory_below_a_file_is_refused_with_its_path(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        SummaryRecord(tmp_path / "file" / "run")


def test_nothing_is_created_but_the_directory(tmp_path, no_leftovers):
    SummaryRecord(tmp_path / "a" / "b").close()
    assert os.listdir(tmp_path / "a" / "b") == []


def test_integers_of_numpy_are_integers(tmp_path):
    given = {name: np.int64(value) for name, value in {"num_process": 0, "max_file_size": 10_000, "resume": 3, "rank": 2}.items()}
    with SummaryRecord(tmp_path, **given) as record:
        record.add_value("scalar", "loss", 1.0)
        record.record(np.int64(3))
    assert record.log_dir == str(tmp_path / "rank_2")
    assert Run(record.log_dir).scalars("loss").step.tolist() == [3]
