"""What an optional package's absence is answered with: the command in the message must be one that works."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from testkit.source import modules, tree

from summarykit.errors import MissingExtraError
from summarykit.lazy import optional

# Import name -> name on the index, where they differ.
NAMES = {"PIL": "pillow", "pynvml": "nvidia-ml-py", "sklearn": "scikit-learn", "google_crc32c": "google-crc32c"}


def calls() -> list[tuple[str, str, str]]:
    """(module, package, extra) of every call of ``optional``."""
    found = []
    for module in modules():
        for node in ast.walk(tree(module)):
            if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == "optional" and node.args:
                named = {word.arg: word.value for word in node.keywords}
                first, extra = node.args[0], named.get("extra")
                if isinstance(first, ast.Constant) and isinstance(extra, ast.Constant):
                    found.append((module, str(first.value), str(extra.value)))
    return found


def extras(checkout: Path) -> dict[str, str]:
    section = (checkout / "pyproject.toml").read_text(encoding="utf-8").partition("[project.optional-dependencies]")[2].partition("\n[")[0]
    return dict(re.findall(r"^([\w-]+) = \[(.*?)\]$", section, re.MULTILINE | re.DOTALL))


def test_every_extra_asked_for_brings_the_package(checkout):
    declared = extras(checkout)
    for module, package, extra in calls():
        root = package.partition(".")[0]
        assert extra in declared, f"{module} names the extra {extra!r}, which pyproject.toml does not have"
        assert NAMES.get(root, root).lower() in declared[extra].lower(), f"{module}: the extra {extra!r} does not bring {package}"


def test_every_extra_but_those_of_tools_is_used(checkout):
    used = {extra for _, _, extra in calls()}
    assert set(extras(checkout)) - used <= {"test", "demo", "isal", "google-crc32c"}


def test_the_message_holds_the_command():
    with pytest.raises(MissingExtraError, match=r"Run\.to_x\(\) needs no_such_package: pip install 'summarykit\[pandas\]'"):
        optional("no_such_package", extra="pandas", purpose="Run.to_x()")


def test_a_package_that_is_there_is_given():
    assert optional("json", extra="pandas", purpose="this test").dumps([1]) == "[1]"
