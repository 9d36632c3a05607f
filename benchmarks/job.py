"""A whole small job, as a user would run it: ``python job.py CONTESTANT DIRECTORY SCALARS``."""

from __future__ import annotations

import importlib
import sys

sys.path.append(sys.path.pop(0))    # this folder last: its file names must hide nobody's module


def main() -> None:
    """Import, open, record, close."""
    contestant, directory, scalars = sys.argv[1:]
    library = importlib.import_module(f"contestants.{contestant}")
    writer = library.Writer(directory)
    for step in range(int(scalars)):
        writer.log([("loss", library.Writer.number(step / 7))], step)
    writer.close()


if __name__ == "__main__":    # a worker process of a contestant may import this file again
    main()
