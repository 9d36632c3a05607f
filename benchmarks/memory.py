"""Memory that a writer adds while scalars come as fast as they can."""

from __future__ import annotations

from typing import Any

import meters
from contestants import WRITERS
from harness import Options, Row, main, run
from scalars import CALLS, TAGS, loop


def measure(contestant: Any, directory: str, calls: int) -> dict[str, Any]:
    """The peak of the resident set from before the opening to before the close, less what it began with."""
    pairs = [[(tag, contestant.Writer.number(number / 7)) for number, tag in enumerate(TAGS)]]
    meters.forget_peak()
    base = meters.resident()
    writer = contestant.Writer(directory)
    loop(writer.log, pairs, calls)
    added = meters.peak() - base
    writer.close()
    return {"added": added}


def rows(options: Options) -> tuple[list[Row], list[str]]:
    """The claim on memory."""
    results = run("memory", {name: {"calls": options.count(CALLS[name], len(TAGS))} for name in WRITERS}, options)
    return [Row("memory added by scalars: peak less base, MB", results.figures("added", 1e-6), "memory.py")], []


if __name__ == "__main__":
    main(rows, __doc__)
