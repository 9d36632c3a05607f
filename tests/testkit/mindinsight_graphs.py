"""A program for MindInsight's environment: the graphs of a run as its page draws them, as JSON; it waits until so many are read.

    python mindinsight_graphs.py DIRECTORY NUMBER

Graphs are built beside everything else, after the run counts as loaded: who asks too early sees none.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time


def main(directory: str, number: int) -> None:
    os.environ["MINDINSIGHT_WORKSPACE"] = tempfile.mkdtemp()
    os.environ["MINDINSIGHT_SUMMARY_BASE_DIR"] = directory
    from mindinsight.datavisual.data_transform.data_manager import DataManager
    from mindinsight.datavisual.processors.graph_processor import GraphProcessor
    from mindinsight.datavisual.processors.train_task_manager import TrainTaskManager

    manager, deadline, tags = DataManager(directory), time.monotonic() + 150, []
    while len(tags) < number and time.monotonic() < deadline:
        manager.start_load_data(reload_interval=0)
        manager.cache_train_job("./")
        time.sleep(0.3)
        jobs = TrainTaskManager(manager).query_train_jobs(request_train_id="./")[1]
        tags = jobs[0]["plugins"].get("graph", []) if jobs else []
    pages = {tag: GraphProcessor("./", manager, tag, "normal") for tag in tags}
    print("GRAPHS" + json.dumps({tag: page.list_all_nodes_info(None)["all_nodes_detail"] for tag, page in pages.items()}), flush=True)
    leave()


def leave() -> None:
    """End although its threads and workers may still be busy."""
    import psutil

    for child in psutil.Process().children(recursive=True):
        child.kill()
    os._exit(0)


if __name__ == "__main__":
    main(os.path.realpath(sys.argv[1]), int(sys.argv[2]))
