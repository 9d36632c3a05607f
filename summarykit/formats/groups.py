"""The values of one event: a group's parts, each with its own tag, or the one value that there is."""

from __future__ import annotations

from summarykit.formats import wire
from summarykit.shapes import Group, Point, Shape


def values(point: Point) -> list[tuple[str, Shape]]:
    """Tag and shape of each."""
    group = point.value
    if not isinstance(group, Group):
        return [(point.tag, group)]
    name = wire.text(group.tag_field, point.tag) if group.tag_field else b""
    return [((group.tag or point.tag) + ending, part.__replace__(metadata=part.metadata + name)) for ending, part in group.parts]
