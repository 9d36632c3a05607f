"""Every way to compute a checksum gives the same one."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from testkit.records import crc32c as reference

from summarykit.formats import affine, crc, crc_numpy, framing

BUFFERS = st.binary(max_size=400)


def test_known_value():
    """RFC 3720, B.4: 32 bytes of zeros, and the usual check string."""
    assert crc.crc32c(bytes(32)) == 0x8A9136AA
    assert crc.crc32c(b"123456789") == 0xE3069283


@given(BUFFERS, BUFFERS)
def test_numpy_equals_package(first, second):
    assert crc_numpy.extend(0, first) == crc.crc32c(first) == reference(first)
    assert crc_numpy.extend(crc.crc32c(first), second) == crc.crc32c(first + second)


@pytest.mark.parametrize("length", [4096, 99_999, 1_000_003])
def test_numpy_on_long_buffers(length):
    data = np.random.default_rng(length).integers(0, 256, length, np.uint8).tobytes()
    assert crc_numpy.extend(0, data) == crc.crc32c(data)


def test_google_package_when_the_other_is_absent(monkeypatch):
    pytest.importorskip("google_crc32c")
    monkeypatch.setitem(sys.modules, "crc32c", None)
    extend = crc.choose(crc._by_crc32c, crc._by_google, crc._by_numpy)
    assert extend(0, memoryview(b"123456789")) == 0xE3069283


def test_numpy_when_both_are_absent(monkeypatch):
    monkeypatch.setitem(sys.modules, "crc32c", None)
    monkeypatch.setitem(sys.modules, "google_crc32c", None)
    assert crc.choose(crc._by_crc32c, crc._by_google, crc._by_numpy) is crc_numpy.extend


@given(st.integers(0, 1100), st.integers(0, 5), st.integers(0, 2**32))
def test_rows_equal_one_by_one(length, rows, seed):
    matrix = np.random.default_rng(seed).integers(0, 256, (rows, length), np.uint8)
    assert affine.crc_rows(matrix).tolist() == [crc.crc32c(row.tobytes()) for row in matrix]


@given(st.lists(st.integers(0, 2**32 - 1), min_size=1))
def test_mask_of_many_equals_mask_of_one(crcs):
    assert affine.mask(np.array(crcs, np.uint32)).tolist() == [crc.mask(each) for each in crcs]


@given(st.lists(st.binary(max_size=50), max_size=5))
def test_frame_does_not_depend_on_the_pieces(parts):
    whole = framing.frame(b"".join(parts))
    assert framing.frame(*parts) == whole
    assert len(whole) == sum(map(len, parts)) + framing.HEADER + framing.FOOTER
    assert whole[8:12] == crc.masked(whole[:8])
    assert whole[-4:] == crc.masked(b"".join(parts))
