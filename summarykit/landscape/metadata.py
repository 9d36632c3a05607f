"""``ckpt_dir/train_metadata.json``: which checkpoints there are, under MindSpore's keys."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from summarykit.landscape import atomic
from summarykit.landscape.settings import LandscapeSettings

DIRECTORY, FILE = "ckpt_dir", "train_metadata.json"


@dataclass(frozen=True)
class TrainMetadata:
    """What a training left behind for its landscapes.

    Attributes:
        settings: what it was asked to collect.
        files: step (or epoch) -> name of the checkpoint's file, in the directory of the metadata.
        step_per_epoch: steps of an epoch.
    """

    settings: LandscapeSettings
    files: Mapping[int, str] = field(default_factory=dict)
    step_per_epoch: int = 1

    def write(self, directory: Path) -> None:
        """Write it, whole or not at all.

        Raises:
            OSError: it cannot be written.
        """
        settings = self.settings
        content = {
            "epoch_group": {str(place): list(interval) for place, interval in enumerate(settings.intervals)},
            "model_params_file_map": {str(number): name for number, name in sorted(self.files.items())},
            "step_per_epoch": self.step_per_epoch,
            "unit": settings.unit,
            "num_samples": settings.num_samples,
            "landscape_size": settings.landscape_size,
            "create_landscape": {"train": settings.train, "result": settings.result},
        }
        atomic.write(directory / FILE, [json.dumps(content, indent=1).encode()])


def read(directory: Path) -> TrainMetadata:
    """Read the metadata of a directory, ours or MindSpore's.

    Raises:
        FileNotFoundError: there are none.
        ValueError: they are damaged.
        OSError: they cannot be read.
    """
    file = directory / FILE
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        return _of(content, directory)
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"{file}: no such file: train with SummaryCollector(..., collect_specified_data={{'collect_landscape': ...}}) first"
        ) from error
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"{file} is damaged: {type(error).__name__}: {error}") from error


def _of(content: Mapping[str, Any], directory: Path) -> TrainMetadata:
    settings = LandscapeSettings(
        intervals=tuple(tuple(map(int, numbers)) for numbers in content["epoch_group"].values()),
        landscape_size=int(content["landscape_size"]),
        unit=str(content["unit"]),
        train=bool(content["create_landscape"].get("train", True)),
        result=bool(content["create_landscape"].get("result", True)),
        num_samples=int(content["num_samples"]),
    )
    files = {int(number): _near(str(name), directory) for number, name in content["model_params_file_map"].items()}
    return TrainMetadata(settings, files, int(content["step_per_epoch"] or 1))


def _near(name: str, directory: Path) -> str:
    """MindSpore's paths are absolute, and wrong once the directory was moved: then the file beside the metadata is meant."""
    beside = Path(name).name
    return beside if (directory / beside).exists() else name
