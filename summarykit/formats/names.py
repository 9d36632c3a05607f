"""File names: generated, never derived from tags; each matches one viewer and only that one.

MindInsight reads what has ``summary.<digits>`` in its name, TensorBoard what has ``tfevents``; a file that both took for theirs would
show nonsense in one of them. MindInsight orders files by the stamp *as a string*, hence ten digits, and purges by it: a stamp is never
smaller than one that is there already, however the clock was set.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from summarykit.immutable import Immutable

# Patterns as text: `re` keeps them compiled, and most runs need none of them.
_NAME = (
    r"(?P<prefix>.+)\.out\.(?:(?P<mindspore>events\.summary)|tfevents)\.(?P<stamp>\d{10})\.(?P<rank>\d+)\.(?P<host>[A-Za-z0-9-]+)"
    r"\.(?P<pid>\d+)\.(?P<counter>\d{6,}?)(?P<suffix>(?:[^\d].*)?)"
)
_STAMP = r"(?:summary|tfevents)\.(\d{10})(?!\d)"
_SUMMARY = r"summary\.(\d+)"    # what MindInsight looks for
_OF_HOSTS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-")
_OF_AFFIXES = _OF_HOSTS | {"_", "."}
_LARGEST_STAMP = 9_999_999_999
_LONGEST = 64    # with a host's name of 64 letters a name of a file is as long as file systems allow

LINEAGE = "_lineage"
"""Ends the name of a file that holds lineage, and no values."""

USUAL = ("events", "_MS")
"""Prefix and suffix of almost all files, which need no check."""


class Stem(Immutable):
    """What the two files of one writer have in common.

    Attributes:
        stamp: seconds since the epoch, ten digits; unique in its directory.
        rank: rank of the process in a distributed run.
        host: name of the machine.
        pid: process that writes.
        counter: number of the writer in its process.
    """

    stamp: int
    rank: int
    host: str
    pid: int
    counter: int

    def __str__(self) -> str:
        return f"{self.stamp:010d}.{self.rank}.{clean_host(self.host)}.{self.pid}.{self.counter:06d}"


class FileName(Immutable):
    """A name taken apart again; ``twin`` is equal for the two files of one writer."""

    format: str
    prefix: str
    stem: Stem
    suffix: str

    @property
    def twin(self) -> tuple[str, Stem]:
        """What a file and its twin have in common."""
        return self.prefix, self.stem


def mindspore(prefix: str, stem: Stem, suffix: str) -> str:
    """Name of a file that MindInsight reads."""
    return f"{prefix}.out.events.summary.{stem}{suffix}"


def lineage(prefix: str, stem: Stem, suffix: str) -> str:
    """Name of a file in which MindInsight looks for lineage."""
    return f"{mindspore(prefix, stem, suffix)}{LINEAGE}"


def tensorboard(prefix: str, stem: Stem) -> str:
    """Name of a file that TensorBoard reads."""
    return f"{prefix}.out.tfevents.{stem}"


@lru_cache(maxsize=1024)    # asked for each point that comes while a run is followed
def parse(name: str) -> FileName | None:
    """Take a name apart; None where it is not one of ours."""
    match = re.fullmatch(_NAME, name)
    if match is None:
        return None
    stem = Stem(int(match["stamp"]), int(match["rank"]), match["host"], int(match["pid"]), int(match["counter"]))
    return FileName("mindspore" if match["mindspore"] else "tensorboard", match["prefix"], stem, match["suffix"])


def clean_host(host: str) -> str:
    """A machine's name in letters, digits and hyphens."""
    cleaned = host if _OF_HOSTS.issuperset(host) else "".join(letter if letter in _OF_HOSTS else "-" for letter in host)
    return cleaned.replace("tfevents", "tf-events") or "localhost"


def next_stamp(now: float, names: Iterable[str]) -> int:
    """A stamp for a new file among files of these names: ``max(now, largest stamp there + 1)``."""
    stamps = (int(match[1]) for name in names if (match := re.search(_STAMP, name)))
    return min(max(int(now), max(stamps, default=0) + 1), _LARGEST_STAMP)


def check_affixes(prefix: str, suffix: str) -> None:
    """Refuse a prefix or suffix that a viewer would misread.

    Raises:
        TypeError: not a string.
        ValueError: characters outside ``A-Z a-z 0-9 _ . -``, or too many, an empty prefix, or a name that the wrong viewer would read.
    """
    check_affix("file_prefix", prefix)
    check_affix("file_suffix", suffix)
    if not prefix:
        raise ValueError("file_prefix '' is empty: give at least one character, such as 'events'")
    if (prefix, suffix) != USUAL:
        _check_for_viewers(prefix, suffix)


def check_affix(argument: str, text: str) -> None:
    """Refuse what may be no part of a file name.

    Raises:
        TypeError: not a string.
        ValueError: characters outside ``A-Z a-z 0-9 _ . -``, or too many.
    """
    if not isinstance(text, str):
        raise TypeError(f"{argument} must be a str, got {text!r}")
    if len(text) > _LONGEST:
        raise ValueError(f"{argument} {text[:_LONGEST]!r}… has {len(text)} characters: a file's name has room for {_LONGEST}")
    if not _OF_AFFIXES.issuperset(text):
        raise ValueError(f"{argument} {text!r}: only letters, digits, '_', '.' and '-' are allowed")


def _check_for_viewers(prefix: str, suffix: str) -> None:
    stem = Stem(1_700_000_000, 0, "host", 1, 0)
    ours, theirs = mindspore(prefix, stem, suffix), tensorboard(prefix, stem)
    given = f"file_prefix {prefix!r}, file_suffix {suffix!r}"
    if "tfevents" in ours:
        raise ValueError(f"{given}: TensorBoard would take a MindSpore file named {ours!r} for its own")
    if re.search(_SUMMARY, theirs) or re.findall(_SUMMARY, ours) != [str(stem.stamp)]:
        raise ValueError(f"{given}: must not hold 'summary.' and a digit, MindInsight looks for that")
    if ours.endswith(("_lineage", "_explain", ".pb")) or parse(ours) != FileName("mindspore", prefix, stem, suffix):
        raise ValueError(f"{given}: a suffix must not start with a digit nor end in '_lineage', '_explain' or '.pb' (MindInsight's names)")
