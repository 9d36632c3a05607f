"""A report as one page that loads nothing, neither from the network nor a script: tables, bars and pictures in SVG."""

from __future__ import annotations

import html
import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from summarykit import __version__
from summarykit.profiler.frames import SUFFIX
from summarykit.profiler.report_ranks import ranks
from summarykit.profiler.sheet import adds_up, cut, number, share, short_file, size, unit
from summarykit.profiler.timeline_svg import COLOURS, PHASES, picture
from summarykit.shapes import Array

if TYPE_CHECKING:
    from summarykit.profiler.analysis.profile import Profile
    from summarykit.profiler.analysis.report import Report
    from summarykit.profiler.recording import Table

_ROWS, _LONG = 25, 60


def page(report: Report) -> str:
    """The page as text, in ASCII."""
    form = Path(__file__).with_name("report.html").read_text(encoding="ascii")
    title = f"profile of {_title(report.last[0].recording.path)}" if report.profiles else "profile"
    parts = {
        "@TITLE@": html.escape(title),
        "@NOTE@": f"{time.strftime('%Y-%m-%d %H:%M')}, summarykit {__version__}",
        "@BODY@": "\n".join(_body(report)) if report.profiles else "<p>nothing was recorded</p>",
    }
    text = re.sub("|".join(parts), lambda found: parts[found.group()], form)
    return text.encode("ascii", "xmlcharrefreplace").decode()


def _body(report: Report) -> Iterator[str]:
    yield _section("Advice", _advice(report))
    if len(report.last) > 1:
        yield _section("Ranks, ms a step", _ranks(report))
    for profile in report.profiles:
        several = f" ({_name(report, profile)})" if len(report.profiles) > 1 else ""
        yield _section(f"Steps{several}", _steps(profile))
        yield _section(f"Timeline{several}", _legend(profile) + picture(profile))
        yield from _tables(profile, several)
    yield _section("What the profiler itself took, ms", _table(report.costs))
    yield _section("Not read", ", ".join(f"{count:,} {html.escape(reason)}" for reason, count in report.skipped.most_common()))


def _title(path: Path) -> str:
    """The end of a path: that of one of our windows with the directory of the training."""
    return str(Path(*path.parts[-4:]) if path.suffix == SUFFIX else Path(*path.parts[-2:]))


def _ranks(report: Report) -> str:
    header, rows = ranks(report)
    note = "" if report.stragglers.rows else "<p>No collectives that every rank took part in: who waits for whom is not known.</p>"
    head = "".join(f"<th>{title.lstrip('<')}" for title in header)
    cells = ("".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in rows)
    return (f"<table><tr>{head}</tr>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>" if rows else "") + note


def _name(report: Report, profile: Profile) -> str:
    """What tells a profile from the others: its rank, or its path where several are of one rank."""
    several = len(report.last) < len(report.profiles)
    return str(profile.recording.path) if several else f"rank {profile.recording.rank}"


def _tables(profile: Profile, several: str) -> Iterator[str]:
    part = f" in the first {profile.traced} steps" if profile.traced < profile.steps.rows else ""
    for side in ("host", "device"):
        found = profile.operators
        chosen = found["side"] == side if found.rows else np.empty(0, np.bool_)
        yield _section(f"Operators of the {side}{part}, ms in all; share of self{several}", _table(_chosen(found, chosen), {"side"}))
    counted = bool(np.any(profile.pipeline.get("items", ())))    # of MindData's stages only the queues are known
    yield _section(f"Input pipeline, ms an item{several}", _table(profile.pipeline, () if counted else ("items",)))
    yield _section(f"Devices, ms{several}", _devices(profile))
    yield _section(f"Idle between kernels, ms{several}", _table(_longest_first(profile.idle)))
    yield _section(f"Python, ms in all{several}", _table(profile.python))
    yield _section(f"Memory, bytes{several}", _table(profile.memory))
    yield _section(f"Input shapes of operators{several}", _table(profile.input_shapes))
    yield _section(f"Meanwhile{several}", _table(_spelled(profile.counters)))


def _longest_first(found: Table) -> Table:
    return _chosen(found, np.argsort(-found["time"], kind="stable"))


def _devices(profile: Profile) -> str:
    if not profile.devices.rows or profile.seen == profile.steps.rows:
        return _table(profile.devices)
    part = f"{profile.seen:,} of {profile.steps.rows:,} steps"
    return f"{_table(profile.devices)}<p>Only {part} have something recorded of a device: the others count as idle.</p>"


def _section(title: str, content: str) -> str:
    return f"<section><h2>{html.escape(title)}</h2>\n{content}</section>" if content else ""


def _advice(report: Report) -> str:
    if not report.advice:
        steps = any(profile.steps.rows for profile in report.last)
        return "<p>Nothing to gain: no rule applies.</p>" if steps else "<p>None: most rules look at steps, and there are none.</p>"
    items = []
    for each in report.advice:
        gain = f" <b>gain: up to {_number(each.gain_ms)} ms a step, {share(each.gain)}</b>" if each.gain_ms else ""
        told = [html.escape(text) for text in (each.title, each.evidence, each.change, each.check)]
        items.append(f"<li>{told[0]}{gain} <i>(confidence {each.confidence})</i><br>{told[1]}<br>&rarr; {told[2]}<br>check: {told[3]}</li>")
    return f"<ol>{''.join(items)}</ol>"


def _steps(profile: Profile) -> str:
    times = profile.step_times
    if not times["count"]:
        return ""
    names = ("median", "mean", "p90", "p99", "min", "max")
    figures = ", ".join(f"{name} {_number(times[name])}" for name in names) if times["count"] > 1 else _number(times["mean"])
    count = f"{times['count']:,} steps" if times["count"] > 1 else "1 step"
    found = profile.input
    wait = f"Input: {found['verdict']} ({share(found['share'])} of the step time)."
    return f"<p>{count}, ms: {figures}. {wait}</p>{_stacked(profile)}{_means(profile)}"


def _means(profile: Profile) -> str:
    total = profile.step_times["mean"]
    cells = []
    for name, colour in PHASES.items():
        mean = float(profile.phases[name].mean())
        if mean:
            box = f'<td><div class=bar style="width:{mean / total * 300:.1f}px;background:{colour}"></div></td>'
            label = profile.rest if name == "other" else name
            cells.append(f"<tr><td class=l>{label}</td><td>{_number(mean)}</td><td>{share(mean / total)}</td>{box}</tr>")
    return f"<table><tr><th class=l>phase<th>ms a step<th>share<th></tr>{''.join(cells)}</table>"


def _stacked(profile: Profile, width: int = 1060, height: int = 140) -> str:
    """The steps as bars of their phases; of many steps some, evenly spread."""
    steps = profile.phases
    chosen = np.unique(np.linspace(0, steps.rows - 1, min(steps.rows, 200)).astype(int)).tolist()
    top, wide = float(steps["total"].max()), width / len(chosen)
    boxes = []
    for place, row in enumerate(chosen):
        level = 0.0
        for name, colour in PHASES.items():
            tall = float(steps[name][row]) / top * height
            level += tall
            if tall >= 0.2:
                where = f'x="{place * wide:.1f}" y="{height - level:.1f}" width="{max(wide - 0.5, 0.5):.1f}" height="{tall:.1f}"'
                title = f"step {steps['step'][row]}, {name}: {_number(steps[name][row])} ms"
                boxes.append(f'<rect {where} fill="{colour}"><title>{title}</title></rect>')
    return f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="steps">{"".join(boxes)}</svg>'


def _legend(profile: Profile) -> str:
    there = set(np.unique(profile.recording.spans.category).tolist())
    shown = [(category, colour) for category, colour in COLOURS.items() if int(category) in there]
    words = "".join(f'<span style="background:{colour}"></span>{category.name.lower().replace("_", " ")} ' for category, colour in shown)
    return f"<p class=legend>{words}</p>" if shown else ""


def _chosen(table: Table, rows: Array) -> Table:
    return type(table)({name: column[rows] for name, column in table.items()})


def _table(table: Table, without: Sequence[str] | set[str] = ()) -> str:
    """A table of at most some rows, without the columns in which nothing is."""
    if not table.rows:
        return ""
    names = [name for name in table if name not in without and _filled(table[name])]
    head = "".join(f"<th{_side(table[name])}>{html.escape(name.replace('_', ' '))}" for name in names)
    rows = ["".join(f"<td{_side(table[name])}>{_cell(name, table[name][row])}" for name in names) for row in range(min(table.rows, _ROWS))]
    more = f"<p class=note>{table.rows - _ROWS:,} more rows</p>" if table.rows > _ROWS else ""
    return f"<table><tr>{head}</tr>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>{more}"


def _spelled(counters: Table) -> Table:
    """Counters as texts with their units; of what adds up, only the last."""
    names = counters.get("counter", np.empty(0, object)).tolist()
    spelled = {
        column: np.array([
            "" if adds_up(name) and column != "last" else unit(name)(value) for name, value in zip(names, values, strict=True)
        ], object)
        for column, values in counters.items()
        if column not in ("counter", "zero", "samples")
    }
    return type(counters)(counters | spelled)


def _filled(column: Array) -> bool:
    """Whether a column says something: numbers that are no figures (of ranks, of devices) always do."""
    return bool(np.nan_to_num(column).any() if column.dtype.kind == "f" else column.dtype.kind in "iu" or column.any())


def _number(value: float) -> str:
    return html.escape(number(value))


def _side(column: Array) -> str:
    """Texts are on the left, also beside figures that carry their unit on the right."""
    texts = column.dtype == object and not all(str(cell).lstrip("<>-")[:1].isdigit() for cell in column if cell != "")
    return " class=l" if texts else ""


def _cell(name: str, value: object) -> str:
    if name in ("share", "utilization", "overlapped", "empty", "zero", "used") and isinstance(value, float):
        return share(value)
    if name in ("peak", "last", "allocated", "growth") and isinstance(value, float):
        return size(value)
    if name == "peak_step" and isinstance(value, float):
        return f"{value:,.0f}" if value >= 0 else ""
    if isinstance(value, float | np.floating):
        return _number(float(value))
    if isinstance(value, bool | np.bool_):
        return "yes" if value else ""
    if name == "type":
        return html.escape(str(value).replace("_", " "))
    text = f"{value:,}" if isinstance(value, int | np.integer) and name == "count" else str(value)
    text = short_file(text) if name == "file" else text
    return html.escape(text) if len(text) < _LONG else f'<span title="{html.escape(text)}">{html.escape(cut(text, _LONG))}</span>'
