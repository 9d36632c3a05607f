"""An import points down, never up; frameworks and optional packages stay where they belong."""

from __future__ import annotations

import ast
import sys

import pytest
from testkit.source import Import, imports, modules, tree

# Highest first. What stands in one row knows nothing of each other.
LAYERS = (
    ("cli",),
    ("integrations",),
    ("collectors",),
    ("profiler",),
    ("landscape",),
    ("training",),
    ("summary", "ops"),
    ("writing", "reading"),
    ("kinds",),
    ("formats",),
    ("shapes", "errors", "clock", "ranks", "immutable", "lazy", "local", "notices", "nvml", "registry", "whole"),
)
RANK = {name: len(LAYERS) - place for place, row in enumerate(LAYERS) for name in row}
GROUND = LAYERS[-1]
FACADE = len(LAYERS) + 1  # summarykit/__init__.py and __main__.py see everything
FRAMEWORKS = {
    *("torch", "tensorflow", "keras", "jax", "jaxlib", "flax", "lightning", "pytorch_lightning", "mindspore"),
    *("transformers", "accelerate", "xgboost", "lightgbm"),
}
DEPENDENCIES = {"numpy", "google", "crc32c", "psutil"}
# A demonstration is a training program: it uses a framework as its user would.
TRAINING_PROGRAMS = ("summarykit.cli.demo",)


def layer(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def rank(module: str) -> int:
    return FACADE if layer(module) in ("", "__main__") else RANK[layer(module)]


def every_import() -> list[Import]:
    return [found for module in modules() for found in imports(module)]


def ours() -> list[Import]:
    return [found for found in every_import() if found.root == "summarykit"]


def foreign() -> list[Import]:
    known = sys.stdlib_module_names | {"summarykit"}
    return [found for found in every_import() if found.root not in known and not found.typing_only]


def said(found: list[Import]) -> list[str]:
    return [str(one) for one in found]


def allowed(one: Import) -> bool:
    if one.target == "summarykit":  # the version; anything else of the facade would point up
        return True
    same_part = layer(one.module) == layer(one.target) or {layer(one.module), layer(one.target)} <= set(GROUND)
    return same_part or rank(one.target) < rank(one.module)


def test_every_module_has_a_layer():
    strangers = {layer(module) for module in modules()} - set(RANK) - {"", "__main__"}
    assert not strangers, f"place these in LAYERS: {strangers}"


def test_imports_point_down():
    assert said([one for one in ours() if not allowed(one)]) == []


def test_an_import_that_points_up_is_noticed():
    def verdict(module: str, target: str) -> bool:
        return allowed(Import(module, target, 1, True, False))

    assert not verdict("summarykit.reading.run", "summarykit.writing.pump")
    assert not verdict("summarykit.formats.crc", "summarykit.kinds.scalar")
    assert not verdict("summarykit.errors", "summarykit.formats")
    assert verdict("summarykit.cli.ls", "summarykit.reading.run")
    assert verdict("summarykit", "summarykit.cli")


def test_only_the_version_is_taken_from_the_facade():
    taken = {
        (module, alias.name)
        for module in modules()
        for node in ast.walk(tree(module))
        if isinstance(node, ast.ImportFrom) and node.module == "summarykit" and not node.level
        for alias in node.names
        if f"summarykit.{alias.name}" not in modules() and alias.name != "__version__"
    }
    assert taken == set()


def test_only_integrations_import_a_framework():
    strays = [
        one
        for one in foreign()
        if one.root in FRAMEWORKS and layer(one.module) != "integrations" and not one.module.startswith(TRAINING_PROGRAMS)
    ]
    assert said(strays) == []


def test_module_level_imports_are_dependencies_only():
    strays = [one for one in foreign() if one.top_level and one.root not in DEPENDENCIES and layer(one.module) != "integrations"]
    assert said(strays) == []


@pytest.mark.parametrize("part", GROUND)
def test_the_ground_stands_on_the_standard_library_and_numpy(part):
    module = f"summarykit.{part}"
    if module in modules():
        strays = [one for one in foreign() if one.module == module and one.root != "numpy" and one.top_level]
        assert said(strays) == []
