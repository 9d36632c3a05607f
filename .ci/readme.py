"""Print the code block of README.md that follows the comment ``<!-- NAME -->``, so that what CI runs is what users read."""

from __future__ import annotations

import re
import sys
from pathlib import Path

README = Path(__file__).resolve().parents[1] / "README.md"


def block(name: str) -> str:
    """Give the fenced block after the marker.

    Raises:
        SystemExit: there is none, or more than one.
    """
    found = re.findall(rf"<!-- {re.escape(name)} -->\s*```\w*\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    if len(found) != 1:
        raise SystemExit(f"README.md holds {len(found)} blocks marked {name!r}, not one")
    return str(found[0])


if __name__ == "__main__":
    print(block(sys.argv[1]), end="")
