"""The package's source as syntax trees: what imports what, how long things are."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "summarykit"
REGISTERED = re.compile(r"(summarykit(?:\.\w+)+)(?::\w+)?")


@dataclass(frozen=True)
class Import:
    """One import: who, what, where, and whether it runs at module level or only for a type checker."""

    module: str
    target: str
    line: int
    top_level: bool
    typing_only: bool

    @property
    def root(self) -> str:
        return self.target.split(".")[0]

    def __str__(self) -> str:
        return f"{self.module}:{self.line} imports {self.target}"


@cache
def modules() -> dict[str, Path]:
    """Every module of the package by its dotted name."""
    return {_dotted(path): path for path in sorted(PACKAGE.rglob("*.py"))}


@cache
def tree(module: str) -> ast.Module:
    return ast.parse(modules()[module].read_text(encoding="utf-8"))


def _dotted(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def imports(module: str) -> tuple[Import, ...]:
    """Every import of a module, in functions too; ``importlib`` calls, ``optional(...)`` and registered names count."""
    return tuple(_walk(tree(module), module, top_level=True, typing_only=False))


def _walk(node: ast.AST, module: str, top_level: bool, typing_only: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        for target in _targets(child, module):
            yield Import(module, target, child.lineno, top_level, typing_only)
        inside = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for_types = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)
        yield from _walk(child, module, top_level and not inside, typing_only or for_types)


def _targets(node: ast.AST, module: str) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        base = _absolute(node, module)
        yield from (_module_or_parent(base, alias.name) for alias in node.names)
    elif isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in ("import_module", "__import__", "optional"):
        first = node.args[0] if node.args else None
        if isinstance(first, ast.Constant) and isinstance(first.value, str):
            yield first.value
    elif isinstance(node, ast.Constant) and isinstance(node.value, str) and (found := REGISTERED.fullmatch(node.value)):
        yield from {found[1]} & modules().keys()


def _absolute(node: ast.ImportFrom, module: str) -> str:
    if not node.level:
        return node.module or ""
    package = module if modules()[module].name == "__init__.py" else module.rpartition(".")[0]
    for _ in range(node.level - 1):
        package = package.rpartition(".")[0]
    return f"{package}.{node.module}" if node.module else package


def _module_or_parent(base: str, name: str) -> str:
    """``from summarykit.formats import crc`` names a module, ``from summarykit import __version__`` does not."""
    return f"{base}.{name}" if f"{base}.{name}" in modules() else base


@dataclass(frozen=True)
class Definition:
    """A function or class: its dotted name and node, whether it is public, and whether a function encloses it."""

    name: str
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    public: bool
    nested: bool

    @property
    def lines(self) -> int:
        return (self.node.end_lineno or 0) - self.node.lineno + 1


@cache
def definitions(module: str) -> tuple[Definition, ...]:
    """All functions and classes of a module."""
    return tuple(_definitions(tree(module), module, public=True, nested=False))


def _definitions(node: ast.AST, prefix: str, public: bool, nested: bool) -> Iterator[Definition]:
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from _definitions(child, prefix, public, nested)
            continue
        name = f"{prefix}.{child.name}"
        seen = public and not nested and not child.name.startswith("_")
        yield Definition(name, child, seen, nested)
        yield from _definitions(child, name, seen, nested or not isinstance(child, ast.ClassDef))
