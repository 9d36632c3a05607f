"""Print the table of runs: hyper-parameters, metrics, status; sort, filter, explain it.

Columns are hyper-parameters (learning_rate, batch_size ...), what the user told, metrics of the last evaluation (metric/accuracy, or just
accuracy), status, duration, started, step, network, parameters, commit, error; and any scalar by its tag, of which the last value is taken.
Without --columns the table has those settings in which the runs differ. Of a single run everything is told, its traceback included.

--where takes COLUMN, one of < <= > >= = !=, and a value, such as 'metric/accuracy>0.9' or status=FINISHED.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from summarykit.cli import lineage_details, lineage_page, lineage_rows, select, spell, table
from summarykit.cli.lineage_rows import Rows
from summarykit.cli.outcome import OK, CommandError
from summarykit.cli.output import refuse_summary
from summarykit.cli.sinks import Csv
from summarykit.reading import Run
from summarykit.reading.lineage_importance import Importance

_WIDEST = 60    # columns of a cell among others; --json, --csv and the details of one run have the whole


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    select.add_runs(parser)
    parser.add_argument("--columns", metavar="A,B", help="the columns, by commas; 'all' for every one that some run fills")
    parser.add_argument("--where", metavar="CONDITION", action="append", default=[], help="only runs for which it holds; may be repeated")
    parser.add_argument("--sort", metavar="COLUMN", help="the smallest first; runs that lack it come last")
    parser.add_argument("--descending", action="store_true", help="sort the largest first")
    parser.add_argument("--importance", metavar="METRIC", help="tell how much each hyper-parameter has to do with this column")
    parser.add_argument("--html", metavar="FILE", type=Path, help="write one self-contained page: parallel coordinates, scatter, table")
    parser.add_argument("--csv", metavar="FILE", type=Path, help="write the table as CSV, by default with all columns")
    parser.add_argument("--json", action="store_true", help='print JSON: "runs", an object each; "importance"; of one run its "lineage"')


def run(args: argparse.Namespace) -> int:
    """Print or write them."""
    for file in (args.html, args.csv):
        if file is not None:
            refuse_summary(file)
    runs = select.open_runs(args, read=False)
    rows = lineage_rows.rows(runs)
    for condition in args.where:
        rows = rows.where(condition)
    if args.descending and not args.sort:
        raise CommandError("--descending is about --sort: name its column")
    if args.sort:
        rows = rows.by(args.sort, descending=args.descending)
    found = _importance(rows, args.importance) if args.importance else None
    _write(rows, args, found)
    if args.json:
        columns = _columns(rows, args.columns or "all")
        told = {} if found is None else {"importance": vars(found)}
        only = {"lineage": vars(_only(runs).lineage())} if len(runs) == len(rows) == 1 else {}
        spell.print_json({"runs": [{name: rows.value(row, name) for name in columns} for row in rows], **told, **only})
    elif not (args.html or args.csv):
        _show(rows, runs, args.columns)
    if found is not None and not args.json:
        print(f"\n{found.metric}: {found.method}, {spell.some(found.runs, 'run')}")
        table.show(("<hyper-parameter", ">importance"), [(name, f"{score:.3f}") for name, score in found.scores.items()], indent=2)
    return OK


def _columns(rows: Rows, asked: str | None) -> Sequence[str]:
    if asked is None:
        return rows.telling
    return rows.columns if asked == "all" else [rows.resolve(name.strip()) for name in asked.split(",")]


def _importance(rows: Rows, metric: str) -> Importance:
    try:
        return rows.importance(rows.resolve(metric))
    except ValueError as error:
        raise CommandError(str(error)) from error


def _write(rows: Rows, args: argparse.Namespace, found: Importance | None) -> None:
    if args.html:
        columns = None if args.columns is None else _columns(rows, args.columns)
        title = f"{args.base.resolve().name}: runs"
        args.html.write_text(lineage_page.document(title, rows, columns, found), encoding="ascii")
    if args.csv:
        columns = _columns(rows, args.columns or "all")
        sink = Csv(args.csv)
        sink.write({name: [_cell(rows.value(row, name)) for row in rows] for name in columns})
        sink.close()
    for file in filter(None, () if args.json else (args.html, args.csv)):
        print(f"{file}: {spell.some(len(rows), 'run')}, {spell.size(file.stat().st_size)}")


def _cell(value: Any) -> Any:
    return "" if value is None else value if isinstance(value, (int, float)) else lineage_rows.as_text(value)


def _show(rows: Rows, runs: select.Runs, asked: str | None) -> None:
    if not len(rows):
        print("no run for which that holds")
    elif len(runs) == 1 and asked is None:
        lineage_details.show(rows, _only(runs).lineage())
    else:
        columns = _columns(rows, asked)
        cells = [[_shown(name, rows.value(row, name)) for name in columns] for row in rows]
        table.show([f"{'>' if rows.is_numeric(name) else '<'}{name}" for name in columns], cells)


def _shown(column: str, value: Any) -> str:
    text = lineage_details.text(column, value)
    return text if column == "run" else table.shorten(text, _WIDEST)


def _only(runs: select.Runs) -> Run:
    (run,) = runs.values()
    return run
