"""Reads recordings, whoever made them: one file a format, chosen by looking at the data.

A parser is a module with two functions: ``sniff(path) -> bool`` and ``parse(path) -> list[Recording]`` (see ``parser.Parser``), named in
``known.py``. Third parties add one with an entry point in the group ``summarykit.parsers``: ``molecule = "pkg.module"``.
"""

from __future__ import annotations

from summarykit.profiler.parsers.known import PARSERS
from summarykit.profiler.parsers.parser import Parser
from summarykit.profiler.parsers.reading import read

__all__ = ["PARSERS", "Parser", "read"]
