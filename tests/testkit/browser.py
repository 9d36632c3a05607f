"""A page opened in a real browser, and asked once it has drawn.

The page is served with a script at its end and shown in a frame, whose parent hands the script's answer back: pages that forbid every
connection, as ours do, can still speak to the window around them. Time is the browser's own, so a slow machine is waited for.
"""

from __future__ import annotations

import os
import queue
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome", "msedge")
OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--window-size=1200,900", "--no-first-run")
GUARD_S = 300

FRAME = """<!doctype html><body style="margin: 0"><iframe src="/page" style="border: 0; width: 100vw; height: 100vh"></iframe><script>
  addEventListener("message", event => fetch("/answer", { method: "POST", body: event.data }));
</script>"""
HEAD = "<script>addEventListener('error', event => parent.postMessage('error: ' + event.message));</script>"
TAIL = """<script>
  const answer = () => { %s };
  const wait = () => { if (%s) parent.postMessage(String(answer())); else requestAnimationFrame(wait); };
  requestAnimationFrame(wait);
</script>"""


def find_browser() -> str | None:
    """The path of the first browser that is installed."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def ask(browser: str, file: Path, script: str, ready: str = "true") -> str:
    """What a script returns that runs once in a page.

    Args:
        browser: the program.
        file: the page; its own script's names are at hand.
        script: body of a function, run when ``ready`` has become true.
        ready: an expression, asked before each frame that the browser draws.

    Returns:
        What it returned, as text; ``error: ...`` where the page or the script failed.
    """
    text = file.read_text(encoding="utf-8").replace("<head>", f"<head>{HEAD}", 1).replace("</body>", f"{TAIL % (script, ready)}</body>")
    assert HEAD in text
    assert ready in text
    answers: queue.SimpleQueue[str] = queue.SimpleQueue()
    with served({"/": FRAME, "/page": text}, answers) as url, opened(browser, url):
        return answers.get(timeout=GUARD_S)


@contextmanager
def served(pages: dict[str, str], answers: queue.SimpleQueue[str]) -> Iterator[str]:
    """The address of pages on this machine; what they post goes into the queue."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, pages, answers))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Handler(BaseHTTPRequestHandler):
    """Serves pages, takes answers."""

    def __init__(self, pages: dict[str, str], answers: queue.SimpleQueue[str], *args: object) -> None:
        self.pages, self.answers = pages, answers
        super().__init__(*args)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        """A page, or nothing (the icon that browsers ask for)."""
        body = self.pages.get(self.path, "").encode()
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        """An answer."""
        self.answers.put(self.rfile.read(int(self.headers["Content-Length"])).decode())
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Nothing on the terminal."""


@contextmanager
def opened(browser: str, url: str) -> Iterator[None]:
    """A browser of its own, with a profile of its own, that ends with all its processes."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [browser, *OPTIONS, f"--user-data-dir={profile}", url]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            yield
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
