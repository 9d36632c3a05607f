"""A record file takes whole records, through limits that cut a write short."""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from testkit.records import frame, walk

from summarykit.formats.chunk import chunk
from summarykit.writing import file
from summarykit.writing.file import Parcel, RecordFile

# A child process may only write files of so many bytes: the system then takes a part of a write, and refuses the next.
LIMITED = """
import resource, sys
from pathlib import Path
from summarykit.formats.chunk import chunk
from summarykit.formats import framing
from summarykit.writing.file import Parcel, RecordFile

limit, path = int(sys.argv[1]), Path(sys.argv[2])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
file, outcomes = RecordFile(path), []
for place in range(20):
    file.add(chunk([[framing.frame(bytes([place]) * 30)] for _ in range(5)]), Parcel(5, 1, lambda *outcome: outcomes.append(outcome)))
    try:
        file.push()
    except OSError:
        pass
assert file.waiting, "the limit was meant to bite"
if sys.argv[3] == "room again":
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    file.push()
    assert not file.waiting
else:
    file.give_up("full")
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))    # for what is printed
file.close()
print(sum(written for written, _, _ in outcomes), sum(lost for _, lost, _ in outcomes), path.stat().st_size)
"""


@pytest.mark.parametrize("limit", [1, 45, 46, 47, 1000, 1013, 4000])
def test_what_did_not_fit_goes_first_when_there_is_room(run_script, tmp_path, limit):
    path = tmp_path / "records"
    finished = run_script(LIMITED, limit, path, "room again")
    assert finished.stdout.split() == ["100", "0", str(100 * 46)]
    assert [payload for _, payload in walk(path.read_bytes())] == [bytes([place]) * 30 for place in range(20) for _ in range(5)]


@pytest.mark.parametrize("limit", [1, 45, 46, 47, 1000, 1013, 4000])
def test_giving_up_leaves_whole_records_and_counts_the_rest(run_script, tmp_path, limit):
    path = tmp_path / "records"
    finished = run_script(LIMITED, limit, path, "give up")
    whole = limit // 46
    assert finished.stdout.split() == [str(whole), str(100 - whole), str(whole * 46)]
    assert len(list(walk(path.read_bytes()))) == whole


@given(st.lists(st.integers(0, 9), min_size=1, max_size=4))
def test_a_parcel_counts_as_written_what_all_files_have(kept):
    outcomes = []
    parcel = Parcel(9, len(kept), lambda *outcome: outcomes.append(outcome))
    for each in kept:
        parcel.settle(each, "because")
    ((written, lost, _),) = outcomes
    assert (written, lost) == (min(kept), 9 - min(kept))


@given(st.lists(st.binary(max_size=40), min_size=1, max_size=20), st.data())
def test_a_chunk_splits_at_records(payloads, data):
    whole = chunk([[frame(payload)] for payload in payloads])
    first, rest = whole.split(data.draw(st.integers(0, len(payloads))))
    assert b"".join([*first.data, *rest.data]) == b"".join(map(frame, payloads))
    assert [payload for _, payload in walk(b"".join(first.data))] == payloads[: len(first.ends)]
    assert first.nbytes + rest.nbytes == whole.nbytes


def test_a_name_that_exists_is_refused(tmp_path):
    (tmp_path / "there").write_bytes(b"of somebody else")
    with pytest.raises(FileExistsError):
        RecordFile(tmp_path / "there")


def test_small_chunks_are_written_in_one_call(tmp_path, monkeypatch):
    """At each the thread lets go of Python's lock; a large one is not copied for that."""
    sizes, write = [], os.write
    record = RecordFile(tmp_path / "records")
    large, outcomes = np.zeros(file.JOINED_BYTES, np.uint8), []
    for payload in (b"a", b"b", memoryview(large), b"c", b"d"):
        record.add(chunk([[frame(payload)]]), Parcel(1, 1, lambda *outcome: outcomes.append(outcome)))
    monkeypatch.setattr(os, "write", lambda fd, data: sizes.append(len(data)) or write(fd, data))
    record.push()
    record.close()
    assert sizes == [2 * 17, 16 + large.nbytes, 2 * 17]
    assert outcomes == [(1, 0, "")] * 5
    assert [bytes(payload) for _, payload in walk((tmp_path / "records").read_bytes())] == [b"a", b"b", bytes(large), b"c", b"d"]
