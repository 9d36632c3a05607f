"""The shape of the source: small files, small functions, everything public documented and annotated."""

from __future__ import annotations

import ast
from statistics import median

from testkit.source import Definition, definitions, modules, tree

FILE_LIMIT = 350
FUNCTION_LIMIT = 50
FUNCTION_MEDIAN = 10
FUNCTION_P90 = 28


def everything() -> list[Definition]:
    return [found for module in modules() for found in definitions(module)]


def functions() -> list[Definition]:
    return [found for found in everything() if not isinstance(found.node, ast.ClassDef)]


def body_lines(found: Definition) -> int:
    """Lines of code: a docstring does not make a function long."""
    first = found.node.body[0]
    text = (first.end_lineno or 0) - first.lineno + 1 if ast.get_docstring(found.node) else 0
    return found.lines - text


def test_no_file_is_long():
    lengths = {module: len(path.read_text(encoding="utf-8").splitlines()) for module, path in modules().items()}
    assert {module: length for module, length in lengths.items() if length > FILE_LIMIT} == {}


def test_no_function_is_long():
    assert {found.name: body_lines(found) for found in functions() if body_lines(found) > FUNCTION_LIMIT} == {}


def test_most_functions_are_read_at_a_glance():
    lengths = sorted(body_lines(found) for found in functions())
    assert median(lengths) <= FUNCTION_MEDIAN
    assert lengths[int(len(lengths) * 0.9)] <= FUNCTION_P90


def test_every_module_says_what_it_is():
    assert [module for module in modules() if not ast.get_docstring(tree(module))] == []


def test_everything_public_is_documented():
    magic = [found.name for found in everything() if found.public and not is_magic(found) and not ast.get_docstring(found.node)]
    assert magic == []


def is_magic(found: Definition) -> bool:
    name = found.node.name
    return name.startswith("__") and name.endswith("__")


def test_every_function_is_annotated():
    assert [found.name for found in functions() if found.node.returns is None] == []
    assert [f"{found.name}({name})" for found in functions() for name in bare_arguments(found)] == []


def bare_arguments(found: Definition) -> list[str]:
    given = found.node.args
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs, *filter(None, (given.vararg, given.kwarg))]
    return [arg.arg for arg in every if arg.annotation is None and arg.arg not in ("self", "cls")]


def test_no_error_is_swallowed():
    """``except: pass`` hides what a user must know; ``contextlib.suppress`` with a named error says what is meant."""
    handlers = [(module, node) for module in modules() for node in ast.walk(tree(module)) if isinstance(node, ast.ExceptHandler)]
    assert [f"{module}:{node.lineno}" for module, node in handlers if node.type is None] == []
    broad = [
        f"{module}:{node.lineno}"
        for module, node in handlers
        if node.type is not None and ast.unparse(node.type) in ("Exception", "BaseException") and is_only_pass(node)
    ]
    assert broad == []


def is_only_pass(node: ast.ExceptHandler) -> bool:
    return all(isinstance(line, ast.Pass) for line in node.body)


def test_nothing_is_left_for_later():
    marks = ("TO" + "DO", "FIX" + "ME", "X" + "XX")
    left = [
        f"{module}:{number}"
        for module, path in modules().items()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if any(mark in line for mark in marks)
    ]
    assert left == []
