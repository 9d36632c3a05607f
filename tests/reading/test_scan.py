"""Frames of damaged files: what is whole comes back, what is not is reported, nothing raises and nothing is believed."""

from __future__ import annotations

import struct
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from testkit import records

from summarykit.reading.scan import BLOCK, Scanner
from summarykit.reading.spans import Long

HUGE = struct.pack("<Q", 2**62)


def frame(payload: bytes) -> bytes:
    return records.frame(payload)


def scanned(path, scanner: Scanner | None = None) -> tuple[Scanner, list[tuple[int, bytes]]]:
    """All records that a scan gives out: offset of the frame, payload."""
    scanner = scanner or Scanner(path)
    found = []
    for span in scanner.poll():
        if isinstance(span, Long):
            with open(path, "rb") as file:
                file.seek(span.offset)
                found.append((span.offset - 12, file.read(span.length)))
        else:
            found += [(offset - 12, row.tobytes()) for offset, row in zip(span.offsets.tolist(), span.rows, strict=True)]
    return scanner, sorted(found)


def write(path, data: bytes):
    path.write_bytes(data)
    return path


def sound(frames: list[bytes]) -> list[tuple[int, bytes]]:
    offsets = np.cumsum([0] + [len(each) for each in frames])
    return [(int(offset), each[12:-4]) for offset, each in zip(offsets, frames, strict=False)]


FRAMES = [frame(bytes([number]) * length) for number, length in enumerate([5, 0, 40, 5, 300, 5, 1, 7, 5, 40])]


def test_all_records_of_a_sound_file(tmp_path):
    scanner, found = scanned(write(tmp_path / "f", b"".join(FRAMES)))
    assert found == sound(FRAMES)
    assert (scanner.damage, scanner.truncated, scanner.records) == ([], None, len(FRAMES))


def test_an_empty_file(tmp_path):
    scanner, found = scanned(write(tmp_path / "f", b""))
    assert (found, scanner.damage, scanner.truncated) == ([], [], None)


@pytest.mark.parametrize("cut", [1, 4, 7, 11, 12, 13, 55])
def test_cr2_a_cut_tail_is_truncated_and_not_damaged(tmp_path, cut):
    data = b"".join(FRAMES)
    scanner, found = scanned(write(tmp_path / "f", data[:-cut]))
    assert found == sound(FRAMES)[:-1]
    assert scanner.damage == []
    assert scanner.truncated == len(data) - len(FRAMES[-1])


def test_a_torn_record_that_is_completed_later_is_read_then(tmp_path):
    data = b"".join(FRAMES)
    path = write(tmp_path / "f", b"")
    scanner, collected = Scanner(path), []
    for end in range(0, len(data) + 1, 3):
        write(path, data[:end])
        collected += scanned(path, scanner)[1]
        assert scanner.damage == []
    write(path, data)
    collected += scanned(path, scanner)[1]
    assert collected == sound(FRAMES)
    assert scanner.truncated is None


@pytest.mark.parametrize("number", range(len(FRAMES)))
@pytest.mark.parametrize("place", ["length", "length checksum", "data", "data checksum"])
def test_cr3_one_flipped_byte_costs_one_record(tmp_path, number, place):
    frames = list(FRAMES)
    at = {"length": 1, "length checksum": 9, "data": 12, "data checksum": -2}[place]
    broken = bytearray(frames[number])
    broken[at] ^= 0x40
    frames[number] = bytes(broken)
    scanner, found = scanned(write(tmp_path / "f", b"".join(frames)))
    expected = sound(FRAMES)
    begin, _ = expected.pop(number)
    assert found == expected
    if number == len(FRAMES) - 1 and place != "data" and scanner.truncated is not None:
        return
    (lost,) = scanner.damage
    assert (lost.offset, lost.length, lost.records) == (begin, len(FRAMES[number]), 1)
    assert str(begin) in str(lost)


def test_garbage_between_records_is_skipped(tmp_path):
    garbage = bytes(range(256)) * 3 + bytes(500) + HUGE
    data = FRAMES[0] + garbage + b"".join(FRAMES[2:])
    scanner, found = scanned(write(tmp_path / "f", data))
    assert [payload for _, payload in found] == [each[12:-4] for each in [FRAMES[0], *FRAMES[2:]]]
    (lost,) = scanner.damage
    assert (lost.offset, lost.length) == (len(FRAMES[0]), len(garbage))


def test_a_torn_record_in_the_middle_does_not_hide_what_follows(tmp_path):
    torn = FRAMES[4][:100]
    data = FRAMES[0] + torn + b"".join(FRAMES[5:])
    scanner, found = scanned(write(tmp_path / "f", data))
    assert [payload for _, payload in found] == [each[12:-4] for each in [FRAMES[0], *FRAMES[5:]]] or scanner.truncated == len(FRAMES[0])


def test_zeros_at_the_end_are_damage(tmp_path):
    scanner, found = scanned(write(tmp_path / "f", b"".join(FRAMES) + bytes(5000)))
    assert found == sound(FRAMES)
    assert sum(each.length for each in scanner.damage) == 5000
    assert scanner.truncated is None


def test_records_that_follow_zeros_later_are_read(tmp_path):
    path = write(tmp_path / "f", FRAMES[0] + bytes(100))
    scanner = Scanner(path)
    scanned(path, scanner)
    write(path, FRAMES[0] + bytes(100) + FRAMES[2])
    assert [payload for _, payload in scanned(path, scanner)[1]] == [FRAMES[2][12:-4]]
    assert [(each.offset, each.length) for each in scanner.damage] == [(len(FRAMES[0]), 100)]


def test_a_record_longer_than_a_block(tmp_path, long_frame):
    frames = [FRAMES[0], long_frame, FRAMES[2]]
    scanner, found = scanned(write(tmp_path / "f", b"".join(frames)))
    assert found == sound(frames)
    assert scanner.damage == []


@pytest.mark.parametrize("followed", [True, False])
def test_damage_in_a_record_longer_than_a_block_costs_that_record(tmp_path, long_frame, followed):
    broken = bytearray(long_frame)
    broken[BLOCK] ^= 1
    frames = [FRAMES[0], bytes(broken)] + [FRAMES[2]] * followed
    scanner, found = scanned(write(tmp_path / "f", b"".join(frames)))
    assert [payload for _, payload in found] == [FRAMES[0][12:-4]] + [FRAMES[2][12:-4]] * followed
    assert [(each.offset, each.length, each.records) for each in scanner.damage] == [(len(FRAMES[0]), len(broken), 1)]


def test_a_torn_record_longer_than_a_block_is_truncated(tmp_path, long_frame):
    path = write(tmp_path / "f", FRAMES[0] + long_frame[:-5])
    scanner, found = scanned(path)
    assert [payload for _, payload in found] == [FRAMES[0][12:-4]]
    assert (scanner.damage, scanner.truncated) == ([], len(FRAMES[0]))
    write(path, FRAMES[0] + long_frame + FRAMES[2])
    assert len(scanned(path, scanner)[1]) == 2


def test_a_short_record_across_the_border_of_two_blocks(tmp_path):
    short = [frame(bytes([number % 251]) * 50) for number in range(64)] * (2 * BLOCK // (64 * 66) + 1)
    scanner, found = scanned(write(tmp_path / "f", b"".join(short)))
    assert len(found) == len(short)
    assert scanner.damage == []


@pytest.mark.slow
def test_cr3_many_damages_in_a_large_file_take_no_quadratic_time(tmp_path):
    one = frame(b"x" * 50)
    data = bytearray(one * 200_000)
    data[3 :: len(one) * 100] = b"\x07" * len(data[3 :: len(one) * 100])    # every hundredth length field
    scanner, found = scanned(write(tmp_path / "f", bytes(data)))
    assert len(found) == 198_000
    assert len(scanner.damage) == 2000


@pytest.fixture(scope="module")
def long_frame() -> bytes:
    from summarykit.formats import framing

    return framing.frame(np.random.default_rng(0).bytes(2 * BLOCK + 123))


@st.composite
def damaged(draw) -> tuple[list[bytes], bytes, set[int]]:
    """A file of records, the same after some harm, and the numbers of the records that were touched."""
    lengths = draw(st.lists(st.sampled_from([0, 1, 5, 5, 5, 30, 200]), min_size=1, max_size=30))
    frames = [frame(draw(st.binary(min_size=length, max_size=length))) for length in lengths]
    data = bytearray(b"".join(frames))
    ends = np.cumsum([len(each) for each in frames])
    touched = set()
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(data) - 1))
        data[at] ^= draw(st.integers(1, 255))
        touched.add(int(np.searchsorted(ends, at, side="right")))
    cut = draw(st.integers(0, 60))
    if cut:
        del data[len(data) - min(cut, len(data)) :]
        touched |= {number for number, end in enumerate(ends) if end > len(data)}
    return frames, bytes(data), touched


@given(damaged())
@settings(max_examples=300)
def test_every_undamaged_record_comes_back(tmp_path_factory, case):
    """And nothing that was never written: a flipped bit is always noticed."""
    frames, data, touched = case
    scanner, found = scanned(write(tmp_path_factory.mktemp("f") / "f", data))
    originals = sound(frames)
    assert {each for number, each in enumerate(originals) if number not in touched} <= set(found)
    assert set(found) <= set(originals)
    covered = sum(each.length for each in scanner.damage) + sum(len(payload) + 16 for _, payload in found)
    tail = len(data) - scanner.truncated if scanner.truncated is not None else 0
    assert covered + tail == len(data)


@given(st.binary(max_size=3000), st.integers(0, 2**64 - 1))
@settings(max_examples=200)
def test_garbage_raises_nothing_and_allocates_little(tmp_path_factory, garbage, length):
    """No allocation follows from a length field, also where its checksum is right."""
    claimed = struct.pack("<Q", length)
    header = claimed + struct.pack("<I", records.masked(claimed))
    path = write(tmp_path_factory.mktemp("f") / "f", FRAMES[2] + header + garbage)
    scanned(path)
    tracemalloc.start()
    try:
        scanner, found = scanned(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (0, FRAMES[2][12:-4]) in found
    assert peak < 4 << 20
    assert scanner.damage or scanner.truncated is not None or len(found) > 1
