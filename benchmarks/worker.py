"""One measurement in a process of its own: ``python worker.py WORKLOAD CONTESTANT DIRECTORY PARAMETERS`` prints one line of JSON."""

from __future__ import annotations

import importlib
import json
import sys
import time

SETTLE_SECS = 0.2
"""Between the imports, which are rows of their own, and the clock: threads that NumPy's OpenBLAS starts spin for a tenth of a second, on a
processor that what is measured would have."""

sys.path.append(sys.path.pop(0))    # this folder last: its file names must hide nobody's module


def main() -> None:
    """Load the contestant and let the workload measure it."""
    workload, contestant, directory, parameters = sys.argv[1:]
    module = importlib.import_module(f"contestants.{contestant}")
    measure = importlib.import_module(workload).measure
    time.sleep(SETTLE_SECS)
    figures = measure(module, directory, **json.loads(parameters))
    print(f"\n{json.dumps(figures)}", flush=True)


if __name__ == "__main__":    # a worker process of a contestant may import this file again
    main()
