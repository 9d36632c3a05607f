"""The timeline as a picture: some steps in the middle, a row a lane, at most one box a pixel."""

from __future__ import annotations

import html
from collections.abc import Iterator

import numpy as np

from summarykit.profiler.analysis.nesting import Nesting
from summarykit.profiler.analysis.parts import cut, on
from summarykit.profiler.analysis.profile import Profile
from summarykit.profiler.recording import Category, Spans, Table
from summarykit.shapes import Array, Ints

WIDTH, ROW, LEFT = 1060, 15, 190
_LANES, _LEVELS, _STEPS = 16, 5, 3
COLOURS = {
    Category.STEP: "#c9ced6",
    Category.PHASE: "#5b8ff9",
    Category.HOST_OP: "#61a36b",
    Category.RUNTIME: "#b4a34c",
    Category.KERNEL: "#d9822b",
    Category.MEMCPY: "#a45bb0",
    Category.MEMSET: "#c58bd0",
    Category.COMMUNICATION: "#d94b5e",
    Category.PYTHON: "#4c90b4",
    Category.DATA: "#2aa198",
    Category.GC: "#8c564b",
    Category.OVERHEAD: "#999999",
    Category.USER: "#9fb4d0",
    Category.OTHER: "#bbbbbb",
}

PHASES = {
    "data wait": "#2aa198",
    "transfer": "#a45bb0",
    "forward": "#61a36b",
    "backward": "#5b8ff9",
    "optimizer": "#d9822b",
    "communication": "#d94b5e",
    "logging": "#8c564b",
    "other": "#c9ced6",
}


def picture(profile: Profile) -> str:
    """An ``<svg>`` element; empty where there are no spans."""
    spans, (start, end) = profile.recording.spans, _window(profile)
    chosen = on(spans, start, end)
    chosen = chosen[~spans.of(Category.OVERHEAD)[chosen]]
    if not len(chosen) or end <= start:
        return ""
    rows = list(_rows(spans, chosen))
    boxes = [box for row, (_, level) in enumerate(rows) for box in _boxes(spans, level, start, end, row)]
    titles = [_title(label, row) for row, (label, _) in enumerate(rows) if label]
    height = ROW * len(rows) + 24
    scale = f"{(end - start) / 1e6:,.3f} ms"
    axis = f'<text x="{LEFT}" y="{height - 6}">0</text><text x="{WIDTH}" y="{height - 6}" text-anchor="end">{scale}</text>'
    return f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="timeline">{"".join(titles)}{"".join(boxes)}{axis}</svg>'


def _window(profile: Profile) -> tuple[int, int]:
    """Some steps, in the middle of the longest row of those of which something is known.

    Without steps it is everything, or of very many spans some in the middle.
    """
    known = np.flatnonzero(profile.split["other"] < profile.split["total"])
    together = max(np.split(known, np.flatnonzero(np.diff(known) > 1) + 1), key=len)
    steps = Table({name: column[together] if len(known) else column for name, column in profile.steps.items()})
    if not steps.rows:
        starts, ends = cut(profile.recording.spans, profile.window)
        return int(starts[len(starts) // 2]), int(ends[len(ends) // 2])
    first = max(0, steps.rows // 2 - _STEPS // 2)
    last = min(steps.rows, first + _STEPS) - 1
    return int(steps["start"][first]), int(steps["end"][last])


def _rows(spans: Spans, chosen: Ints) -> Iterator[tuple[str, Ints]]:
    """Lanes with most in them, the first row of each with its title: phases, what ran, Python; each level of nesting a row."""
    lanes, counts = np.unique(spans.lane[chosen], return_counts=True)
    busiest = lanes[np.argsort(-counts, kind="stable")][:_LANES]
    for lane in sorted(busiest.tolist(), key=lambda each: (spans.lanes[each].device, each)):
        here = chosen[spans.lane[chosen] == lane]
        title = spans.lanes[lane].title or f"thread {spans.lanes[lane].thread}"
        group = np.where(spans.of(Category.STEP, Category.PHASE)[here], 0, np.where(spans.of(Category.PYTHON)[here], 2, 1))
        for each in np.unique(group).tolist():
            for row in _levels(spans, here[group == each]):
                yield title, row
                title = ""


def _levels(spans: Spans, chosen: Ints) -> Iterator[Ints]:
    depth = Nesting(spans, chosen).depth
    for level in range(min(int(depth.max()) + 1, _LEVELS)):
        yield chosen[depth == level]


def _title(label: str, row: int) -> str:
    short = label if len(label) < 30 else f"{label[:28]}…"
    return f'<text x="0" y="{ROW * row + 11}">{html.escape(short)}</text>'


def _boxes(spans: Spans, chosen: Ints, start: int, end: int, row: int) -> Iterator[str]:
    """Boxes from left to right; what begins in the same pixel as another one is drawn with the longest of them."""
    scale = (WIDTH - LEFT) / (end - start)
    left = (spans.start[chosen] - start).clip(0) * scale
    width = np.minimum(spans.start[chosen] + spans.duration[chosen], end) * scale - np.maximum(spans.start[chosen], start) * scale
    for place in _one_a_pixel(left, width).tolist():
        span = chosen[place]
        text, category = spans.names[spans.name[span]], Category(int(spans.category[span]))
        colour = PHASES.get(text, COLOURS[category]) if category == Category.PHASE else COLOURS[category]
        name = f"{text}: {spans.duration[span] / 1e6:,.3f} ms"
        box = f'x="{LEFT + left[place]:.1f}" y="{ROW * row + 1}" width="{max(width[place], 0.6):.1f}" height="{ROW - 2}"'
        yield f'<rect {box} fill="{colour}"><title>{html.escape(name[:200])}</title></rect>'


def _one_a_pixel(left: Array, width: Array) -> Ints:
    order = np.lexsort((-width, left.astype(np.int64)))
    pixel = left[order].astype(np.int64)
    return order[np.append(True, pixel[1:] != pixel[:-1])] if len(order) else order
