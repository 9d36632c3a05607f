"""Sounds and embeddings come back as the numbers that were recorded."""

from __future__ import annotations

import numpy as np
import pytest

from summarykit import Run, SummaryRecord
from summarykit.formats import FORMATS
from summarykit.reading.media import decode_wav
from summarykit.shapes import Plugin, Point, strings

RNG = np.random.default_rng(3)


@pytest.mark.parametrize("formats", [("mindspore", "tensorboard"), ("mindspore",), ("tensorboard",)])
def test_what_was_recorded_comes_back(tmp_path, formats):
    sounds = {step: RNG.integers(-(2**15), 2**15, (50, 2), np.int16) for step in (1, 2)}
    vectors = RNG.normal(size=(6, 3)).astype(np.float32)
    with SummaryRecord(tmp_path, formats=formats) as record:
        for step, sound in sounds.items():
            record.add_value("audio", "sound", sound, sample_rate=8000)
            record.add_value("embedding", "plain", vectors * step)
            record.add_value("embedding", "words", vectors, metadata=list("abcdef"))
            record.add_value("embedding", "table", vectors, metadata=[[n, "x"] for n in range(6)], metadata_header=["n", "x"])
            assert record.record(step)
    run = Run(tmp_path)
    for step, sound in sounds.items():
        found = run.sounds("sound").at(step)
        assert (found.samples.dtype, found.sample_rate) == (np.int16, 8000)
        np.testing.assert_array_equal(found.samples, sound)
        plain = run.embeddings("plain").at(step)
        np.testing.assert_array_equal(plain.values, vectors * np.float32(step))
        assert (plain.metadata, plain.columns) == ([], [])
        assert run.embeddings("words").at(step).metadata == [[letter] for letter in "abcdef"]
        table = run.embeddings("table").at(step)
        assert (table.columns, table.metadata[5]) == (["n", "x"], ["5", "x"])
    with pytest.raises(KeyError):
        run.sounds("sound").at(3)


def test_a_folder_elsewhere_is_not_read(tmp_path):
    with SummaryRecord(tmp_path / "run", formats=("tensorboard",)) as record:
        record.add_value("embedding", "e", np.eye(3))
        record.record(1)
    (file,) = (tmp_path / "run").glob("*tfevents*")
    point = Point("embedding", "e", 2, 1.0, Plugin("projector", strings(b"../elsewhere")))
    append(file, FORMATS.get("tensorboard")().payload(point))
    with pytest.raises(ValueError, match="outside"):
        Run(tmp_path / "run").embeddings("e").at(2)


def append(file, payload):
    from summarykit.formats import framing

    with open(file, "ab") as stream:
        stream.writelines(framing.framed(payload))


def test_a_sound_cut_short_gives_its_whole_samples(tmp_path):
    with SummaryRecord(tmp_path) as record:
        record.add_value("audio", "s", np.arange(8, dtype=np.int16).reshape(4, 2))
        record.record(1)
    content = Run(tmp_path).points("audio", "s")[0].value.data[0]
    assert decode_wav(content[:-3]).samples.tolist() == [[0, 1], [2, 3], [4, 5]]


@pytest.mark.parametrize("content", [b"", b"RIFF", b"no sound at all, but long enough to be one"])
def test_what_is_no_sound_is_said(content):
    with pytest.raises(ValueError, match="WAV"):
        decode_wav(content)
