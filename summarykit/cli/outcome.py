"""Exit codes, and how an error becomes one line and one of them.

=====  ====================================================================================
code   meaning
=====  ====================================================================================
0      done; of ``verify``: everything is sound
1      ``verify`` found damage
2      could not be done: wrong arguments, nothing to read, an output that cannot be written
130    interrupted (Ctrl-C)
141    who read the output went away (``summarykit ls | head -1``)
=====  ====================================================================================
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Callable

from summarykit.errors import SummaryKitError

OK, DAMAGE, FAILED, INTERRUPTED, PIPE_CLOSED = 0, 1, 2, 130, 141


class CommandError(SummaryKitError):
    """A command cannot do what it was asked to; the message says why, in one line."""


def of(work: Callable[[], int]) -> int:
    """Do the work; expected errors become a line on standard error and an exit code."""
    _escape_what_the_terminal_cannot_show()
    try:
        code = work()
        sys.stdout.flush()    # here, where a closed pipe can still be answered for
    except BrokenPipeError:
        _discard_output()
        return PIPE_CLOSED
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemExit as end:    # argparse ends the process after --help
        return end.code if isinstance(end.code, int) else FAILED
    except (SummaryKitError, OSError) as error:
        complain(f"error: {_reason(error)}")
        _settle_output()
        return FAILED
    return code


def complain(message: str) -> None:
    """Print a line on standard error."""
    print(f"summarykit: {message}", file=sys.stderr)


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror if error.filename is None else f"{os.fsdecode(error.filename)}: {error.strerror}"
    return " ".join(str(error).split()) or type(error).__name__


def _escape_what_the_terminal_cannot_show() -> None:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _settle_output() -> None:
    """Write what was printed before the error, unless that is what failed (``> /dev/full``)."""
    try:
        sys.stdout.flush()
    except OSError:
        _discard_output()


def _discard_output() -> None:
    """Let nothing be written to the broken output when the interpreter flushes its streams at exit."""
    with contextlib.suppress(OSError, ValueError):    # a stream that is no file has nothing to flush there
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
