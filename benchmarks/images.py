"""Images of 512 x 512 x 3 and of 64 x 64 x 3 in a short job, with and without the isal package."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from contestants import WRITERS, ZLIB
from harness import Options, Row, main, run
from meters import Stopwatch

SETS = ((512, 20), (64, 200))    # pixels of a side, and how many such images
CALLS = 20    # of the compressor alone


def measure(contestant: Any, directory: str, side: int, images: int) -> dict[str, Any]:
    """Open, record some images, close."""
    given = [contestant.Writer.picture(picture(number, side)) for number in range(images)]
    watch = Stopwatch()
    writer = contestant.Writer(directory)
    called = Stopwatch()
    for step, pixels in enumerate(given):
        writer.image("input", pixels, step)
    thread = called.lap().thread
    writer.close()
    whole = watch.read()
    job = {"thread": thread / images, "tree": whole.tree / images, "wall": whole.wall}
    return {**job, "compressor": alone(writer.compressor(given[0])) if hasattr(writer, "compressor") else None}


def alone(compress: Callable[[], Any]) -> float:
    """CPU seconds of one call, warm: the least that the image can take on this machine."""
    compress()
    watch = Stopwatch()
    for _ in range(CALLS):
        compress()
    return watch.lap().thread / CALLS


def picture(seed: int, side: int) -> Any:
    """Something like a photograph, uint8: waves with a little noise."""
    noise = np.random.default_rng(seed).normal(scale=4, size=(side, side, 3))
    rows, columns = np.mgrid[:side, :side] / side * 2 * np.pi
    waves = np.stack([np.sin(rows * (channel + 1) + seed) * np.cos(columns * 2) for channel in range(3)], axis=-1)
    return (128 + 100 * waves + noise).clip(0, 255).astype(np.uint8)


def rows(options: Options) -> tuple[list[Row], list[str]]:
    """The claims on images."""
    found = []
    for side, full in SETS:
        images = max(5, options.count(full))    # fewer would show the start only
        results = run("images", {name: {"side": side, "images": images} for name in (*WRITERS, ZLIB)}, options)
        found += [
            Row(f"image {side} × {side} × 3: all processes, CPU ms each", results.figures("tree", 1e3), "images.py"),
            Row("… of it, one call of the compressor alone, warm: CPU ms", results.figures("compressor", 1e3), "images.py"),
            Row("… training thread, CPU ms each", results.figures("thread", 1e3), "images.py"),
            Row(f"… {images} of them, open to closed file: wall ms", results.figures("wall", 1e3), "images.py"),
        ]
    return found, [f"images: {ZLIB} is what comes without the extra; the other columns of summarykit are with it"]


if __name__ == "__main__":
    main(rows, __doc__)
