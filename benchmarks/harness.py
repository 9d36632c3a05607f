"""Runs contestants in turn, each time in a fresh process, and compares the medians."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from contestants import CHECKOUT, CONTESTANTS, ONE_FORMAT, OURS

HERE = Path(__file__).resolve().parent
Figures = dict[str, float]


@dataclass(frozen=True)
class Options:
    """How thorough to be.

    Attributes:
        rounds: how often each contestant is run; the median counts.
        scale: factor on every size; below 1 the fixed costs weigh more.
        only: names of the contestants to run; empty for all.
    """

    rounds: int = 5
    scale: float = 1.0
    only: tuple[str, ...] = ()

    def count(self, full: int, multiple: int = 1) -> int:
        """A size, scaled, as a multiple of something."""
        return max(1, round(full * self.scale / multiple)) * multiple


@dataclass(frozen=True)
class Row:
    """One claim: a figure for each contestant that has it.

    Attributes:
        what: the claim, with its unit.
        figures: contestant -> median.
        more_is_better: which way the ratio goes.
        command: script that measures it.
    """

    what: str
    figures: Figures
    command: str
    more_is_better: bool = False

    def ratio(self, name: str, ours: str) -> float | None:
        """How many times better ours is; None where that cannot be said."""
        theirs, own = self.figures[name], self.figures.get(ours)
        if self.more_is_better:
            theirs, own = own or 0.0, theirs
        return theirs / own if own and theirs > 0 else None


@dataclass
class Results:
    """What the runs of one workload gave."""

    runs: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def figures(self, key: str, factor: float = 1.0) -> Figures:
        """The median of one measure, for each contestant that has it."""
        return {
            name: median(run[key] for run in runs) * factor
            for name, runs in self.runs.items()
            if runs and all(run.get(key) is not None for run in runs)
        }

    def notes(self) -> list[str]:
        """Each contestant's settings, as it told them."""
        return [f"{name}: {runs[0]['settings']}" for name, runs in self.runs.items() if runs and "settings" in runs[0]]


def run(workload: str, parameters: Mapping[str, Mapping[str, Any]], options: Options) -> Results:
    """Measure each named contestant with its parameters, in turn, several rounds."""
    chosen = {name: each for name, each in parameters.items() if _available(name, options)}
    results = Results({name: [] for name in chosen})
    for _ in range(options.rounds):
        for name, each in chosen.items():
            results.runs[name].append(_measure(workload, name, each))
    return results


def _available(name: str, options: Options) -> bool:
    if options.only and name not in options.only:
        return False
    there = Path(CONTESTANTS[name].python).exists()
    if not there:
        print(f"{name} is left out: no {CONTESTANTS[name].python} (benchmarks/setup_peers.sh makes it)", file=sys.stderr)
    return there


def _measure(workload: str, name: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="benchmark-") as directory:
        arguments = [workload, CONTESTANTS[name].module, directory, json.dumps(parameters)]
        done = launch(name, "worker.py", *arguments)
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures


def launch(name: str, script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a script of this folder by a contestant's interpreter.

    Raises:
        RuntimeError: it failed; the message has what it said.
    """
    environment = {**os.environ, "PYTHONPATH": CHECKOUT, "GLOG_v": "3"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)    # this library runs from its source; the others were compiled when installed
    command = [CONTESTANTS[name].python, str(HERE / script), *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=900, check=False)
    if done.returncode:
        raise RuntimeError(f"{name}, {script} {' '.join(arguments)}: exit {done.returncode}\n{done.stderr[-2000:]}")
    return done


def markdown(rows: list[Row]) -> str:
    """A table: one row a claim, one column a contestant; in brackets how many times better ours is, with both formats / with one."""
    names = [name for name in CONTESTANTS if any(name in row.figures for row in rows)]
    lines = [f"| what | {' | '.join(names)} | script |", f"|---|{'---:|' * len(names)}---|"]
    lines += [f"| {row.what} | {' | '.join(_cell(row, name) for name in names)} | `{row.command}` |" for row in rows]
    return "\n".join(lines)


def _cell(row: Row, name: str) -> str:
    if name not in row.figures:
        return "–"
    ratios = [] if CONTESTANTS[name].ours else [row.ratio(name, ours) for ours in (OURS, ONE_FORMAT) if ours in row.figures]
    said = " / ".join(f"{_digits(ratio)}×" for ratio in ratios if ratio is not None)
    return f"{_digits(row.figures[name])}{said and f' ({said})'}"


def _digits(number: float) -> str:
    """Three significant digits, without an exponent."""
    size = abs(number)
    return f"{number:,.0f}" if size >= 100 else f"{number:.1f}" if size >= 10 else f"{number:.2f}" if size >= 1 else f"{number:.3f}"


def parser(description: str) -> argparse.ArgumentParser:
    """The options that every script takes."""
    found = argparse.ArgumentParser(description=description)
    found.add_argument("--quick", action="store_true", help="two rounds at a tenth of the size: all scripts in about two minutes")
    found.add_argument("--full", action="store_true", help="five rounds at full size (the default): about twenty minutes")
    found.add_argument("--rounds", type=int, help="how often each contestant is run")
    found.add_argument("--scale", type=float, help="factor on all sizes")
    found.add_argument("--only", action="append", default=[], choices=list(CONTESTANTS), help="run this contestant; may be repeated")
    return found


def chosen(arguments: argparse.Namespace) -> Options:
    """The options as they were given."""
    rounds, scale = (2, 0.1) if arguments.quick else (5, 1.0)
    return Options(arguments.rounds or rounds, arguments.scale or scale, tuple(arguments.only))


def main(workload: Callable[[Options], tuple[list[Row], list[str]]], description: str | None) -> None:
    """Run one workload from the command line and print its table."""
    rows, notes = workload(chosen(parser(description or "").parse_args()))
    print(markdown(rows))
    print("\n" + "\n".join(f"- {note}" for note in notes))
