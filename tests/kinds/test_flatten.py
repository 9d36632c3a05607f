"""HP1: settings of any shape become one level."""

from __future__ import annotations

from types import SimpleNamespace

from summarykit.kinds.flatten import flatten


def test_hp1_what_holds_itself_is_a_leaf_where_it_comes_again():
    root = SimpleNamespace(name="root", children=SimpleNamespace())
    for number in range(9):
        setattr(root.children, f"child{number}", SimpleNamespace(parent=root, number=number))
    flat = flatten({"tree": root})
    assert flat.pop("tree/name") == "root"
    assert flat == {f"tree/children/child{n}/{name}": value for n in range(9) for name, value in (("parent", root), ("number", n))}


def test_hp1_what_comes_twice_beside_itself_is_told_twice():
    same = {"lr": 0.1}
    assert flatten({"a": same, "b": {"c": same}}) == {"a/lr": 0.1, "b/c/lr": 0.1}


def test_hp1_what_is_nested_too_deep_is_a_leaf():
    deep: dict[str, object] = {}
    inner = deep
    for _ in range(5000):
        inner["x"] = inner = {}
    ((path, _),) = flatten(deep).items()
    assert path.count("/") < 100
