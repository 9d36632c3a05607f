"""A loss landscape with what one does with it: save, table, picture."""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from summarykit import lazy
from summarykit.shapes import Array, LossLandscape, LossPath

if TYPE_CHECKING:
    import pandas

_AXES = ("x", "y", "z")
_TOLD = ("convergence", "decomposition", "unit", "step_per_epoch", "explained_variance")


class LossSurface(LossLandscape):
    """The loss over a plane in the space of a model's parameters: what `SummaryLandscape` computes and `Run.landscapes` reads.

    Its attributes are those of `LossLandscape`.
    """

    @classmethod
    def of(cls, shape: LossLandscape) -> LossSurface:
        """The same landscape, with these methods."""
        return cls(**{each.name: getattr(shape, each.name) for each in dataclasses.fields(LossLandscape)})

    def __repr__(self) -> str:
        steps = "" if self.path is None else f", {self.unit}s {self.path.steps[0]} … {self.path.steps[-1]}"
        return f"<LossSurface {self.decomposition} {len(self.y)}×{len(self.x)}{steps}>"

    @property
    def name(self) -> str:
        """Its tag, as MindSpore has it, where there is a path: ``"landscape_[1, 4]"``."""
        steps = [] if self.path is None else [int(self.path.steps[0]), int(self.path.steps[-1])]
        return f"landscape_{steps}" if steps else f"landscape_{self.notes.get('steps', [])}"

    def save(self, file: str | os.PathLike[str]) -> Path:
        """Write it as an ``.npz`` file, every number exact.

        Raises:
            OSError: it cannot be written.
        """
        arrays: dict[str, Array] = {axis: getattr(self, axis) for axis in _AXES}
        if self.path is not None:
            arrays |= {f"path_{name}": getattr(self.path, name) for name in ("steps", *_AXES)}
        arrays |= {f"metric_{name}": grid for name, grid in self.metrics.items()}
        told = {name: getattr(self, name) for name in _TOLD} | {"notes": dict(self.notes)}
        with open(file, "wb") as stream:    # np.savez appends an ending to a name
            np.savez(stream, told=np.array(json.dumps(told)), **arrays)    # type: ignore[arg-type]  # mypy takes ** for allow_pickle
        return Path(file)

    @classmethod
    def load(cls, file: str | os.PathLike[str]) -> LossSurface:
        """Read what `save` wrote.

        Raises:
            OSError: it cannot be read.
            ValueError: it is something else.
        """
        from zipfile import BadZipFile

        try:
            return cls._loaded(file)
        except (ValueError, KeyError, TypeError, AttributeError, EOFError, BadZipFile) as error:    # whatever NumPy says of other files
            raise ValueError(f"{os.fspath(file)!r} holds no landscape that save() wrote") from error

    @classmethod
    def _loaded(cls, file: str | os.PathLike[str]) -> LossSurface:
        with np.load(file, allow_pickle=False) as found:
            told = json.loads(str(found["told"]))
            path = LossPath(*(found[f"path_{name}"] for name in ("steps", *_AXES))) if "path_x" in found else None
            metrics = {name.removeprefix("metric_"): found[name] for name in found.files if name.startswith("metric_")}
            axes = {axis: found[axis] for axis in _AXES}
        for name in ("convergence", "explained_variance"):
            told[name] = None if told[name] is None else tuple(told[name])
        return cls(**axes, path=path, metrics=metrics, **told)

    def to_pandas(self) -> pandas.DataFrame:
        """A ``pandas.DataFrame`` with a row per cell: x, y, loss, and a column for each other metric.

        Raises:
            MissingExtraError: pandas is not installed.
        """
        pandas = lazy.optional("pandas", extra="pandas", purpose="LossSurface.to_pandas()")
        y, x = np.meshgrid(self.y, self.x, indexing="ij")
        metrics = {name: grid.ravel() for name, grid in self.metrics.items()}
        return pandas.DataFrame({"x": x.ravel(), "y": y.ravel(), "loss": self.z.ravel(), **metrics})

    def plot(self, ax: Any = None, *, levels: int = 24) -> Any:
        """Draw it with matplotlib: contours with the path on them; of an interpolation the curve.

        What is not finite stays blank; what is far above the rest is drawn as the highest level.

        Args:
            ax: where; None makes a new figure.
            levels: number of colours.

        Returns:
            The axes.

        Raises:
            MissingExtraError: matplotlib is not installed.
        """
        from summarykit.reading import plotting

        return plotting.plot(self, ax, levels)
