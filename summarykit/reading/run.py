"""One run: everything that its directory holds, read back."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from summarykit.formats.tensorboard import hparams
from summarykit.local import path_text, refuse_url
from summarykit.reading import tables
from summarykit.reading.damage import Damage
from summarykit.reading.files import Files, summary_files
from summarykit.reading.follow import follow
from summarykit.reading.lineage import RunLineage, lineage_of
from summarykit.reading.media import Embeddings, Sounds
from summarykit.reading.reader import Reader
from summarykit.reading.report import FileReport
from summarykit.reading.series import Histograms, Scalars, Series, Tensors
from summarykit.reading.surface import LossSurface
from summarykit.reading.view import View
from summarykit.shapes import Graph, LossLandscape, Plugin, Point, Shape

_SERIES: dict[str, type[Series]] = {
    "scalar": Scalars, "histogram": Histograms, "tensor": Tensors, "audio": Sounds, "embedding": Embeddings,
}  # fmt: skip
_S = TypeVar("_S", bound=Series)


class Run(tables.Tabular):
    """What was recorded into one directory, by whatever library: MindSpore's and TensorBoard's files, ours and others'.

    Files are read at the first question, every checksum verified; ``refresh`` reads what came since. By default this is the *resolved*
    view: what a restarted run recorded anew replaces what it had recorded before, points are sorted by step. The *raw* view has all points
    of all files, in their order. In both a point that was written in two formats comes once.

    Attributes:
        path: the directory (or one summary file).
        raw: which view this is.
    """

    def __init__(self, path: str | os.PathLike[str], *, raw: bool = False) -> None:
        """Open a run; nothing is read yet.

        Raises:
            FileNotFoundError: there is no such directory.
            RemotePathError: it is a URL.
        """
        self.path = Path(path_text("path", path))
        if not self.path.exists():
            refuse_url("path", path)
            raise FileNotFoundError(f"path {os.fspath(path)!r}: no such directory; give the one that a record or collector wrote into")
        self.raw = raw

    def __repr__(self) -> str:
        return f"<Run {str(self.path)!r}>"

    def refresh(self) -> Run:
        """Read what was written since the last look; gives the run itself."""
        self._files.poll()
        self.__dict__.pop("_view", None)
        return self

    def tags(self) -> dict[str, list[str]]:
        """The sorted tags of each kind: ``{"scalar": ["accuracy", "loss"], "histogram": [...], ...}``."""
        found: dict[str, list[str]] = {}
        for kind, tag in self._view.keys:
            found.setdefault(kind, []).append(tag)
        return found

    def points(self, kind: str, tag: str) -> Series:
        """The points of one kind and tag, whatever the kind.

        Raises:
            KeyError: there is no such tag; the message names those that are alike.
        """
        return self._series(_SERIES.get(kind, Series), kind, tag)

    def scalars(self, tag: str) -> Scalars:
        """Scalars of a tag: arrays ``step``, ``wall_time`` and ``value``.

        Raises:
            KeyError: there is no such tag.
        """
        return self._series(Scalars, "scalar", tag)

    def histograms(self, tag: str) -> Histograms:
        """Histograms of a tag.

        Raises:
            KeyError: there is no such tag.
        """
        return self._series(Histograms, "histogram", tag)

    def images(self, tag: str) -> Series:
        """Images of a tag; where others put several in one value, they come as a tensor of encoded files.

        Raises:
            KeyError: there is no such tag.
        """
        return self._series(Series, "image", tag)

    def tensors(self, tag: str) -> Tensors:
        """Tensors of a tag.

        Raises:
            KeyError: there is no such tag.
        """
        return self._series(Tensors, "tensor", tag)

    def sounds(self, tag: str) -> Sounds:
        """Sounds of a tag; ``at(step)`` gives samples and rate.

        Raises:
            KeyError: there is no such tag.
        """
        return self._series(Sounds, "audio", tag)

    def embeddings(self, tag: str) -> Embeddings:
        """Embeddings of a tag; ``at(step)`` gives vectors and metadata.

        Raises:
            KeyError: there is no such tag.
        """
        return self._series(Embeddings, "embedding", tag)

    def metadata(self, tag: str) -> bytes:
        """What TensorBoard's plugin of a tag says of it, in its own form; empty where there is none."""
        return self._files.plugins.get(tag, ("", b""))[1]

    def hparams(self) -> dict[str, bool | float | str]:
        """The settings of the run, as last recorded: name -> value; empty where there are none."""
        tag = f"{hparams.TAG}/session_start_info"
        if tag not in self.tags().get("hparams", []):
            return {}
        value = self.points("hparams", tag)[-1].value
        return hparams.settings(value.metadata) if isinstance(value, Plugin) else {}

    def graph(self) -> list[Graph]:
        """Every recorded graph, by age."""
        return [shape for shape in self._shapes("graph") if isinstance(shape, Graph)]

    def graphs(self) -> dict[str, Graph]:
        """The newest graph of each tag: the run's own first, then those that were recorded beside it, by age."""
        newest = {tag: series[-1] for tag in self.tags().get("graph", []) if (series := self.points("graph", tag))}
        found = {tag: (point.wall_time, point.value) for tag, point in newest.items() if isinstance(point.value, Graph)}
        return {tag: graph for tag, (_, graph) in sorted(found.items(), key=lambda each: (each[1][1].beside, each[1][0]))}

    def lineage(self) -> RunLineage:
        """What the run came from and what came of it: status, hyper-parameters, metrics, data, code.

        Read anew at each call. Of several trainings that were recorded into this directory, one after the other, it is that of the last.
        """
        return lineage_of(summary_files(self.path), self.hparams)

    @property
    def status(self) -> str | None:
        """``"RUNNING"``, ``"FINISHED"``, ``"FAILED"``, ``"INTERRUPTED"``, ``"DEAD"``; None where nobody told. See `RunLineage`."""
        return self.lineage().status

    def landscapes(self) -> list[LossSurface]:
        """Every recorded loss landscape, by age; those with a ``path`` are of the training, those without of its result."""
        return [LossSurface.of(shape) for shape in self._shapes("landscape") if isinstance(shape, LossLandscape)]

    @property
    def damage(self) -> list[Damage]:
        """What is lost: damaged places of files, but for those whose records a twin in the other format has."""
        return self._view.losses()

    @property
    def files(self) -> list[FileReport]:
        """Each file, with all its damage, and whether its end is torn."""
        sources = self._files.sources
        return [FileReport(each.path, each.format, each.records, each.size, each.damage, each.truncated) for each in sources]

    def table(self) -> tables.Table:
        """All points in columns: kind, tag, step, wall_time, value (float64; NaN for what is no scalar)."""
        view = self._view
        return tables.long_form((key, view.track(key)) for key in view.keys)

    def follow(self, *, existing: bool = True, interval: float = 0.1, stop: Callable[[], bool] | None = None) -> Iterator[Point]:
        """Every point as it comes, of files that are being written, and of new ones; each comes once, in the order of its file.

        Nothing is given out before its record is whole and its checksums are right. This view is always raw.

        Args:
            existing: begin with what is there already.
            interval: seconds between two looks.
            stop: asked before each look; after it said True there is one more, then the end. Without it this goes on for ever.

        Raises:
            ValueError: ``interval`` is negative.
        """
        if not interval >= 0:
            raise ValueError(f"interval must be at least 0 seconds, got {interval!r}")
        return follow(Files(self.path), existing=existing, interval=interval, stop=stop)

    def _series(self, series: type[_S], kind: str, tag: str) -> _S:
        return series(kind, tag, self._view.track((kind, tag)), Reader(self._files))

    def _shapes(self, kind: str) -> list[Shape]:
        """All of one kind, by age."""
        points = [point for tag in self.tags().get(kind, []) for point in self._series(Series, kind, tag)]
        return [point.value for point in sorted(points, key=lambda point: point.wall_time)]

    @cached_property
    def _files(self) -> Files:
        files = Files(self.path)
        files.poll()
        return files

    @cached_property
    def _view(self) -> View:
        return View(self._files.sources, raw=self.raw)
