"""Images of 512 x 512 x 3 in a short job, with and without the isal package."""

from __future__ import annotations

from typing import Any

import numpy as np
from contestants import WRITERS, ZLIB
from harness import Options, Row, main, run
from meters import Stopwatch

SIDE = 512
IMAGES = 20


def measure(contestant: Any, directory: str, images: int) -> dict[str, Any]:
    """Open, record some images, close."""
    given = [contestant.Writer.picture(picture(number)) for number in range(images)]
    watch = Stopwatch()
    writer = contestant.Writer(directory)
    called = Stopwatch()
    for step, pixels in enumerate(given):
        writer.image("input", pixels, step)
    thread = called.lap().thread
    writer.close()
    whole = watch.read()
    return {"thread": thread / images, "tree": whole.tree / images, "wall": whole.wall}


def picture(seed: int) -> Any:
    """Something like a photograph, uint8: waves with a little noise."""
    noise = np.random.default_rng(seed).normal(scale=4, size=(SIDE, SIDE, 3))
    rows, columns = np.mgrid[:SIDE, :SIDE] / SIDE * 2 * np.pi
    waves = np.stack([np.sin(rows * (channel + 1) + seed) * np.cos(columns * 2) for channel in range(3)], axis=-1)
    return (128 + 100 * waves + noise).clip(0, 255).astype(np.uint8)


def rows(options: Options) -> tuple[list[Row], list[str]]:
    """The claims on images."""
    images = max(5, options.count(IMAGES))    # fewer would show the start only
    results = run("images", {name: {"images": images} for name in (*WRITERS, ZLIB)}, options)
    return [
        Row(f"image {SIDE} × {SIDE} × 3: all processes, CPU ms each", results.figures("tree", 1e3), "images.py"),
        Row("… training thread, CPU ms each", results.figures("thread", 1e3), "images.py"),
        Row(f"… {images} of them, open to closed file: wall ms", results.figures("wall", 1e3), "images.py"),
    ], [f"images: {ZLIB} is what comes without the extra; the other columns of summarykit are with it"]


if __name__ == "__main__":
    main(rows, __doc__)
