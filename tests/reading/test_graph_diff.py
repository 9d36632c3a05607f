"""Two graphs, compared: what was replaced, added, removed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from summarykit.reading.graph_diff import compare, operations
from summarykit.shapes import Graph, Node


def chain(*ops, scope=""):
    """A graph in which each node takes from the one before; names are numbered as tracers do it."""
    nodes: list[Node] = []
    for op in ops:
        number = sum(node.op == op for node in nodes)
        nodes.append(Node(f"{scope}{op}_{number}" if number else f"{scope}{op}", op, (nodes[-1].name,) if nodes else ()))
    return Graph(tuple(nodes))


def told(diff):
    return [(operations(each.old), operations(each.new)) for each in diff.changes]


def test_equal_graphs_do_not_differ():
    diff = compare(chain("Conv", "Relu"), chain("Conv", "Relu"))
    assert (diff.changes, diff.kept, diff.replaced, diff.added, diff.removed) == ((), 2, [], [], [])


def test_fused_nodes_are_one_replacement():
    diff = compare(chain("Conv", "Neg", "Relu", "Mul", "Add", "Pool", "Fc"), chain("Conv", "PRelu", "Pool", "Fc"))
    assert told(diff) == [("Neg + Relu + Mul + Add", "PRelu")]
    assert diff.replaced[0].pattern == ("Neg + Relu + Mul + Add", "PRelu")
    assert diff.kept == 3


def test_names_that_move_up_are_no_change():
    """The first addition is gone, so that the second one is called as the first was."""
    diff = compare(chain("Conv", "Add", "Pool", "Add", "Fc"), chain("Conv", "Fused", "Pool", "Add", "Fc"))
    assert told(diff) == [("Add", "Fused")]


def test_added_and_removed():
    diff = compare(chain("Conv", "Dropout", "Fc"), chain("Conv", "Fc", "Softmax"))
    assert [node.op for node in diff.removed] == ["Dropout"]
    assert [node.op for node in diff.added] == ["Softmax"]
    assert not diff.replaced


def test_the_order_of_branches_does_not_matter():
    x, a, b = Node("x", Node.INPUT), Node("left/Conv", "Conv", ("x",)), Node("right/Conv", "Conv", ("x",))
    end = Node("Add", "Add", ("left/Conv", "right/Conv"))
    assert compare(Graph((x, a, b, end)), Graph((x, b, a, end))).changes == ()


def test_other_settings_are_a_replacement():
    old, new = (Graph((Node("conv", "Conv", (), {"stride": stride}),)) for stride in (1, 2))
    assert told(compare(old, new)) == [("Conv", "Conv")]


def test_parameters_are_mentioned_where_they_are_all():
    weight = Node("w", Node.PARAMETER)
    assert operations([weight, Node("c", "Conv")]) == "Conv"
    assert operations([weight]) == Node.PARAMETER
    assert operations([]) == ""


OPS = st.lists(st.sampled_from(["Conv", "Relu", "Add", "Mul"]), max_size=12)


@given(OPS, OPS)
def test_every_node_is_kept_replaced_added_or_removed(left, right):
    old, new = chain(*left), chain(*right)
    diff = compare(old, new)
    assert diff.kept + sum(len(each.old) for each in diff.replaced) + len(diff.removed) == len(left)
    assert diff.kept + sum(len(each.new) for each in diff.replaced) + len(diff.added) == len(right)
    assert all(each.old or each.new for each in diff.changes)
    backwards = compare(new, old)
    assert bool(backwards.changes) == bool(diff.changes) == (left != right)
