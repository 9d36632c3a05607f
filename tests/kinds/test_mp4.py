"""MP4: what a player sees is what was recorded, as far as the lossy format goes; without the extra an error names it."""

from __future__ import annotations

import io
import sys

import numpy as np
import pytest

from summarykit.errors import RefusedValueError
from summarykit.kinds.video import VIDEO
from summarykit.reading import Run
from summarykit.summary import SummaryRecord, SummaryWriter


def smooth(frames, height, width, channels):
    """Moving gradients: the kind of picture that a lossy codec keeps."""
    time, row, column, channel = np.meshgrid(*map(np.arange, (frames, height, width, channels)), indexing="ij")
    return (40 + 8 * time + row + column + 20 * channel).astype(np.uint8)


def played(data):
    av = pytest.importorskip("av")
    with av.open(io.BytesIO(data)) as container:
        stream = container.streams.video[0]
        return np.stack([frame.to_ndarray(format="rgb24") for frame in container.decode(stream)]), float(stream.average_rate)


@pytest.mark.parametrize("shape", [(6, 32, 48, 3), (6, 32, 48, 1), (6, 32, 48, 4), (5, 31, 47, 3), (1, 2, 2, 3)])
def test_a_player_sees_the_frames(shape):
    pytest.importorskip("av")
    frames = smooth(*shape)
    shape = VIDEO.reduce(VIDEO.snapshot(frames, dataformat="THWC", fps=10, encoding="mp4"))
    seen, fps = played(shape.data[0])
    assert fps == 10
    _, height, width, channels = frames.shape
    assert seen.shape == (len(frames), height + height % 2, width + width % 2, 3)
    expected = np.repeat(frames, 3, axis=-1) if channels == 1 else frames[..., :3]
    assert np.abs(seen[:, :height, :width].astype(int) - expected).mean() < 6


def test_it_goes_through_the_file_and_comes_back(tmp_path):
    pytest.importorskip("av")
    with SummaryWriter(tmp_path) as writer:
        writer.add_video("clip", smooth(4, 16, 16, 3)[None], 3, fps=5, dataformats="NTHWC", encoding="mp4")
    (point,) = Run(tmp_path).points("video", "clip")
    seen, fps = played(point.value.data.reshape(-1)[0])
    assert (point.step, len(seen), fps) == (3, 4, 5)


def test_an_unknown_encoding_is_refused():
    with pytest.raises(RefusedValueError, match="encoding='avi' is not known; allowed: apng, mp4"):
        VIDEO.snapshot(smooth(2, 4, 4, 3), encoding="avi")


def test_without_the_extra_the_error_names_it(tmp_path, monkeypatch, caplog):
    monkeypatch.setitem(sys.modules, "av", None)
    with SummaryRecord(tmp_path) as record:
        record.add_value("video", "clip", smooth(2, 4, 4, 3), encoding="mp4")
        assert record.record(1) is False
    assert any("pip install 'summarykit[video]'" in line for line in caplog.messages)
