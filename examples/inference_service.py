"""An inference service, recorded: latency of every request, inputs and answers from time to time, from as many threads as serve.

    python examples/inference_service.py [DIRECTORY] [REQUESTS]

A classifier of digits answers over HTTP, on a free port of this machine. Half way through, the pictures that clients send become noisy:
the histogram of the inputs shows it, and so does the classifier's confidence.
"""

from __future__ import annotations

import http.client
import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from threading import Thread
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from summarykit import Run, SummaryWriter

CLIENTS = 8
EVERY = 20


class Service(ThreadingHTTPServer):
    """Answers each request in a thread of its own; all of them share one writer."""

    daemon_threads = True

    def __init__(self, writer: SummaryWriter, model: Any) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.writer, self.model = writer, model
        self.requests = count(1)

    def answer(self, pixels: list[float]) -> dict[str, Any]:
        """Classify a picture and record how that went; the step is the number of the request."""
        begun, step = time.perf_counter(), next(self.requests)
        image = np.array(pixels, np.float32)
        if image.shape != (64,):
            self.writer.add_text("refused", f"a picture of shape {image.shape}", step)
            return {"error": "64 pixels are needed"}
        chances = self.model.predict_proba(image[None])[0]
        self.writer.add_scalar("latency_ms", 1000 * (time.perf_counter() - begun), step)
        self.writer.add_scalar("confidence", chances.max(), step)
        if step % EVERY == 0:
            self.writer.add_histogram("inputs", image, step)
            self.writer.add_image("picture", image.reshape(1, 8, 8).clip(0, 16) / 16, step)
        return {"digit": int(chances.argmax())}


class Answer(BaseHTTPRequestHandler):
    """One request: a list of pixels in, a digit out."""

    server: Service

    def do_POST(self) -> None:
        """Answer it."""
        pixels = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = json.dumps(self.server.answer(pixels)).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def serving(service: Service) -> Any:
    """Serve while the block runs."""
    thread = Thread(target=service.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield
    finally:
        service.shutdown()
        thread.join()
        service.server_close()


def ask(port: int, image: np.ndarray) -> dict[str, Any]:
    """What a client does."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("POST", "/", json.dumps(image.tolist()))
    with connection.getresponse() as response:
        answer = json.loads(response.read())
    connection.close()
    return answer


def main(directory: str, requests: int) -> None:
    """Serve that many requests."""
    images, labels = load_digits(return_X_y=True)
    model = LogisticRegression(max_iter=200).fit(images[:1000], labels[:1000])
    asked = images[np.arange(requests) % len(images)]
    asked[requests // 2 :] += np.random.default_rng(0).normal(0, 4, asked[requests // 2 :].shape)
    with SummaryWriter(directory) as writer:
        service = Service(writer, model)
        with serving(service), ThreadPoolExecutor(CLIENTS) as clients:
            port = service.server_address[1]
            list(clients.map(lambda image: ask(port, image), asked))
            print(ask(port, np.zeros(3)))
    run = Run(directory)
    latency, confidence = run.scalars("latency_ms"), run.scalars("confidence").value
    print(f"{len(latency)} requests answered, half of them within {np.median(latency.value):.2f} ms")
    print(f"confidence: {confidence[: requests // 2].mean():.2f}, then {confidence[requests // 2 :].mean():.2f}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "./summary", int(sys.argv[2]) if len(sys.argv) > 2 else 400)
