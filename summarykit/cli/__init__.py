"""The command line: ``summarykit COMMAND``, one file per command.

A command is a module: the first line of its docstring is the help, ``add_arguments(parser)`` declares what it takes, ``run(args)`` does it
and gives the exit code. Third parties add one with an entry point in the group ``summarykit.commands``: ``molecule = "pkg.module"``.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from summarykit.cli.command import Command
from summarykit.registry import Registry

__all__ = ["COMMANDS", "main"]

COMMANDS: Registry[Command] = Registry(
    "commands",
    {
        "ls": "summarykit.cli.ls",
        "show": "summarykit.cli.show",
        "verify": "summarykit.cli.verify",
        "repair": "summarykit.cli.repair",
        "convert": "summarykit.cli.convert",
        "export": "summarykit.cli.export",
        "landscape": "summarykit.cli.landscape",
        "lineage": "summarykit.cli.lineage",
        "profile": "summarykit.cli.profile",
        "demo": "summarykit.cli.demo",
    },
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        argv: the arguments; by default those of this process.

    Returns:
        The exit code; ``summarykit.cli.outcome`` lists them.
    """
    from summarykit.cli import outcome, parser

    arguments = sys.argv[1:] if argv is None else list(argv)
    return outcome.of(lambda: _run(*parser.parse(COMMANDS, arguments)))


def _run(command: Command, args: object) -> int:
    return command.run(args)    # type: ignore[arg-type]
