"""The sound records of a file, block by block; what is damaged is skipped and reported, a torn tail is left for the next look.

No length field is trusted beyond the bytes that are there. A record with a wrong data checksum is one damaged record where another one
follows at the place that its length tells; else, and wherever a length's own checksum is wrong, the next sound record is searched byte by
byte. A tail that holds the beginning of a record only is *truncated*: not damage, for its writer may be about to complete it.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np

from summarykit.formats import crc
from summarykit.formats.framing import FOOTER, HEADER
from summarykit.reading import damage, resync, spans
from summarykit.reading.damage import Damage
from summarykit.reading.frames import FRAME, Walker
from summarykit.reading.spans import Group, Long, Span
from summarykit.shapes import Array, Ints

BLOCK = 4 << 20
"""Bytes that are read at a time."""

_NARROW = 1 << 16    # after damage few bytes are walked at first: the next damage may be near


class Scanner:
    """Reads one file from front to end, and goes on where it stopped when asked again.

    Attributes:
        path: the file.
        offset: bytes that are done with: where a torn record begins, else the end of the file.
        size: bytes that the file had at the last look.
        records: sound records so far.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.offset = 0
        self.size = 0
        self.records = 0
        self._walker = Walker()
        self._damage: list[Damage] = []
        self._lost: tuple[int, str] | None = None    # since where, and why, the next sound record is searched
        self._torn: int | None = None                # where, during a search, the beginning of a record was seen

    @property
    def damage(self) -> list[Damage]:
        """What was skipped so far."""
        if self._lost is None:
            return list(self._damage)
        return [*self._damage, self._damaged(self._lost[0], self.size, self._lost[1])]

    @property
    def truncated(self) -> int | None:
        """Offset of a torn record at the end of the file; None where there is none."""
        return self.offset if self._lost is None and self.offset < self.size else None

    def poll(self) -> Iterator[Span | Long]:
        """The sound records that came since the last call. A span's rows are good until the next one is asked for.

        Raises:
            OSError: the file cannot be opened or read.
        """
        with open(self.path, "rb", buffering=0) as file:
            self.size = max(self.offset, os.fstat(file.fileno()).st_size)
            if self.size > self.offset:
                yield from self._blocks(file)
        self._settle()

    def _blocks(self, file: BinaryIO) -> Iterator[Span | Long]:
        buffer = np.empty(min(BLOCK, self.size - self.offset), np.uint8)
        filled = 0
        while True:
            wanted = min(len(buffer), self.size - self.offset)
            filled += _read(file, self.offset + filled, buffer[filled:wanted])
            at_end = self.offset + filled >= self.size or filled < wanted
            used = yield from self._block(file, buffer[:filled], at_end)
            if not used and not at_end:
                used = yield from self._long(file)
                if not used:
                    return
                filled = 0
            self.offset += used
            filled = max(0, filled - used)
            if at_end:
                return
            buffer[:filled] = buffer[used : used + filled]

    def _block(self, file: BinaryIO, data: Array, at_end: bool) -> Generator[Span, None, int]:
        """Handle the records that lie whole in a block; gives the number of bytes done with."""
        position, window = 0, len(data)
        limit = len(data) if at_end else len(data) - HEADER    # so that the header behind each record is at hand
        lost = 0 if self._lost is not None else None
        while True:
            if lost is not None:
                found = self._search(file, data, lost)
                if found is None:
                    return max(0, len(data) - HEADER + 1)
                position, window = found, _NARROW
            position, lost = yield from self._accept(data, position, min(limit, position + window))
            window *= 4
            if lost is None:
                length = resync.header(data, position) if position + HEADER <= len(data) else 0
                if length is None:
                    lost = self._lose(position, damage.BAD_LENGTH)
                elif position + length + FRAME > limit:
                    return position

    def _accept(self, data: Array, position: int, stop: int) -> Generator[Span, None, tuple[int, int | None]]:
        """Give out what is sound in ``data[position:stop]``; tells where it ends, and from where on to search, if at all."""
        starts, lengths = self._walker.walk(data, position, stop)
        checked = list(spans.groups(data, starts, lengths))
        chained, bad = _judge(checked, len(starts))
        end = int(starts[chained - 1] + lengths[chained - 1]) + FRAME if chained else position
        lost: int | None = None
        if chained < len(starts):
            lost = self._lose(end, damage.BAD_LENGTH)
        if len(bad) and bad[-1] == chained - 1 and not self._goes_on(data, end):
            end = int(starts[bad[-1]])
            lost = self._lose(end, damage.BAD_DATA)
            bad = bad[:-1]
        for number in bad.tolist():
            begin = self.offset + int(starts[number])
            damage.add(self._damage, self._damaged(begin, begin + int(lengths[number]) + FRAME, damage.BAD_DATA))
        yield from self._sound(checked, starts, chained)
        return end, lost

    def _sound(self, checked: list[Group], starts: Ints, chained: int) -> Iterator[Span]:
        for group in checked:
            good = group.data_ok & (group.members < chained)
            if good.any():
                whole = bool(good.all())
                members = group.members if whole else group.members[good]
                self.records += len(members)
                yield Span(group.payloads if whole else group.payloads[good], starts[members] + (self.offset + HEADER))

    def _goes_on(self, data: Array, position: int) -> bool:
        """Whether another record, or the end of the file, is at ``position``."""
        return position + HEADER > len(data) or resync.header(data, position) is not None

    def _lose(self, position: int, reason: str) -> int:
        """From ``position`` (in the block) on nothing is trusted; gives where the search begins."""
        self._lost = self.offset + position, reason
        return position + 1

    def _search(self, file: BinaryIO, data: Array, start: int) -> int | None:
        """Where in the block the next sound record begins."""
        for position, length in resync.candidates(data, start):
            offset = self.offset + position
            if offset + length + FRAME > self.size:
                self._torn = offset if self._torn is None else self._torn
            elif _data_is_sound(file, offset, length):
                self._found(offset)
                return position
        return None

    def _found(self, offset: int) -> None:
        """Records go on at ``offset``: what was lost before it is damage."""
        if self._lost is not None:
            damage.add(self._damage, self._damaged(self._lost[0], offset, self._lost[1]))
        self._lost = self._torn = None

    def _settle(self) -> None:
        """At the end of a look: of a search, keep the beginning of a record that may yet be completed."""
        if self._torn is not None:
            self.offset = self._torn
            self._found(self._torn)

    def _long(self, file: BinaryIO) -> Generator[Long, None, int]:
        """Handle the record at ``offset``, which does not fit a block; gives the number of bytes done with, 0 where it is torn."""
        head = np.empty(HEADER, np.uint8)
        _read(file, self.offset, head)
        length = resync.header(head, 0)
        if length is None or self.offset + length + FRAME > self.size:
            return 0
        end = self.offset + length + FRAME
        if _data_is_sound(file, self.offset, length):
            self.records += 1
            yield Long(self.offset + HEADER, length)
        elif end + HEADER > self.size or (_read(file, end, head) and resync.header(head, 0) is not None):
            damage.add(self._damage, self._damaged(self.offset, end, damage.BAD_DATA))
        else:
            return self._lose(0, damage.BAD_DATA)
        return length + FRAME

    def _damaged(self, begin: int, end: int, reason: str) -> Damage:
        return Damage(self.path, begin, end - begin, reason)


def _judge(checked: list[Group], count: int) -> tuple[int, Ints]:
    """How many records are chained by sound headers, and the numbers of those among them with bad data, ascending."""
    broken = [group.members[~group.header_ok] for group in checked]
    chained = min((int(members[0]) for members in broken if len(members)), default=count)
    bad = np.concatenate([group.members[~group.data_ok] for group in checked] or [np.empty(0, np.int64)])
    return chained, np.sort(bad[bad < chained])


def _read(file: BinaryIO, offset: int, into: Array) -> int:
    """Fill ``into`` from ``offset`` on as far as the file reaches; gives the number of bytes."""
    done = 0
    view = into.data
    while done < len(view):
        got = os.preadv(file.fileno(), [view[done:]], offset + done)
        if not got:
            break
        done += got
    return done


def _data_is_sound(file: BinaryIO, offset: int, length: int) -> bool:
    """Verify the data checksum of the record at ``offset``, a block at a time."""
    checksum, at, end = 0, offset + HEADER, offset + HEADER + length
    block = np.empty(min(BLOCK, length + FOOTER), np.uint8)
    while at < end:
        got = _read(file, at, block[: end - at])
        if not got:
            return False
        checksum = crc.extend(checksum, block[:got])
        at += got
    return _read(file, end, block[:FOOTER]) == FOOTER and int(block[:FOOTER].view("<u4")[0]) == crc.mask(checksum)
