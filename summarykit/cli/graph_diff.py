"""Two graphs side by side: what a fusion pass, a compiler or a backend made of a model."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from summarykit.cli import select, spell, table
from summarykit.cli.outcome import CommandError
from summarykit.reading.graph_diff import Change, GraphDiff, compare, operations
from summarykit.shapes import Graph, Node

_SHOWN = 20    # places of one pattern that are listed one by one
_NAMES = 8    # names on one side of a place


def find(runs: select.Runs, names: list[str]) -> tuple[tuple[str, Graph], tuple[str, Graph]]:
    """Give the two graphs, with their names.

    Args:
        runs: where to look.
        names: their tags, with the run's name and a colon before it where several runs have one; none: there are just two.

    Raises:
        CommandError: there are not just two, or none is named so.
    """
    found = _graphs(runs)
    if len(names) not in (0, 2):
        raise CommandError(f"--graph-diff takes two names or none, got {len(names)}; {select.alike('', list(found))}")
    if not names and len(found) != 2:
        raise CommandError(f"--graph-diff needs the names of two graphs; {select.alike('', list(found))}")
    for name in names:
        if name not in found:
            raise CommandError(f"no graph is named {name!r}; {select.alike(name, list(found))}")
    one, other = names or found
    return (one, found[one]), (other, found[other])


def _graphs(runs: select.Runs) -> dict[str, Graph]:
    """Every tag's newest graph, by the shortest name that is its own."""
    every = [(name, tag, graph) for name, run in runs.items() for tag, graph in run.graphs().items()]
    tags = Counter(tag for _, tag, _ in every)
    return {tag if tags[tag] == 1 else f"{name}:{tag}": graph for name, tag, graph in every}


def document(runs: select.Runs, names: list[str]) -> dict[str, Any]:
    """For JSON: every change."""
    (old, before), (new, after) = find(runs, names)
    diff = compare(before, after)
    return {
        "old": {"graph": old, "nodes": len(before.nodes)}, "new": {"graph": new, "nodes": len(after.nodes)}, "kept": diff.kept,
        "replaced": [{"old": _facts(each.old), "new": _facts(each.new)} for each in diff.replaced],
        "added": _facts(diff.added), "removed": _facts(diff.removed),
    }  # fmt: skip


def _facts(nodes: Any) -> list[dict[str, str]]:
    return [{"name": node.name, "op": node.op} for node in nodes]


def show(runs: select.Runs, names: list[str]) -> None:
    """Print a summary, what was replaced, added and removed, and how often each operation is there."""
    (old, before), (new, after) = find(runs, names)
    diff = compare(before, after)
    kept = f"{spell.some(diff.kept, 'node')} kept"
    print(table.clean(f"{old} ({spell.some(len(before.nodes), 'node')}) → {new} ({spell.some(len(after.nodes), 'node')}): {kept}"))
    _print_replaced(diff)
    _print_single("added", diff.added)
    _print_single("removed", diff.removed)
    _print_operations(diff)


def _print_replaced(diff: GraphDiff) -> None:
    groups: dict[tuple[str, str], list[Change]] = defaultdict(list)
    for each in diff.replaced:
        groups[each.pattern].append(each)
    for (old, new), changes in groups.items():
        print()
        print(table.clean(f"replaced, {spell.some(len(changes), 'time')}: {old} → {new}"))
        for each in changes[:_SHOWN]:
            print(table.clean(f"  {_names(each.old)} → {_names(each.new)}"))
        _print_rest(len(changes))


def _print_single(what: str, nodes: list[Node]) -> None:
    if nodes:
        print()
        print(table.clean(f"{what}: {operations(nodes)}"))
        for node in nodes[:_SHOWN]:
            print(table.clean(f"  {node.name} ({node.op})"))
        _print_rest(len(nodes))


def _print_rest(number: int) -> None:
    if number > _SHOWN:
        print(f"  … and {number - _SHOWN:,} more")


def _names(nodes: tuple[Node, ...]) -> str:
    names = [node.name for node in nodes]
    return ", ".join(names[:_NAMES]) + (f" … ({len(names)} nodes)" if len(names) > _NAMES else "")


def _print_operations(diff: GraphDiff) -> None:
    """A table of what there is more or less of."""
    before, after = (Counter(node.op for node in graph.nodes) for graph in (diff.old, diff.new))
    changed = [op for op in {**before, **after} if before[op] != after[op]]
    if changed:
        print()
        rows = [(op, f"{before[op]:,}", f"{after[op]:,}", f"{after[op] - before[op]:+,}") for op in changed]
        table.show(("<operation", ">before", ">after", ">change"), rows)
