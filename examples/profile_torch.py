"""A training that waits for its data: the profiler says so, its advice is followed, and the promised gain is compared with what came.

    python examples/profile_torch.py [DIRECTORY]

The data set reads each image from a disk that takes a millisecond, in the thread that trains. ``report.html`` in DIRECTORY is the first
report with a picture of its timeline; ``trace.json.gz`` is for Perfetto; the lengths of all steps are scalars of two runs.
"""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from summarykit import Loop, Profiler, StopAtStep, SummaryWriter
from summarykit.profiler.analysis import Report, compare

STEPS, BATCH = 50, 16


class Images(Dataset):
    """Images ``[1, 24, 24]`` and labels, each read when it is asked for."""

    def __len__(self) -> int:
        return STEPS * BATCH

    def __getitem__(self, place: int) -> tuple[torch.Tensor, int]:
        time.sleep(0.001)    # the disk
        return torch.full((1, 24, 24), place / len(self)), place % 4


def train(directory: Path, workers: int = 0) -> Report:
    """Train with a profiler that is on from the tenth step; nothing in the loop says what takes how long."""
    convolutions = [nn.Conv2d(1, 16, 3), nn.ReLU(), nn.Conv2d(16, 16, 3), nn.ReLU()]
    model, criterion = nn.Sequential(*convolutions, nn.Flatten(), nn.Linear(16 * 20 * 20, 4)), nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    batches = DataLoader(Images(), BATCH, num_workers=workers, persistent_workers=workers > 0)
    profiler = Profiler(directory / "profiler", start_profile=False)
    with Loop(model, optimizer, batches, callbacks=[StopAtStep(10, STEPS, profiler=profiler)]) as loop:
        for images, labels in loop.steps():
            optimizer.zero_grad()
            criterion(model(images), labels).backward()
            optimizer.step()
    return profiler.analyse()


def record(report: Report, directory: Path) -> None:
    """The lengths of the steps, for the viewers."""
    steps = report.table("steps")
    with SummaryWriter(directory) as writer:
        for step, duration in zip(steps["step"].tolist(), steps["duration"].tolist(), strict=True):
            writer.add_scalar("step_time_ms", duration, step)


def main(directory: Path) -> None:
    """Record, read the advice, follow it, compare."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    before = train(directory / "before")
    print(before)
    (directory / "report.html").write_text(before.to_html(), encoding="ascii")
    before.write_timeline(directory / "trace.json.gz")
    advised = re.search(r"num_workers=(\d+)", before.advice[0].change)
    workers = int(advised[1]) if advised else 2
    print(f"--- num_workers={workers}, as the advice says ---\n")
    after = train(directory / "after", workers)
    print(compare(before, after))
    for name, report in (("before", before), ("after", after)):
        record(report, directory / name)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "./profile"))
