"""Arguments: which command, and what it takes. Only the command that is asked for is imported."""

from __future__ import annotations

import argparse
import shutil
import textwrap
from collections.abc import Sequence
from typing import NoReturn

from summarykit import __version__
from summarykit.cli.command import Command
from summarykit.cli.outcome import FAILED, complain
from summarykit.registry import Registry

_ABOUT = "Look at summary files, check and convert them: those of summarykit, MindSpore, TensorFlow, PyTorch."
_EXIT_CODES = """\
exit codes:
  0    done; of verify: everything is sound
  1    verify found damage
  2    not done: wrong arguments, nothing to read, output cannot be written
  130  interrupted
  141  who read the output went away
"""


class _Parser(argparse.ArgumentParser):
    """Tells a wrong argument in one line."""

    def error(self, message: str) -> NoReturn:
        """Tell what is wrong, and end."""
        command = self.prog.partition(" ")[2]
        complain(f"error: {f'{command}: ' if command else ''}{message} (see {self.prog} --help)")
        self.exit(FAILED)


class _Front(_Parser):
    """Before a command is chosen; commands are imported for the help only."""

    def __init__(self, commands: Registry[Command]) -> None:
        super().__init__(
            prog="summarykit",
            usage="summarykit [-h] [--version] COMMAND ...",
            epilog=_EXIT_CODES,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        self._commands = commands
        self.add_argument("--version", action="version", version=f"summarykit {__version__}")
        self.add_argument("command", nargs="?", help=argparse.SUPPRESS)

    def format_help(self) -> str:
        """The text of ``--help``, with a line for each command."""
        width = max(map(len, self._commands))
        listing = "\n".join(f"  {name:<{width}}  {_help_of(self._commands, name)}" for name in self._commands)
        self.description = f"{_fill(_ABOUT)}\n\ncommands ('summarykit COMMAND --help' tells more):\n{listing}"
        return super().format_help()


def parse(commands: Registry[Command], arguments: Sequence[str]) -> tuple[Command, argparse.Namespace]:
    """The command that is asked for, and its arguments.

    Raises:
        SystemExit: help or the version was asked for and given, or an argument is wrong.
    """
    if not arguments or arguments[0] not in commands:
        _no_command(_Front(commands), commands, arguments)
    name, *rest = arguments
    command = commands.get(name)
    return command, for_command(name, command).parse_args(rest)


def for_command(name: str, command: Command) -> argparse.ArgumentParser:
    """A command's parser."""
    parser = _Parser(
        prog=f"summarykit {name}",
        description=_fill(command.__doc__ or ""),
        epilog=_EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,    # a script that abbreviates breaks with the next option
    )
    command.add_arguments(parser)
    return parser


def _fill(text: str) -> str:
    """Paragraphs as wide as the terminal."""
    width = shutil.get_terminal_size((100, 24)).columns - 2
    return "\n\n".join(textwrap.fill(paragraph, width) for paragraph in text.strip().split("\n\n"))


def help_of(command: Command) -> str:
    """The first line of its docstring."""
    return (command.__doc__ or "").strip().partition("\n")[0]


def _no_command(front: _Front, commands: Registry[Command], arguments: Sequence[str]) -> NoReturn:
    given, _ = front.parse_known_args(arguments)    # ends here for --help and --version
    if not arguments:
        front.print_help()
        front.exit(FAILED)
    front.error(f"unknown command {given.command!r}; there are {', '.join(commands)}" if given.command else "no command given")


def _help_of(commands: Registry[Command], name: str) -> str:
    try:
        return help_of(commands.get(name))
    except Exception as error:    # noqa: BLE001  # code of others, found by its entry point: it must not take the help away
        return f"(cannot be loaded: {error})"
