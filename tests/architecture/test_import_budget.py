"""``import summarykit`` costs a part of what NumPy's costs, and starts nothing."""

from __future__ import annotations

import json
from statistics import median

import pytest

# Packages that cost time or memory, or that must be whatever version the user's program chose first.
FORBIDDEN = {
    *("torch", "tensorflow", "keras", "jax", "jaxlib", "flax", "lightning", "mindspore", "transformers", "tensorboard"),
    *("pandas", "pyarrow", "polars", "PIL", "matplotlib", "scipy", "sklearn", "ml_dtypes", "isal", "google.protobuf", "psutil"),
    *("multiprocessing", "asyncio", "concurrent.futures", "subprocess", "socket", "ssl", "http", "urllib.request", "sqlite3"),
    *("importlib.metadata", "email", "argparse"),
}

LOADED = """
import sys, json, threading, os
import numpy
before = set(sys.modules)
import summarykit
print(json.dumps(dict(
    new=sorted(set(sys.modules) - before),
    threads=threading.active_count(),
    children=open(f"/proc/self/task/{os.getpid()}/children").read(),
)))
"""

# What a few scalars do without: each, with what it loads, would take some per cent of the time of a short job. (What NumPy or logging
# themselves load in some version is not counted.)
SPARED = {
    *("dataclasses", "inspect", "pathlib", "urllib.parse", "ipaddress", "numpy.typing", "signal", "json", "statistics", "decimal"),
    *("summarykit.reading", "summarykit.writing.delivery", "summarykit.writing.crew"),
    *("summarykit.kinds.histogram", "summarykit.kinds.image"),
}

SHORT_JOB = """
import sys, numpy, logging, threading
before = set(sys.modules)
from summarykit import {name}
with {name}(sys.argv[1]) as writer:
    for step in range(10):
        {call}
print(*sorted(set(sys.modules) - before))
"""

CALLS = {
    "SummaryRecord": "writer.add_value('scalar', 'loss', 0.5); writer.record(step)",
    "SummaryWriter": "writer.add_scalar('loss', 0.5, step)",
}

# Of this thread alone: on many cores those that NumPy's OpenBLAS has just started take far more, while they wait for work.
COST = """
import time
begun = time.thread_time()
import numpy
between = time.thread_time()
from summarykit import SummaryRecord
print((time.thread_time() - between) / (between - begun))
"""

START_METHOD = """
import summarykit, multiprocessing
assert multiprocessing.get_start_method(allow_none=True) is None
multiprocessing.set_start_method("spawn")
"""

EVERY_NAME = """
import summarykit
for name in summarykit.__all__:
    assert getattr(summarykit, name) is not None, name
    assert name in dir(summarykit), name
try:
    summarykit.no_such_name
except AttributeError as error:
    assert "no_such_name" in str(error)
else:
    raise SystemExit("an unknown name must raise AttributeError")
"""


def among(loaded, banned):
    return [name for name in loaded if any(name == each or name.startswith(each + ".") for each in banned)]


def test_nothing_heavy_is_loaded(run_script):
    assert among(json.loads(run_script(LOADED).expect_success().stdout)["new"], FORBIDDEN) == []


@pytest.mark.parametrize("name", CALLS)
def test_a_short_job_loads_what_scalars_need(run_script, tmp_path, name):
    done = run_script(SHORT_JOB.format(name=name, call=CALLS[name]), tmp_path).expect_success()
    loaded = done.stdout.split()
    assert "summarykit.formats.scalars" in loaded
    assert among(loaded, FORBIDDEN | SPARED) == []


def test_no_thread_and_no_process_is_started(run_script):
    seen = json.loads(run_script(LOADED).expect_success().stdout)
    assert seen["threads"] == 1
    assert seen["children"].strip() == ""


def test_the_start_method_stays_free(run_script):
    run_script(START_METHOD).expect_success()


def test_import_takes_less_processor_time_than_that_of_numpy(run_script, tmp_path):
    """That is 65 ms on a machine of 2024. Of bytecode that is compiled, as after an installation: a fresh clone may have none."""
    compiled = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(tmp_path)}
    run_script(COST, env=compiled)
    costs = [float(run_script(COST, env=compiled).expect_success().stdout) for _ in range(5)]
    assert min(costs) <= 0.8, f"median {median(costs):.2f} of numpy's"


def test_every_public_name_is_there(run_script):
    run_script(EVERY_NAME).expect_success()
