"""MetricWriter: dictionaries a step, in the shape of clu's class of that name, over a SummaryWriter."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any

import numpy as np

from summarykit.errors import RefusedValueError
from summarykit.kinds.arrays import typed
from summarykit.summary.writer import SummaryWriter


class MetricWriter:
    """Writes mappings of names to values, all of one step, which comes first.

    Example:
        >>> with MetricWriter("runs/first") as writer:
        ...     writer.write_scalars(1, {"loss": 0.5, "accuracy": 0.9})
    """

    def __init__(self, log_dir: str | os.PathLike[str] | SummaryWriter | None = None, **options: Any) -> None:
        """Write through a SummaryWriter.

        Args:
            log_dir: the directory, or a writer that is there already.
            **options: of a new `SummaryWriter`.

        Raises:
            TypeError: options for a writer that is there already, or one that it does not have.
            ValueError: as `SummaryWriter` has it.
            OSError: as `SummaryWriter` has it.
        """
        if isinstance(log_dir, SummaryWriter) and options:
            raise TypeError(f"options {', '.join(options)} come too late: the writer is there already")
        self.writer = log_dir if isinstance(log_dir, SummaryWriter) else SummaryWriter(log_dir, **options)

    def write_scalars(self, step: int, scalars: Mapping[str, Any]) -> None:
        """Write numbers.

        Args:
            step: optimizer updates completed.
            scalars: name -> number, or array or tensor of one element; of nested mappings the names are joined by ``/``.
        """
        self.writer.add_scalars_dict(scalars, step)

    def write_images(self, step: int, images: Mapping[str, Any]) -> None:
        """Write pictures.

        Args:
            step: optimizer updates completed.
            images: name -> array, shape ``[n, height, width, channels]`` (a grid is made of it) or ``[height, width, channels]``.
        """
        for name, image in self._items("write_images", images):
            self.writer.add_images(name, image, step, dataformats="NHWC" if _axes(image) == 4 else "HWC")

    def write_videos(self, step: int, videos: Mapping[str, Any]) -> None:
        """Write videos.

        Args:
            step: optimizer updates completed.
            videos: name -> array, shape ``[n, frames, height, width, channels]`` or ``[frames, height, width, channels]``.
        """
        for name, video in self._items("write_videos", videos):
            self.writer.add_video(name, video, step, dataformats="NTHWC" if _axes(video) == 5 else "THWC")

    def write_audios(self, step: int, audios: Mapping[str, Any], *, sample_rate: int = 44100) -> None:
        """Write sounds.

        Args:
            step: optimizer updates completed.
            audios: name -> array, shape ``[n, samples, channels]`` (of several sounds each gets its number: ``name/0``), or one sound.
            sample_rate: samples a second.
        """
        for name, audio in self._items("write_audios", audios):
            sounds = list(audio) if _axes(audio) == 3 else [audio]
            for number, sound in enumerate(sounds):
                self.writer.add_audio(name if len(sounds) == 1 else f"{name}/{number}", sound, step, sample_rate)

    def write_texts(self, step: int, texts: Mapping[str, Any]) -> None:
        """Write text, which TensorBoard shows as Markdown.

        Args:
            step: optimizer updates completed.
            texts: name -> text.
        """
        for name, text in self._items("write_texts", texts):
            self.writer.add_text(name, text, step)

    def write_histograms(self, step: int, arrays: Mapping[str, Any], num_buckets: Mapping[str, int] | None = None) -> None:
        """Write how values are spread.

        Args:
            step: optimizer updates completed.
            arrays: name -> array of any shape.
            num_buckets: name -> number of buckets, where it is to be another than the usual one.
        """
        for name, array in self._items("write_histograms", arrays):
            self.writer.add_histogram(name, array, step, bins=(num_buckets or {}).get(name, "tensorflow"))

    def write_pointcloud(
        self,
        step: int,
        point_clouds: Mapping[str, Any],
        *,
        point_colors: Mapping[str, Any] | None = None,
        configs: Mapping[str, Any] | None = None,
    ) -> None:
        """Write clouds of points.

        Args:
            step: optimizer updates completed.
            point_clouds: name -> coordinates, shape ``[n, points, 3]`` or ``[points, 3]``.
            point_colors: name -> colours of the points, the same shape.
            configs: classes and arguments of three.js for all scenes.
        """
        for name, points in self._items("write_pointcloud", point_clouds):
            self.writer.add_mesh(name, points, (point_colors or {}).get(name), config_dict=configs, global_step=step)

    def write_hparams(self, hparams: Mapping[str, Any]) -> None:
        """Write the settings of the run.

        Args:
            hparams: settings of any type; of nested ones the names are joined by ``/``.
        """
        self.writer.add_hparams(hparams, {})

    def write_summaries(self, step: int, values: Mapping[str, Any], metadata: Mapping[str, Any] | None = None) -> None:
        """Write arrays, or the values of any plugin of TensorBoard.

        Args:
            step: optimizer updates completed.
            values: name -> array.
            metadata: name -> ``SummaryMetadata`` (TensorBoard's message) that says which plugin shows it; without it a tensor is written.
        """
        for name, value in self._items("write_summaries", values):
            told = (metadata or {}).get(name)
            if told is None:
                self.writer.add_tensor(name, value, step)
            else:
                self.writer.add_plugin(name, value, told, step)

    def flush(self) -> None:
        """Wait until everything written is in the file."""
        self.writer.flush()

    def close(self) -> None:
        """Flush and close the files."""
        self.writer.close()

    def _items(self, call: str, values: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
        return () if self.writer._refuses(call, "", values) else values.items()

    def __enter__(self) -> MetricWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.writer.__exit__(kind, error, trace)


def _axes(value: Any) -> int:
    """Number of axes; 0 of what is no array, which its kind refuses."""
    try:
        return len(value.shape) if hasattr(value, "shape") else np.ndim(typed(value).data)
    except RefusedValueError:
        return 0
