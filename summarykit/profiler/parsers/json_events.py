"""Streams the events of a Chrome trace: an object with ``traceEvents`` or a bare array, whole, cut or garbled, never all at once.

A piece of text is cut behind the last ``},{`` in it and decoded as one array, which is as fast as the standard library gets. That cut is a
guess; that the piece is a valid array proves it right. Where it is not (the guess fell into a string or a nested list, or an event is
garbled), the piece is decoded one event at a time, which needs no guess.
"""

from __future__ import annotations

import json
import re
from codecs import getincrementaldecoder
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from summarykit.profiler.parsers.files import chunks

Event = dict[str, Any]

_DECODER = json.JSONDecoder(strict=False)    # control characters in names are common
_EVENTS = re.compile(rb'"traceEvents"\s*:\s*\[')
_SEPARATOR = re.compile(rb"\}\s*,\s*(?=\{)")
_NEXT = re.compile(r"\}\s*,\s*(?=\{)")
_BETWEEN = re.compile(r"[\s,]*")
_ESCAPE = re.compile(r'(\\["\\/bfnrtu])|\\(?=.)', re.DOTALL)
_TAIL = 1 << 16
_LONGEST = 1 << 24


class JsonEvents:
    """The events of one trace.

    Attributes:
        path: the file.
        meta: what stands beside the events; what follows them is there when all were given.
        skipped: what could not be read, by reason.
    """

    def __init__(self, path: Path) -> None:
        """Prepare to read a trace; nothing is opened yet."""
        self.path = path
        self.meta: dict[str, Any] = {}
        self.skipped: Counter[str] = Counter()
        self._ended = False

    def batches(self) -> Iterator[list[Event]]:
        """Give the events, some thousand at a time.

        Raises:
            OSError: the file cannot be opened.
        """
        pieces = chunks(self.path, self.skipped)
        rest = self._after_head(pieces)
        for piece in pieces:
            rest += piece
            if self._ended:
                rest = rest[:_LONGEST]
                continue
            events, rest = self._decode(rest)
            yield events
        if not self._ended:
            events, rest = self._one_by_one(rest, last=True)
            yield events
        self._read_foot(rest)

    def _after_head(self, pieces: Iterator[bytes]) -> bytes:
        """Read up to the first event; gives what is left of what was read."""
        text = b""
        for piece in pieces:
            text += piece
            found = text.lstrip(b"\xef\xbb\xbf \t\r\n")
            if found.startswith(b"["):
                return found[1:]
            if start := _EVENTS.search(text):
                self._read_meta(text[: start.start()].rstrip().rstrip(b",") + b"}")
                return text[start.end() :]
            if len(text) > _LONGEST:
                break
        self.skipped["no events in it"] += 1
        self._ended = True
        return b""

    def _decode(self, text: bytes) -> tuple[list[Event], bytes]:
        """The events of a piece and what is left of it."""
        cut = _last_separator(text)
        if cut is None:
            return ([], text) if len(text) < _LONGEST else self._one_by_one(text, last=False)
        try:
            found = _DECODER.decode(f"[{text[: cut.start() + 1].decode(errors='replace').lstrip(', ')}]")
        except (ValueError, RecursionError):
            return self._one_by_one(text, last=False)
        return self._objects(found), text[cut.end() :]

    def _one_by_one(self, piece: bytes, *, last: bool) -> tuple[list[Event], bytes]:
        """The same, without a guess where events begin; steps over those that are garbled."""
        decoder = getincrementaldecoder("utf-8")("replace")
        text = _ESCAPE.sub(lambda escape: escape[1] or r"\\", decoder.decode(piece, last))
        pending, found = decoder.getstate()[0], []    # the first bytes of a character that is cut
        position = _BETWEEN.match(text).end()    # type: ignore[union-attr]  # it matches the empty text, too
        while position < len(text) and not self._at_end(text, position):
            try:
                event, position = _DECODER.raw_decode(text, position)
                found.append(event)
            except (ValueError, RecursionError) as error:
                if not last and len(text) < _LONGEST and _is_cut(text, error):
                    break
                position = self._step_over(text, position, last)
            position = _BETWEEN.match(text, position).end()    # type: ignore[union-attr]
        return self._objects(found), text[position:].encode() + pending

    def _at_end(self, text: str, position: int) -> bool:
        self._ended = text[position] == "]"
        return self._ended

    def _step_over(self, text: str, position: int, last: bool) -> int:
        """Where the next event may begin."""
        following = _NEXT.search(text, position + 1)
        self.skipped["cut at the end of the file" if last and following is None else "garbled events"] += 1
        return following.end() if following else len(text)

    def _objects(self, found: list[Any]) -> list[Event]:
        events = [event for event in found if type(event) is dict]
        if len(events) < len(found):
            self.skipped["events that are no objects"] += len(found) - len(events)
        return events

    def _read_foot(self, text: bytes) -> None:
        foot = text.strip().removeprefix(b"]").strip().removeprefix(b",")
        if foot.strip(b"} \t\r\n"):
            self._read_meta(b"{" + foot)

    def _read_meta(self, text: bytes) -> None:
        try:
            found = _DECODER.decode(text.decode(errors="replace"))
        except (ValueError, RecursionError):
            self.skipped["garbled description of the trace"] += 1
            return
        if isinstance(found, dict):
            self.meta.update(found)


def _last_separator(text: bytes) -> re.Match[bytes] | None:
    """The last place between two objects, looked for in the last part only."""
    found = None
    for found in _SEPARATOR.finditer(text, max(0, len(text) - _TAIL)):    # noqa: B007  # the last one is wanted
        pass
    return found


def _is_cut(text: str, error: Exception) -> bool:
    """Whether a text is not valid just because it goes on in the next piece."""
    if not isinstance(error, json.JSONDecodeError):
        return False
    return error.msg.startswith("Unterminated string") or error.pos >= len(text) - 8
