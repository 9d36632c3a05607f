"""SummaryWriter's methods for scalars and for the charts that show them."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from time import time
from typing import Any, NamedTuple

import numpy as np

from summarykit.errors import RefusedValueError
from summarykit.kinds.flatten import flatten
from summarykit.kinds.scalar import number
from summarykit.shapes import SCALAR_CLASS, Plugin
from summarykit.summary.direct import DirectRecorder
from summarykit.writing import flat


class Curves(NamedTuple):
    """Keys of the last call for a chart, and their tags."""

    keys: list[str]
    tags: list[str]


Layout = Mapping[str, Mapping[str, Sequence[Any]]]


class ScalarCalls(DirectRecorder):
    """Scalars, one by one or many of a step."""

    _charts: dict[str, dict[str, Sequence[Any]]]
    _curves: dict[str, Curves]

    def add_scalar(
        self,
        tag: str,
        scalar_value: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        new_style: bool | str = False,
        double_precision: bool | str = False,
        display_name: str = "",
        summary_description: str = "",
    ) -> None:
        """Record a number.

        Args:
            tag: its name.
            scalar_value: a number of Python or NumPy, or an array or tensor of one element.
            global_step: optimizer updates completed; None: 0.
            walltime: seconds since the epoch; None: now.
            new_style: write it in the form of TensorFlow 2; TensorBoard shows both alike.
            double_precision: the same. Our reader has every number at double precision; TensorBoard's server shows float32 only.
            display_name: title of the chart in place of the tag; the first one of a tag counts.
            summary_description: Markdown beside the title.
        """
        if (
            scalar_value.__class__ is float
            and global_step.__class__ is int
            and tag in self._known
            and walltime is None
            and not (new_style or double_precision or display_name or summary_description)
        ):
            buffer = self._writer.buffer
            waiting = buffer.flat
            if len(waiting) <= buffer.mark:
                waiting.extend((tag, scalar_value, global_step, time()))
                return
        if isinstance(new_style, str):    # tensorboardX has the two texts in these places
            display_name, summary_description = new_style, double_precision if isinstance(double_precision, str) else ""
        if new_style or double_precision or display_name or summary_description:
            self._add_titled(tag, scalar_value, global_step, walltime, display_name, summary_description)
        else:
            self._record("scalar", tag, scalar_value, global_step, walltime)

    def add_scalars(
        self, main_tag: str, tag_scalar_dict: Mapping[str, Any], global_step: int | None = None, walltime: float | None = None
    ) -> None:
        """Record numbers that belong into one chart: each under ``<main_tag>/<key>``.

        TensorBoard's page CUSTOM SCALARS draws them in one chart. (Other libraries open a file, a thread and a run for each key;
        ``add_scalars_as="runs"`` of the constructor makes the runs, without the threads.)

        Args:
            main_tag: title of the chart.
            tag_scalar_dict: key -> number.
            global_step: optimizer updates completed; None: 0.
            walltime: seconds since the epoch; None: now.
        """
        if tag_scalar_dict.__class__ is not dict and self._refuses("add_scalars", main_tag, tag_scalar_dict):
            return
        curves, values = self._curves.get(main_tag), tag_scalar_dict.values()
        if curves is None or curves.keys != [*tag_scalar_dict]:
            curves = self._new_curves(main_tag, [*tag_scalar_dict])
        if walltime is not None or not self._extend(curves.tags, values, global_step):
            self._record_numbers(curves.tags, values, global_step, walltime)

    def add_scalars_dict(self, scalars: Mapping[str, Any], step: int | None = None, walltime: float | None = None) -> None:
        """Record what a step gave, under the names that it has there.

        Args:
            scalars: tag -> number; of nested dictionaries the keys are joined by ``/``. Text is recorded as text.
            step: optimizer updates completed; None: 0.
            walltime: seconds since the epoch; None: now.
        """
        if scalars.__class__ is not dict and self._refuses("add_scalars_dict", "", scalars):
            return
        if walltime is None and self._extend(scalars, scalars.values(), step):
            return
        if {*map(type, scalars.values())} != {float}:
            leaves = flatten(scalars) if scalars else {}
            for tag in [tag for tag, value in leaves.items() if isinstance(value, str)]:
                self._record("text", tag, leaves.pop(tag), step, walltime)
            scalars = leaves
        self._record_numbers(scalars.keys(), scalars.values(), step, walltime)

    def add_custom_scalars(self, layout: Layout) -> None:
        """Say which curves are drawn in one chart of the page CUSTOM SCALARS. Several calls add up.

        Args:
            layout: ``{category: {chart: ["Multiline", [tag, ...]]}}``, or ``["Margin", [value, lower bound, upper bound]]``. The tags of
                a ``Multiline`` are regular expressions, matched at the beginning of a tag.
        """
        if self._freeze("custom_scalars", "layout", layout, {}) is not None:
            for category, charts in layout.items():
                self._charts.setdefault(str(category), {}).update(charts)
            self._record("custom_scalars", "layout", self._charts, 0, None)

    def add_custom_scalars_multilinechart(self, tags: Sequence[str], category: str = "default", title: str = "untitled") -> None:
        """Draw several curves in one chart.

        Args:
            tags: of scalars.
            category: group of charts.
            title: of the chart.
        """
        self.add_custom_scalars({category: {title: ["Multiline", tags]}})

    def add_custom_scalars_marginchart(self, tags: Sequence[str], category: str = "default", title: str = "untitled") -> None:
        """Draw a curve with a band around it.

        Args:
            tags: of three scalars: the value, its lower and its upper bound.
            category: group of charts.
            title: of the chart.
        """
        self.add_custom_scalars({category: {title: ["Margin", tags]}})

    def _extend(self, tags: Collection[str], values: Collection[Any], step: Any) -> bool:
        """The short way for many scalars of known tags; False where something must be looked at first."""
        try:
            known = step.__class__ is int and self._known.issuperset(tags)
            plain = known and next(iter(values), None).__class__ is float and sum(values).__class__ is float
        except Exception:  # noqa: BLE001 - values may be anything: what cannot be added is looked at one by one
            return False
        buffer = self._writer.buffer
        if not plain or len(buffer.flat) > buffer.mark:
            return False
        buffer.flat.extend(flat.flatten(tags, values, step, time()))    # Python's integers among them become float64 with the rest
        return True

    def _new_curves(self, main_tag: str, keys: list[str]) -> Curves:
        """Curves that are not those of the last call: where some are new, their chart is told anew."""
        tags = [f"{main_tag}/{key}" for key in keys]
        category, title = str(main_tag).rpartition("/")[0] or "default", str(main_tag)
        there = self._charts.get(category, {}).get(title, ["Multiline", []])[1]
        added = [pattern for pattern in (f"{re.escape(tag)}$" for tag in tags) if pattern not in there]
        if added:
            self.add_custom_scalars({category: {title: ["Multiline", [*there, *added]]}})
        self._curves[main_tag] = Curves(keys, tags)
        return self._curves[main_tag]

    def _add_titled(self, tag: str, value: Any, step: Any, wall_time: Any, display_name: str, description: str) -> None:
        try:
            data = np.array(number(value), np.float64)
        except RefusedValueError as error:
            self._refuse("scalar", tag, error)
            return
        shape = Plugin("scalars", data, data_class=SCALAR_CLASS, display_name=display_name, description=description)
        self._record_shape("scalar", tag, shape, step, wall_time)
