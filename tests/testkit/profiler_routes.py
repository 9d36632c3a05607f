"""Asks MindInsight's real web server questions for its profiler pages; ``main`` runs in the viewer's environment, ``ask`` in ours."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any


def ask(python: Path, clients: Path, base: Path, questions: list[dict[str, Any]], timeout: float = 600) -> list[Any]:
    """The answers in order; one that the server refused is ``{"refused": message}``.

    A question is ``{"path", "args": {…}}``, and with ``"body"`` a POST.
    """
    done = subprocess.run(
        [str(python), __file__, str(clients), str(base)], input=json.dumps(questions), capture_output=True, text=True, timeout=timeout
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return list(json.loads(done.stdout))


def main(clients: str, base: str) -> None:
    """Start the server on a folder of runs, ask what stands on stdin, print the answers."""
    sys.path.insert(0, clients)
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        del os.environ[name]
    workspace = tempfile.mkdtemp(prefix="mindinsight-")
    os.environ.update(MINDINSIGHT_WORKSPACE=workspace, MINDINSIGHT_SUMMARY_BASE_DIR=os.path.realpath(base))
    import read_with_mindinsight  # type: ignore[import-not-found]  # it lies beside the viewers

    server = read_with_mindinsight.Rest(time.time() + 120)
    try:
        server._first_reply()
        print(json.dumps([_answer(server, question) for question in json.load(sys.stdin)]))
    finally:
        server.close()
        shutil.rmtree(workspace, ignore_errors=True)


def _answer(server: Any, question: dict[str, Any]) -> Any:
    try:
        return server.get(question["path"], body=question.get("body"), **question.get("args", {}))
    except RuntimeError as refused:
        return {"refused": str(refused)}


if __name__ == "__main__":
    main(*sys.argv[1:])
