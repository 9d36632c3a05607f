"""Calls that any SummaryWriter understands, made in the interpreter of each library.

    python writer_calls.py MODULE DIRECTORY

prints as JSON what each call said (null, or its error) and the signatures of the class.
"""

from __future__ import annotations

import importlib
import inspect
import json
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

STEPS = range(3)
WALL_TIME = 1_700_000_000.5
RNG = np.random.default_rng(7)
NORMAL = [RNG.normal(size=2000) for _ in STEPS]
LABELS, PREDICTIONS = RNG.integers(0, 2, 300), RNG.random(300)
COUNTS = [np.linspace(9, 0, 10), np.linspace(7, 0, 10), np.linspace(0, 7, 10), np.linspace(0, 9, 10)]
CHW = (np.arange(3 * 10 * 8) * 7 % 256).astype(np.uint8).reshape(3, 10, 8)
SOUND = np.sin(np.arange(4000) / 9).astype(np.float32) * 0.8
POINTS = RNG.random((1, 6, 3)).astype(np.float32)
FACES = np.array([[[0, 1, 2], [3, 4, 5]]])
LAYOUT = {"losses": {"all": ["Multiline", ["loss", "other"]], "band": ["Margin", ["loss", "low", "high"]]}}


def figure() -> Any:
    """A figure of matplotlib."""
    from matplotlib.figure import Figure

    drawn = Figure(figsize=(2, 1), dpi=50)
    drawn.subplots().plot([1, 3, 2])
    return drawn


def histogram_raw(writer: Any, step: int) -> None:
    counts, limits = np.histogram(NORMAL[step], 12)
    values = NORMAL[step]
    writer.add_histogram_raw(
        "hist/raw", values.min(), values.max(), len(values), values.sum(), values @ values, limits[1:].tolist(), counts.tolist(), step
    )


def tensor(writer: Any, step: int) -> None:
    value: Any = np.arange(6, dtype=np.float32).reshape(2, 3) + step
    if type(writer).__module__.startswith("torch"):
        import torch

        value = torch.from_numpy(value)
    writer.add_tensor("tensor", value, step)


EACH_STEP: dict[str, Callable[[Any, int], object]] = {
    "add_scalar": lambda w, s: w.add_scalar("loss", 1 / (s + 1), s),
    "add_scalar numpy": lambda w, s: w.add_scalar("numpy/标签", np.float32(s + 0.1), global_step=s),
    "add_scalar int": lambda w, s: w.add_scalar("int", s * 3, s),
    "add_scalar nan": lambda w, s: w.add_scalar("nan", [np.nan, np.inf, -np.inf][s], s),
    "add_scalar walltime": lambda w, s: w.add_scalar("at", 1.0, s, walltime=WALL_TIME + s),
    "add_scalars": lambda w, s: w.add_scalars("group", {"a": s / 3, "b": s * 2.0}, s),
    "add_histogram": lambda w, s: w.add_histogram("hist/default", NORMAL[s], s),
    "add_histogram bins": lambda w, s: w.add_histogram("hist/bins", NORMAL[s], s, bins=10),
    "add_histogram rule": lambda w, s: w.add_histogram("hist/rule", NORMAL[s], global_step=s, bins="sqrt", max_bins=12),
    "add_histogram_raw": histogram_raw,
    "add_image": lambda w, s: w.add_image("image/chw", CHW, s),
    "add_image HWC": lambda w, s: w.add_image("image/hwc", np.moveaxis(CHW, 0, 2) / 255.0, s, dataformats="HWC"),
    "add_image HW": lambda w, s: w.add_image("image/hw", CHW[0], s, dataformats="HW"),
    "add_images": lambda w, s: w.add_images("image/batch", np.stack([CHW, CHW[::-1], CHW]), s),
    "add_image_with_boxes": lambda w, s: w.add_image_with_boxes("image/boxes", CHW, np.array([[1, 2, 6, 8]]), s),
    "add_figure": lambda w, s: w.add_figure("image/figure", figure(), s, close=True),
    "add_audio": lambda w, s: w.add_audio("audio", SOUND[:, None] if "tensorboardX" in type(w).__module__ else SOUND, s, sample_rate=8000),
    "add_text": lambda w, s: w.add_text("note", f"**step** {s}", s),
    "add_tensor": tensor,
    "add_pr_curve": lambda w, s: w.add_pr_curve("pr/curve", LABELS, PREDICTIONS, s),
    "add_pr_curve_raw": lambda w, s: w.add_pr_curve_raw("pr/raw", *COUNTS, COUNTS[0] / 9, COUNTS[0] / 9, s, num_thresholds=10),
    "add_mesh": lambda w, s: w.add_mesh("mesh", POINTS, colors=(POINTS * 255).astype(np.uint8), faces=FACES, global_step=s),
}
AT_THE_END: dict[str, Callable[[Any], object]] = {
    "add_video": lambda w: w.add_video("video", np.stack([CHW, CHW[::-1]])[None], 0, fps=4),
    "add_embedding": lambda w: w.add_embedding(POINTS[0], metadata=list("abcdef"), tag="embedding"),
    "add_hparams": lambda w: w.add_hparams({"lr": 0.1, "net": "resnet", "layers": 18}, {"hp/accuracy": 0.75}),
    "add_custom_scalars": lambda w: w.add_custom_scalars(LAYOUT),
    "flush": lambda w: w.flush(),
    "close": lambda w: w.close(),
}
CHARTS: dict[str, Callable[[Any], object]] = {
    "add_custom_scalars_multilinechart": lambda w: w.add_custom_scalars_multilinechart(["loss", "other"], "c", "t"),
    "add_custom_scalars_marginchart": lambda w: w.add_custom_scalars_marginchart(["loss", "low", "high"], title="band"),
}


def attempt(call: Callable[[], object]) -> str | None:
    """What went wrong, or None."""
    try:
        call()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def signatures(writer: type) -> dict[str, list[str]]:
    """Names of the parameters of each public method."""
    methods = {name: method for name, method in inspect.getmembers(writer, inspect.isfunction) if not name.startswith("_")}
    methods["__init__"] = writer.__init__
    return {name: [each for each in inspect.signature(method).parameters if each != "self"] for name, method in methods.items()}


def main(module: str, directory: str) -> None:
    kind = importlib.import_module(module).SummaryWriter
    writer = kind(f"{directory}/run")
    said: dict[str, str | None] = {}
    for name, call in EACH_STEP.items():
        said[name] = next(filter(None, (attempt(lambda call=call, s=s: call(writer, s)) for s in STEPS)), None)
    for name, last in AT_THE_END.items():
        said[name] = attempt(lambda last=last: last(writer))
    for name, chart in CHARTS.items():
        with kind(f"{directory}/{name}") as other:
            other.add_scalar("loss", 1.0, 0)
            said[name] = attempt(lambda chart=chart, other=other: chart(other))
    print(json.dumps({"said": said, "signatures": signatures(kind)}))


if __name__ == "__main__":
    main(*sys.argv[1:3])
