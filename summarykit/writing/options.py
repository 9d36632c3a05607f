"""How a writer was asked to write; checked here, once."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

from summarykit.formats import FORMATS, names
from summarykit.immutable import Immutable
from summarykit.local import path_text, refuse_url
from summarykit.whole import check_integer as check_integer
from summarykit.writing.resumption import Resumption

ON_FULL = ("block", "drop")


class WriterOptions(Immutable):
    """Checked arguments of a writer.

    Attributes:
        directory: where the files go (see `of_rank`); made if it is absent.
        prefix: first part of every file name.
        suffix: last part of the names of MindSpore files.
        formats: names of the formats to write.
        max_file_size: bytes after which a new file begins; None for no limit.
        flush_secs: what was recorded is in the file after at most so many seconds.
        on_full: what ``record()`` does when more is waiting than the writer holds: ``"block"`` waits for at most 0.5 s before it drops,
            ``"drop"`` drops at once.
        resume: where this writer continues an earlier run.
        rank: rank of this process.
        raise_exception: raise storage errors and refused values in the calling thread.
        export: write tensors as ``.npy`` files too.
        fence: let copies of a PyTorch optimizer's parameters wait for its next step (see ``kinds.fence``).
        num_process: worker processes for heavy values; with 0 a thread does all.
    """

    directory: str
    prefix: str = "events"
    suffix: str = "_MS"
    formats: tuple[str, ...] = ("mindspore", "tensorboard")
    max_file_size: int | None = None
    flush_secs: float = 0.1
    on_full: str = "block"
    resume: Resumption | None = None
    rank: int = 0
    raise_exception: bool = False
    export: bool = False
    fence: bool = True
    num_process: int = 1

    def __post_init__(self) -> None:
        names.check_affixes(self.prefix, self.suffix)
        check_formats(self.formats)
        if self.max_file_size is not None:
            check_integer("max_file_size", self.max_file_size, 1)
        check_integer("rank", self.rank, 0)
        check_integer("num_process", self.num_process, 0)
        check_seconds("flush_secs", self.flush_secs)
        check_choice("on_full", self.on_full, ON_FULL)
        for argument in ("raise_exception", "export", "fence"):
            if not isinstance(getattr(self, argument), bool):
                raise TypeError(f"{argument} must be True or False, got {getattr(self, argument)!r}")

    def make_directory(self) -> None:
        """Make the directory.

        Raises:
            OSError: it cannot be made, or nothing can be written there.
        """
        os.makedirs(self.directory, exist_ok=True)
        if not os.access(self.directory, os.W_OK | os.X_OK):
            raise PermissionError(13, "the summary directory is not writable", self.directory)


def of_rank(directory: str, rank: int) -> str:
    """Where a rank writes whose run has this directory."""
    return os.path.join(directory, f"rank_{rank}") if rank else directory


def check_directory(argument: str, value: str | os.PathLike[str]) -> str:
    """A directory's path, absolute.

    Raises:
        TypeError: neither a str nor a path.
        ValueError: blank, or a URL (a `RemotePathError`).
    """
    text = path_text(argument, value)
    refuse_url(argument, text)
    return os.path.abspath(os.path.expanduser(text))


def check_seconds(argument: str, value: float) -> None:
    """Refuse what is not a positive, finite number of seconds."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{argument} must be a number of seconds, got {value!r}")
    if not 0 < value < float("inf"):
        raise ValueError(f"{argument} must be above 0 and finite, got {value!r}")


def check_choice(argument: str, value: str, allowed: Sequence[str]) -> None:
    """Refuse what is not one of ``allowed``."""
    if value not in allowed:
        raise ValueError(f"{argument} must be one of {', '.join(map(repr, allowed))}, got {value!r}")


def as_tuple(formats: Any) -> Any:
    """A choice of formats in whichever collection it comes; what is none is left to be refused."""
    return formats if isinstance(formats, str) or not isinstance(formats, Iterable) else tuple(formats)


def check_formats(formats: tuple[str, ...]) -> None:
    """Refuse what is no tuple, and an empty, repeating or unknown choice of formats."""
    if not isinstance(formats, tuple) or not formats or any(formats.count(name) > 1 for name in formats):
        raise ValueError(f"formats must be a tuple of different names out of {tuple(FORMATS)}, got {formats!r}")
    for name in formats:
        if name not in FORMATS:
            check_choice("formats", name, FORMATS.names())
