"""What a command of the command line answered, and ways to damage its files."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any


def strict_json(text: str) -> Any:
    """JSON as every reader takes it: the bare words NaN and Infinity are refused."""

    def refuse(word: str) -> float:
        raise AssertionError(f"{word} is no JSON")

    return json.loads(text, parse_constant=refuse)


@dataclass
class Answer:
    """Exit code, standard output, standard error."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as JSON, once the command ended well."""
        return strict_json(self.expect(0).out)

    @property
    def rows(self) -> list[list[str]]:
        """Standard output as a table: the cells of each line, which two blanks or more part."""
        return [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in self.out.splitlines() if line.strip()]

    def expect(self, code: int = 0) -> Answer:
        assert self.code == code, f"exit code {self.code}\n{self.out}\n{self.err}"
        assert "Traceback" not in self.err
        return self

    def expect_error(self, *words: str) -> Answer:
        """One line on standard error that says this, nothing on standard output, exit code 2."""
        self.expect(2)
        assert self.out == ""
        assert self.err.startswith("summarykit: error: ")
        assert self.err.count("\n") == 1
        for word in words:
            assert word in self.err, self.err
        return self


def only_file(directory: Path) -> Path:
    (file,) = directory.iterdir()
    return file


def flip(file: Path, offset: int) -> None:
    """Change a byte."""
    content = bytearray(file.read_bytes())
    content[offset] ^= 0xFF
    file.write_bytes(content)


def cut(file: Path, length: int) -> None:
    """Take bytes from the end, and make the file look long forgotten."""
    file.write_bytes(file.read_bytes()[:-length])
    os.utime(file, (1e9, 1e9))
