"""One landscape: lays its plane, surveys it, gives the surface; what an interrupted attempt left behind is used."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from summarykit.landscape import atomic, directions, grid
from summarykit.landscape.cells import Cells
from summarykit.landscape.directions import Laid
from summarykit.landscape.evaluating import Maker, Task
from summarykit.landscape.grid import Grid
from summarykit.landscape.models import Evaluation
from summarykit.landscape.recipe import Recipe
from summarykit.landscape.surveying import Report, survey
from summarykit.landscape.trajectory import Trajectory
from summarykit.reading.surface import LossSurface
from summarykit.shapes import Floats, LossPath

Bounds = Sequence[float] | None


@dataclass(frozen=True)
class Work:
    """What a landscape is to be, and where its unfinished state is kept.

    Attributes:
        steps: the steps (or epochs) of the checkpoints.
        files: the checkpoints.
        recipe: how directions are made.
        evaluation: how a loss is measured.
        size: points along each axis.
        scratch: a directory for the plane and for what is known so far.
        told: ``unit`` and ``step_per_epoch`` of the surface.
        bounds: of x and of y; None: as the kind of landscape has it.
    """

    steps: tuple[int, ...]
    files: tuple[Path, ...]
    recipe: Recipe
    evaluation: Evaluation
    size: int
    scratch: Path
    told: dict[str, Any] = field(default_factory=dict)
    bounds: tuple[Bounds, Bounds] = (None, None)

    decomposition = "PCA"

    def surface(self, maker: Maker, executor: Executor, report: Report | None = None) -> LossSurface:
        """Compute it.

        Args:
            maker: makes the model.
            executor: where its points are measured.
            report: told how far it is.

        Raises:
            OSError: a checkpoint cannot be read, or the scratch not written.
            Exception: whatever the user's function raised.
        """
        self.scratch.mkdir(parents=True, exist_ok=True)
        laid = self._laid()
        points = self.points(laid)
        cells = Cells(self.scratch / "cells", len(points.points), points.blocks)
        try:
            survey(points, cells, executor, Task(maker, str(self.scratch / "plane"), self.evaluation), report)
        finally:
            cells.close()
        self._note(laid, done=True)
        (self.scratch / "plane").unlink(missing_ok=True)    # large, and done with; what is known is kept until everything is
        return self.finished(laid, points, cells)

    def lay(self, file: Path) -> Laid:
        """Make the plane."""
        return directions.along_path(self.trajectory(), self.recipe, file)

    def points(self, laid: Laid) -> Grid:
        """Where to look: at the path, and around it with MindSpore's margin."""
        return Grid(*self.axes(*grid.around(laid.path, self.size)), laid.path)

    def finished(self, laid: Laid, points: Grid, cells: Cells) -> LossSurface:
        """Put the surface together."""
        loss = cells.values[: len(laid.path), 0]
        path = LossPath(np.array(self.steps, np.int64), laid.path[:, 0], laid.path[:, 1], loss)
        return self.put_together(points, cells, path=path, convergence=(0.0, 0.0, float(loss[-1])), explained_variance=laid.shares)

    def put_together(self, points: Grid, cells: Cells, **more: Any) -> LossSurface:
        """The grid, its metrics, and how they were made."""
        grids = {name: points.laid(values) for name, values in zip(cells.names, cells.values.T, strict=True)}
        notes = {"steps": [int(self.steps[-1])], "recipe": type(self.recipe).__name__, **asdict(self.recipe), **asdict(self.evaluation)}
        told = {"decomposition": self.decomposition, "notes": notes, **self.told, **more}
        return LossSurface(points.x, points.y, grids.pop("Loss"), metrics=grids, **told)

    def trajectory(self) -> Trajectory:
        """The checkpoints, opened."""
        return Trajectory(self.steps, self.files)

    def axes(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """These axes, or those that were asked for."""
        across, along = self.bounds
        return (
            x if across is None else grid.spaced("x_range", across, self.size),
            y if along is None else grid.spaced("y_range", along, self.size),
        )

    def _laid(self) -> Laid:
        """The plane of an earlier attempt with the same values, or a new one and nothing known."""
        plane, notes = self.scratch / "plane", self.scratch / "laid.json"
        known = json.loads(notes.read_text()) if notes.exists() else {}
        if known.get("key") == self._key() and (plane.exists() or known["done"]):
            return Laid(np.array(known["path"]).reshape(-1, 2), tuple(known["shares"]))
        shutil.rmtree(self.scratch)
        self.scratch.mkdir(parents=True)
        laid = self.lay(plane)
        self._note(laid, done=False)
        return laid

    def _note(self, laid: Laid, done: bool) -> None:
        known = {"key": self._key(), "path": laid.path.tolist(), "shares": laid.shares, "done": done}
        atomic.write(self.scratch / "laid.json", [json.dumps(known).encode()])

    def _key(self) -> str:
        """Changes with everything that the values depend on, but for the user's function."""
        files = [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in self.files]
        told = [type(self).__name__, self.steps, files, repr(self.recipe), repr(self.evaluation), self.size, self.bounds]
        return hashlib.sha256(json.dumps(told, default=str).encode()).hexdigest()


class Result(Work):
    """A landscape around one checkpoint, along random directions; x and y reach from -1 to 1."""

    decomposition = "Random"

    def lay(self, file: Path) -> Laid:
        """See `Work.lay`."""
        return directions.at_random(self.trajectory().last, self.recipe, file)

    def points(self, laid: Laid) -> Grid:
        """See `Work.points`; the centre comes first."""
        axis = np.linspace(-1, 1, self.size)
        return Grid(*self.axes(axis, axis), np.zeros((1, 2)))

    def finished(self, laid: Laid, points: Grid, cells: Cells) -> LossSurface:
        """See `Work.finished`."""
        return self.put_together(points, cells, convergence=(0.0, 0.0, float(cells.values[0, 0])))


class Interpolation(Work):
    """The losses on the line from one checkpoint (x = 0) to another (x = 1)."""

    decomposition = "Interpolation"

    def lay(self, file: Path) -> Laid:
        """See `Work.lay`."""
        first, last = self.files
        return directions.between(Trajectory(self.steps[::-1], (last, first)), self.recipe, file)

    def points(self, laid: Laid) -> Grid:
        """See `Work.points`."""
        x, _ = self.axes(np.linspace(0, 1, self.size), np.zeros(1))
        return Grid(x, np.zeros(1), np.zeros((0, 2)))

    def finished(self, laid: Laid, points: Grid, cells: Cells) -> LossSurface:
        """See `Work.finished`."""
        return self.put_together(points, cells)
