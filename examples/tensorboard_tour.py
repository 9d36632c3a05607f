"""Every kind of value that SummaryWriter records, one after the other: a run that fills every page of TensorBoard.

    python examples/tensorboard_tour.py [DIRECTORY]
    tensorboard --logdir DIRECTORY

Needs NumPy only; the figure comes where matplotlib is installed.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import Any

import numpy as np

from summarykit import Run, SummaryWriter

STEPS = 20
RNG = np.random.default_rng(0)


def numbers(writer: SummaryWriter, step: int) -> None:
    """Scalars, several curves in one chart, a dictionary of a step, histograms and a whole array."""
    loss = np.exp(-step / 5) + 0.02 * RNG.normal()
    writer.add_scalar("loss", loss, step)
    writer.add_scalar("accuracy", 1 - loss / 2, step, display_name="Accuracy", summary_description="Share of images *recognised*.")
    writer.add_scalars("losses", {"training": loss, "validation": loss * 1.1}, step)
    writer.add_scalars_dict({"optimizer": {"lr": 0.1 * 0.9**step, "momentum": 0.9}}, step)
    writer.add_histogram("weights", RNG.normal(0, 1 + step / 10, 5000), step)
    writer.add_histogram_raw("raw", 0, 3, 60, 90, 180, [1, 2, 3], [10, 20 + step, 30], step)
    writer.add_tensor("tensor", RNG.normal(size=(3, 4)), step)
    writer.add_text("note", f"Step **{step}**: loss `{loss:.3f}`", step)


def pictures(writer: SummaryWriter, step: int) -> None:
    """Images alone, in a batch and with boxes, a figure, a video and a sound."""
    y, x = np.mgrid[0:64, 0:96] / 64
    image = np.stack([np.sin(6 * x + step) / 2 + 0.5, y, 1 - y])
    writer.add_image("image", image, step)
    writer.add_images("batch", np.stack([np.roll(image, 12 * number, axis=2) for number in range(8)]), step)
    writer.add_image_with_boxes("boxes", image, [[10, 10, 40, 50], [60, 20, 90, 40]], step)
    writer.add_video("video", np.stack([np.roll(image, 8 * time, axis=2) for time in range(12)])[None], step, fps=6)
    writer.add_audio("sound", 0.5 * np.sin(2 * np.pi * (220 + 20 * step) * np.arange(8000) / 8000), step, sample_rate=8000)
    if find_spec("matplotlib"):
        writer.add_figure("figure", figure(step), step)


def figure(step: int) -> Any:
    """A figure of matplotlib."""
    from matplotlib.figure import Figure

    drawn = Figure(figsize=(4, 3))
    axes = drawn.subplots()
    axes.plot(np.sin(np.arange(100) / 10 + step))
    axes.set_title(f"step {step}")
    return drawn


def curves_and_shapes(writer: SummaryWriter, step: int) -> None:
    """Precision and recall, a mesh, a cloud of points."""
    labels = RNG.random(500) < 0.4
    scores = np.clip(0.5 + (labels - 0.5) * step / STEPS + 0.3 * RNG.normal(size=500), 0, 1)
    writer.add_pr_curve("precision_recall", labels, scores, step)
    corners = np.array([[1, 1, 1], [-1, -1, 1], [1, -1, -1], [-1, 1, -1]], np.float32)
    colors = np.array([[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 0, 255]], np.uint8)
    faces = np.array([[0, 2, 3], [0, 3, 1], [0, 1, 2], [1, 3, 2]])
    writer.add_mesh("tetrahedron", corners[None] * (1 + step / STEPS), colors[None], faces[None], global_step=step)
    writer.add_mesh("cloud", RNG.normal(size=(1, 500, 3)), global_step=step)


def once(writer: SummaryWriter) -> None:
    """What a run has one of: its graph, its embedding, its settings, its charts."""
    writer.add_graph({
        "images": {"op": "Input", "shape": [32, 784], "dtype": "float32"},
        "net/weight": {"op": "Parameter", "shape": [784, 10], "dtype": "float32"},
        "net/MatMul": {"op": "MatMul", "inputs": ["images", "net/weight"], "shape": [32, 10], "dtype": "float32"},
        "net/Softmax": {"op": "Softmax", "inputs": ["net/MatMul"], "attributes": {"axis": -1}, "shape": [32, 10], "dtype": "float32"},
    })  # fmt: skip
    centres = RNG.normal(size=(3, 10)) * 4
    classes = np.arange(90) % 3
    colors = np.eye(3)[classes][:, :, None, None] * np.ones((8, 8))
    writer.add_embedding(centres[classes] + RNG.normal(size=(90, 10)), [f"class {number}" for number in classes], colors, tag="embedding")
    writer.add_hparams({"lr": 0.1, "net": {"layers": [784, 10], "dropout": None}, "augment": True}, {"final/accuracy": 0.97})
    writer.add_custom_scalars({"overview": {
        "both": ["Multiline", ["loss$", "accuracy$"]],
        "band": ["Margin", ["losses/training", "optimizer/momentum", "losses/validation"]],
    }})  # fmt: skip


def main(directory: str) -> None:
    """Write the run, and say what is in it."""
    with SummaryWriter(directory) as writer:
        for step in range(STEPS):
            numbers(writer, step)
        for step in range(0, STEPS, 5):
            pictures(writer, step)
            curves_and_shapes(writer, step)
        once(writer)
    for kind, tags in Run(directory).tags().items():
        print(f"{kind:15} {', '.join(tags)}")
    dropped = writer.stats()["dropped"]
    print(f"dropped: {dropped or 'nothing'}\n\ntensorboard --logdir {directory}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "./runs/tour")
