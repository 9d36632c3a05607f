"""Tags are opaque text: kept to the byte, never rewritten."""

from __future__ import annotations

LONGEST = 65_535
"""UTF-8 bytes of the longest tag."""


def check_tag(argument: str, tag: object) -> None:
    """Refuse what is no tag.

    Raises:
        TypeError: not a str.
        ValueError: empty, with a NUL, longer than ``LONGEST`` bytes, or not encodable as UTF-8 (a lone surrogate).
    """
    if not isinstance(tag, str):
        raise TypeError(f"{argument} must be a str, got {tag!r}")
    if not tag or "\0" in tag:
        raise ValueError(f"{argument} {tag!r} is not a tag: it must not be empty nor hold a NUL character")
    try:
        length = len(tag.encode())
    except UnicodeEncodeError as error:
        raise ValueError(f"{argument} {tag!r} is not a tag: {error}") from error
    if length > LONGEST:
        raise ValueError(f"{argument} {tag[:40]!r}… is not a tag: {length} bytes, allowed are {LONGEST}")
