"""How the dataset's pipeline did: stages and their queues, the queue to the device, use of the processors.

Files: ``pipeline_profiling_<d>.json``, ``device_queue_profiling_<d>.txt`` or ``dataset_iterator_profiling_<d>.txt``,
``minddata_cpu_utilization_<d>.json``.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from summarykit.profiler.parsers.mindspore.pipeline import pipeline
from summarykit.profiler.parsers.mindspore.processors import processors
from summarykit.profiler.parsers.mindspore.queue_log import queue_log
from summarykit.profiler.recording import Table


def tables(path: Path, device: int, skipped: Counter[str]) -> dict[str, Table]:
    """The tables of one device, empty where a file is absent: see the function that makes each."""
    return {
        "pipeline": pipeline(path, device, skipped), "queue": queue_log(path, device, skipped),
        "processors": processors(path, device, skipped),
    }
