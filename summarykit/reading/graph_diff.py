"""What a pass over a graph has changed: which nodes were replaced by which, which came, which went.

Names do not tell: where the first of two additions was fused away, the second one takes its name. So the graphs are compared as sequences
of what nodes do and where (operation, scope, attributes), as texts are compared line by line, with Python's ``difflib``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from summarykit.shapes import Graph, Node

Nodes = tuple[Node, ...]


@dataclass(frozen=True)
class Change:
    """Neighbouring nodes that differ.

    Attributes:
        old: nodes of the old graph; none where the new ones were added.
        new: what stands in their place; none where they were removed.
    """

    old: Nodes
    new: Nodes

    @property
    def pattern(self) -> tuple[str, str]:
        """The operations on both sides: ``("Neg + Relu ×2", "PReLU")``."""
        return operations(self.old), operations(self.new)


@dataclass(frozen=True)
class GraphDiff:
    """Two graphs, compared.

    Attributes:
        old: the one.
        new: the other.
        changes: where they differ, in the order of the graphs.
    """

    old: Graph
    new: Graph
    changes: tuple[Change, ...]

    @property
    def replaced(self) -> list[Change]:
        """Changes with nodes on both sides."""
        return [each for each in self.changes if each.old and each.new]

    @property
    def added(self) -> list[Node]:
        """Nodes that came and replace none."""
        return [node for each in self.changes if not each.old for node in each.new]

    @property
    def removed(self) -> list[Node]:
        """Nodes that went without being replaced."""
        return [node for each in self.changes if not each.new for node in each.old]

    @property
    def kept(self) -> int:
        """Number of nodes that are in both."""
        return len(self.old.nodes) - sum(len(each.old) for each in self.changes)


def compare(old: Graph, new: Graph) -> GraphDiff:
    """Compare two graphs; takes time in proportion to the product of their lengths at worst, to their sum where scopes tell nodes apart."""
    matcher = SequenceMatcher(None, [*map(_identity, old.nodes)], [*map(_identity, new.nodes)], autojunk=False)
    found = [
        Change(old.nodes[left:left_end], new.nodes[right:right_end])
        for what, left, left_end, right, right_end in matcher.get_opcodes()
        if what != "equal"
    ]
    return GraphDiff(old, new, tuple(_without_moved(found)))


def operations(nodes: Iterable[Node]) -> str:
    """What some nodes do: ``"Neg + Relu ×2"``; parameters, inputs and constants are mentioned where there is nothing else."""
    found = list(nodes)
    held = (Node.PARAMETER, Node.CONSTANT, Node.INPUT)
    telling = [node for node in found if node.op not in held] or found
    return " + ".join(f"{op} ×{number}" if number > 1 else op for op, number in Counter(node.op for node in telling).items())


def _identity(node: Node) -> Hashable:
    """What a node does, and where; parameters and the like are told apart by their names alone."""
    name = node.name if node.op in (Node.PARAMETER, Node.CONSTANT, Node.INPUT, Node.OUTPUT) else node.scope
    return node.op, name, repr(sorted(node.attributes.items()))


def _without_moved(changes: list[Change]) -> Iterator[Change]:
    """Leave out nodes that merely stand elsewhere: two branches may be written in either order."""
    moved = _counted(node for each in changes for node in each.old) & _counted(node for each in changes for node in each.new)
    left, right = Counter(moved), Counter(moved)
    for each in changes:
        change = Change(_rest(each.old, left), _rest(each.new, right))
        if change.old or change.new:
            yield change


def _counted(nodes: Iterable[Node]) -> Counter[Hashable]:
    return Counter((_identity(node), node.inputs) for node in nodes)


def _rest(nodes: Nodes, moved: Counter[Hashable]) -> Nodes:
    rest = []
    for node in nodes:
        key = _identity(node), node.inputs
        if moved[key]:
            moved[key] -= 1
        else:
            rest.append(node)
    return tuple(rest)
