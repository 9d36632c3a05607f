"""Images of 512 x 512 x 3 and of 64 x 64 x 3 in a short job, with and without the isal package."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
from contestants import WRITERS, ZLIB
from harness import Options, Row, main, run
from meters import Stopwatch

SETS = ((512, 20), (64, 200))    # pixels of a side, and how many such images
CALLS = 20    # of the compressor alone, at least


def measure(contestant: Any, directory: str, side: int, images: int) -> dict[str, Any]:
    """Open, record some images, close."""
    given = [contestant.Writer.picture(picture(number, side)) for number in range(images)]
    watch = Stopwatch()
    writer = contestant.Writer(directory)
    opened = watch.lap().thread
    for step, pixels in enumerate(given):
        writer.image("input", pixels, step)
    thread = watch.lap().thread - opened
    writer.close()
    whole = watch.read()
    figures = {"thread": thread / images, "tree": whole.tree / images, "wall": whole.wall}
    if hasattr(writer, "compressor"):
        figures |= machine([writer.compressor(pixels) for pixels in given], [f"{directory}/{name}.copy" for name in os.listdir(directory)])
    return figures


def machine(compressors: list[Callable[[], bytes]], paths: list[str]) -> dict[str, float]:
    """The least that an image can take here, in CPU seconds: the compressor's call, and what it gives written once to each file.

    The calls are warm, and the bytes go to new pages of the files, as in the run itself; the medians count.
    """
    calls = itertools.islice(itertools.cycle(compressors), max(CALLS, len(compressors)) + 1)
    files = [os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND) for path in paths]
    laps = [_lap(compress, files) for compress in calls][1:]
    for file in files:
        os.close(file)
    return {"compressor": median(compressor for compressor, _ in laps), "machine": median(map(sum, laps))}


def _lap(compress: Callable[[], bytes], files: list[int]) -> tuple[float, float]:
    begun = time.thread_time()
    packed = compress()
    compressed = time.thread_time()
    for file in files:
        os.write(file, packed)
    return compressed - begun, time.thread_time() - compressed


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
            Row("… that call and one write of its output to each file: CPU ms", results.figures("machine", 1e3), "images.py"),
            Row("… training thread, CPU ms each", results.figures("thread", 1e3), "images.py"),
            Row(f"… {images} of them, open to closed file: wall ms", results.figures("wall", 1e3), "images.py"),
        ]
    return found, [f"images: {ZLIB} is what comes without the extra; the other columns of summarykit are with it"]


if __name__ == "__main__":
    main(rows, __doc__)
