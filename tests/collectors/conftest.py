"""What the collector wrote, decoded by protobuf and an independent walk over the files."""

from __future__ import annotations

import io
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from testkit import records

from summarykit.collectors import PARTS
from summarykit.formats.proto.messages import message


class Found(NamedTuple):
    kind: str
    tag: str
    step: int
    value: Any


def _value(kind: str, value: Any) -> Any:
    if kind == "scalar":
        return value.scalar_value
    if kind == "tensor":
        return np.array(value.tensor.float_data).reshape(value.tensor.dims)
    return getattr(value, kind)


KINDS = {"scalar_value": "scalar", "image": "image", "tensor": "tensor", "histogram": "histogram"}


class Directory:
    """All points of the MindSpore files below a directory."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def files(self) -> list[Path]:
        return [file for file in records.record_files(self.path) if file.name.endswith("_MS")]

    def points(self) -> list[Found]:
        event = message("mindspore.irpb.Event")
        return [
            Found(kind, value.tag, parsed.step, _value(kind, value))
            for file in self.files
            for parsed in map(event.FromString, records.payloads(file))
            for value in parsed.summary.value
            for kind in [KINDS[value.WhichOneof("value")]]
        ]

    def steps(self) -> dict[str, list[int]]:
        """Tag -> its steps in the order of the file."""
        found: dict[str, list[int]] = defaultdict(list)
        for point in self.points():
            found[point.tag].append(point.step)
        return dict(found)

    def tags(self, kind: str) -> set[str]:
        return {point.tag for point in self.points() if point.kind == kind}

    def values(self, tag: str) -> list[Any]:
        return [point.value for point in self.points() if point.tag == tag]

    def picture(self, tag: str) -> np.ndarray:
        pillow = pytest.importorskip("PIL.Image")
        return np.asarray(pillow.open(io.BytesIO(self.values(tag)[0].encoded_image)))


@pytest.fixture
def directory(tmp_path: Path) -> Directory:
    return Directory(tmp_path / "summary")


def quiet(*kept: str) -> dict[str, bool]:
    """``collect_specified_data`` that leaves of all that is on by default these keys on."""
    parts = [PARTS.get(name) for name in PARTS]
    return {part.key: False for part in parts if part.key and part.default is True and part.key not in kept}


@pytest.fixture(name="quiet")
def _quiet():
    return quiet


class Network:
    """A network written in NumPy: parameters and gradients in mappings."""

    def __init__(self, count: int = 7) -> None:
        self.parameters = {f"layer{n}.weight": np.full((3, 2), float(n)) for n in range(count)}
        self.gradients = {name: -value for name, value in self.parameters.items()}


@pytest.fixture
def network() -> Network:
    return Network()
