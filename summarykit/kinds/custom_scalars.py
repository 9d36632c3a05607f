"""Custom scalars: which curves TensorBoard draws in one chart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from summarykit.errors import RefusedValueError
from summarykit.formats import wire
from summarykit.kinds.kind import no_options
from summarykit.shapes import Group, Plugin, strings

TAG = "custom_scalars__config__"
"""Its tag is fixed; a later layout of a run takes the place of the earlier one."""


class CustomScalarsKind:
    """A layout: ``{category: {chart: ["Multiline", [tag, ...]]}}``, or ``["Margin", [value, lower bound, upper bound]]``.

    The tags of a ``Multiline`` are regular expressions (of Python), matched at the beginning of a tag.
    """

    name = "custom_scalars"
    light = True

    def snapshot(self, value: Any, **options: Any) -> Plugin:
        """Check and encode it.

        Raises:
            RefusedValueError: not such a layout; the message names the chart.
        """
        no_options(self.name, options)
        categories = b"".join(wire.data(2, _category(title, charts)) for title, charts in _items("a layout", value))
        return Plugin(self.name, strings(categories).reshape(()))

    def reduce(self, snapshot: Plugin) -> Group:
        """Give it its tag."""
        return Group((("", snapshot),), tag=TAG)


def _category(title: str, charts: Any) -> bytes:
    contents = (_chart(name, content) for name, content in _items(f"category {title!r}", charts))
    return wire.any_text(1, title) + b"".join(wire.data(2, content) for content in contents)


def _chart(title: str, content: Any) -> bytes:
    """TensorBoard's ``Chart`` (``tensorboard/plugins/custom_scalar/layout.proto``)."""
    try:
        form, tags = content
        tags = [str(tag) for tag in ([tags] if isinstance(tags, str) else tags)]
    except (TypeError, ValueError):
        raise RefusedValueError(f"custom_scalars: chart {title!r} must be ['Multiline' or 'Margin', [tags]], got {content!r}") from None
    if form == "Margin" and len(tags) == 3:
        series = b"".join(wire.any_text(field, tag) for field, tag in enumerate(tags, 1))
        return wire.any_text(1, title) + wire.data(3, wire.data(1, series))
    if form == "Margin":
        raise RefusedValueError(f"custom_scalars: chart {title!r} of form 'Margin' takes 3 tags (value, lower, upper), got {len(tags)}")
    if form != "Multiline":
        raise RefusedValueError(f"custom_scalars: chart {title!r} must be of form 'Multiline' or 'Margin', got {form!r}")
    return wire.any_text(1, title) + wire.data(2, b"".join(wire.any_text(1, tag) for tag in tags))


def _items(what: str, value: Any) -> list[tuple[str, Any]]:
    if not isinstance(value, Mapping):
        raise RefusedValueError(f"custom_scalars: {what} must be a dict, got {value!r}")
    return [(str(name), content) for name, content in value.items()]


CUSTOM_SCALARS = CustomScalarsKind()
