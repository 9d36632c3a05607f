"""Memory and shapes of MindSpore 2.10: no capture is public, so the records are written here, from the layout."""

from __future__ import annotations

import struct

import pytest

from summarykit.profiler.analysis import analyse
from summarykit.profiler.parsers import mindspore, read

FREED = 2**64 - 1


def record(fixed: bytes, *texts: tuple[int, str]) -> bytes:
    value = fixed + b"".join(struct.pack("<HI", kind, len(text)) + text.encode() for kind, text in texts)
    return struct.pack("<HI", 1, len(value)) + value


def block(time: int, address: int, size: int, used: int, owner: str = "", *, device: int = 0, reserved: int = 1 << 30) -> bytes:
    numbers = (7, 1, time, address, size, used, used, reserved, 0, 0, 99)
    return record(struct.pack("<i11QI4B", device, *numbers, 3, 0, 1, 0, 2), *[(13, owner)] * bool(owner))


def call(name: str, shapes: str, types: str = "float32") -> bytes:
    return record(b"", (0, name), (1, shapes), (2, types))


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "FRAMEWORK"
    place.mkdir()
    blocks = [
        block(100, 0xA000, 4096, 4096, "Default/MatMul-op1"),
        block(300, 0xA000, FREED, 1024),
        block(200, 0xB000, 1024, 5120, "Default/Add-op2"),
        block(400, 0xC000, FREED, 1024),
        block(250, 0xA000, 512, 512, "Default/Mul-op3", device=1),
    ]
    (place / "mindspore.memory_usage").write_bytes(b"".join(blocks))
    calls = [call("MatMul", "[[2,4],[4,4]]")] * 3 + [call("MatMul", "[[1,4],[4,4]]"), call("Add", "[[2,4],[4]]", "float16")]
    (place / "mindspore.record_shapes").write_bytes(b"".join(calls))
    return tmp_path


def test_memory_that_is_taken_and_given_back(folder):
    (recording,) = read(folder)
    memory = recording.tables["memory"]
    assert memory["time"].tolist() == [100, 200, 250, 300, 400]
    assert memory["device"].tolist() == [0, 0, 1, 0, 0]
    assert memory["bytes"].tolist() == [4096, 1024, 512, -4096, 0]
    assert memory["allocated"].tolist() == [4096, 5120, 512, 1024, 1024]
    assert set(memory["reserved"].tolist()) == {float(1 << 30)}
    assert memory["name"].tolist() == ["Default/MatMul-op1", "Default/Add-op2", "Default/Mul-op3", "", ""]
    (profile,) = analyse(recording).profiles
    assert profile.memory["peak"].tolist() == [5120, 512]
    assert profile.memory["allocations"].tolist() == [2, 1]
    assert not recording.skipped


def test_blocks_of_one_moment_stay_in_their_order(tmp_path):
    blocks = [block(1, 0xB, 10, 10), block(5, 0xB, FREED, 0), block(5, 0xB, 30, 30), block(5, 0xA, 2, 32), block(9, 0xB, FREED, 2)]
    (tmp_path / "mindspore.memory_usage").write_bytes(b"".join(blocks))
    memory = read(tmp_path)[0].tables["memory"]
    assert memory["bytes"].tolist() == [10, -10, 30, 2, -30]
    assert memory["allocated"].tolist() == [10, 0, 30, 32, 2]


def test_operators_by_the_shapes_of_their_inputs(folder):
    report = analyse(folder)
    found = report.profiles[0].input_shapes
    assert found["name"].tolist() == ["MatMul", "Add"]
    assert (found["calls"].tolist(), found["shapes"].tolist()) == ([4, 1], [2, 1])
    assert (found["common"].tolist(), found["types"].tolist()) == (["[[2,4],[4,4]]", "[[2,4],[4]]"], ["float32", "float16"])
    text = str(report).partition("operators whose inputs change their shapes")[2].splitlines()
    assert text[2].split() == ["MatMul", "4", "2", "[[2,4],[4,4]]"]
    assert "Add" not in text[3]
    assert "[[2,4],[4,4]]" in report.to_html()


def test_shapes_that_stay_the_same_are_one_line(tmp_path):
    (tmp_path / "mindspore.record_shapes").write_bytes(call("Add", "[[2]]") * 5)
    assert "input shapes: constant, of all operators (1)" in str(analyse(tmp_path))


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("memory_usage", record(b"abc"), "blocks of memory that are too short"),
        ("memory_usage", block(2**63, 1, 2, 3), "blocks of memory with impossible numbers"),
        ("memory_usage", block(1, 1, 2**63, 3), "blocks of memory with impossible numbers"),
        ("memory_usage", block(1, 1, 2, 3)[:-1], "memory_usage is cut at the end"),
        ("record_shapes", call("Add", "[[2]]")[:-1], "record_shapes is cut at the end"),
        ("record_shapes", struct.pack("<HI", 1, 2**31), "record_shapes is damaged: what follows is not read"),
    ],
)
def test_records_that_are_none(tmp_path, name, content, reason):
    sound = {"memory_usage": block(1, 2, 3, 4), "record_shapes": call("Add", "[[2]]")}[name]
    (tmp_path / f"mindspore.{name}").write_bytes(sound + content)
    (recording,) = mindspore.parse(tmp_path)
    assert recording.skipped == {reason: 1}
    assert len(recording.tables) == 1
