"""Two graphs of one run, graphs of every framework, and a data pipeline, in the real viewers."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from testkit import clients

from summarykit import Loop, Run, SummaryCollector, SummaryRecord
from summarykit.shapes import Node

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.viewers, pytest.mark.shared]

PROGRAM = Path(__file__).resolve().parents[1] / "testkit/mindinsight_graphs.py"
# Asks TensorBoard's own graph page what it would draw.
PAGE = """
import json, sys
from google.protobuf import text_format
from tensorboard import context
from tensorboard.backend.event_processing import data_provider, plugin_event_multiplexer
from tensorboard.compat.proto import graph_pb2
from tensorboard.plugins import base_plugin
from tensorboard.plugins.graph.graphs_plugin import GraphsPlugin

files = plugin_event_multiplexer.EventMultiplexer().AddRunsFromDirectory(sys.argv[1])
files.Reload()
page = GraphsPlugin(base_plugin.TBContext(data_provider=data_provider.MultiplexerDataProvider(files, sys.argv[1])))
ask = context.RequestContext()
(run,) = page.info_impl(ask, "").values()
found = {}
for tag in [None, *run["tags"]]:
    text, _ = page.graph_impl(ask, run["run"], tag, False, "")
    found[tag or "run"] = [[node.name, node.op, list(node.input)] for node in text_format.Parse(text, graph_pb2.GraphDef()).node]
print(json.dumps({"run_graph": run["run_graph"], "tags": run["tags"], "graphs": found}))
"""


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(1, 4, 3)
        self.slope = torch.nn.Parameter(torch.ones(1))

    def forward(self, x):
        x = self.conv(x)
        return torch.relu(x) + torch.neg(self.slope) * torch.relu(torch.neg(x))


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory):
    directory = tmp_path_factory.mktemp("graphs")
    before = torch.fx.symbolic_trace(Net())
    after = torch.fx.symbolic_trace(before)
    torch.fx.replace_pattern(
        after, lambda x, slope: torch.relu(x) + torch.neg(slope) * torch.relu(torch.neg(x)), lambda x, slope: torch.prelu(x, slope)
    )
    with SummaryRecord(directory) as record:
        for tag, graph in (("before", before), ("after/fusion", after)):
            record.add_value("graph", tag, graph, example_input=torch.zeros(1, 1, 8, 8))
        record.record(1)
    assert not record.stats()["dropped"]
    return directory


@pytest.fixture(scope="module")
def graphs(run_dir):
    found = Run(run_dir).graphs()
    assert list(found) == ["before", "after/fusion"]
    return found


def types(graph):
    return dict(Counter(node.op for node in graph.nodes))


def test_tensorboard_draws_both(run_dir, graphs, tensorboard_python):
    done = subprocess.run([str(tensorboard_python), "-c", PAGE, str(run_dir)], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    page = json.loads(done.stdout)
    assert page["run_graph"]
    assert {tag: told["op_graph"] for tag, told in page["tags"].items()} == {"after/fusion": True}
    for shown, tag in (("run", "before"), ("after/fusion", "after/fusion")):
        assert sorted(page["graphs"][shown]) == sorted([node.name, node.op, list(node.inputs)] for node in graphs[tag].nodes)


@pytest.mark.parametrize("way", [("python",), ("rust",)], ids=" ".join)
def test_both_loaders_of_tensorboard_have_both(run_dir, graphs, tensorboard_client, way):
    plugins = tensorboard_client(run_dir, *way).expect_sound()["runs"]["."]["plugins"]
    (point,) = plugins["graphs"]["__run_graph__"]["points"]
    assert point["graphs"][0]["ops"] == types(graphs["before"])
    assert list(plugins["graph_run_metadata_graph"]) == ["after/fusion"]


@pytest.fixture
def mindinsight_graphs(mindinsight_python, run_script):
    """``mindinsight_graphs(directory, number)``: the nodes of each graph, by its file."""

    def ask(directory, number=1):
        done = run_script(PROGRAM, directory, number, python=mindinsight_python).expect_success()
        return json.loads(next(line for line in done.stdout.splitlines() if line.startswith("GRAPHS"))[6:])

    return ask


def drawn(nodes):
    """The page puts a parameter into the scope of who takes it; here it stands without."""
    names = {node["name"]: node["name"].rpartition("/")[2] if node["type"] == Node.PARAMETER else node["name"] for node in nodes}
    return {names[node["name"]]: (node["type"], sorted(names[each] for each in node["input"])) for node in nodes}


def to_be_drawn(graph):
    """As the page names nodes: of a parameter the scopes are parted by dots."""
    names = {node.name: node.name.replace("/", ".") if node.op == Node.PARAMETER else node.name for node in graph.nodes}
    return {names[node.name]: (node.op, sorted({names[each] for each in node.inputs})) for node in graph.nodes}


def test_mindinsight_draws_both(run_dir, graphs, mindinsight_graphs):
    found = mindinsight_graphs(run_dir, 2)
    assert len(found) == 2
    assert drawn(found.pop("after_fusion.pb")) == to_be_drawn(graphs["after/fusion"])
    (nodes,) = found.values()
    assert drawn(nodes) == to_be_drawn(graphs["before"])
    (conv,) = (node for node in nodes if node["type"] == "Conv2d")
    assert conv["input"]["x"]["shape"] == [[1, 1, 8, 8]]
    assert "kernel_size=(3, 3)" in conv["attr"]["settings"]


def test_mindinsight_draws_mindspores_graph_as_mindspore_wrote_it(shared, tmp_path, mindinsight_graphs):
    source = shared / "data/mindspore/graph_mode"
    (graph,) = Run(source).graph()
    with SummaryRecord(tmp_path) as record:
        record.add_value("graph", "train_network/auto", graph)
        record.record(1)
    (ours,), (theirs,) = (mindinsight_graphs(folder).values() for folder in (tmp_path, source))
    named = {"Const", "Parameter"}    # constants get other names, and what takes from them
    ours, theirs = ([node for node in nodes if node["type"] not in named] for nodes in (ours, theirs))
    assert len(ours) > 70
    one, other = (
        {node["name"]: (node["type"], sorted(node["attr"]), len(node["input"]), len(node["output"])) for node in nodes}
        for nodes in (ours, theirs)
    )
    assert one == other


def test_the_graph_of_jax_has_its_scopes(tmp_path, mindinsight_graphs, tensorboard_client):
    jax = pytest.importorskip("jax")

    def step(params, x):
        with jax.named_scope("layer"):
            return jax.numpy.tanh(x @ params["w"]).mean()

    with SummaryRecord(tmp_path) as record:
        record.add_value("graph", "step", jax.value_and_grad(step), example_input=({"w": jax.numpy.ones((3, 2))}, jax.numpy.ones((4, 3))))
        record.record(1)
    graph = Run(tmp_path).graphs()["step"]
    (nodes,) = mindinsight_graphs(tmp_path).values()
    assert drawn(nodes) == to_be_drawn(graph)
    assert {"layer/dot_general", "backward/layer/dot_general"} <= set(drawn(nodes))
    (point,) = tensorboard_client(tmp_path).expect_sound()["runs"]["."]["plugins"]["graphs"]["__run_graph__"]["points"]
    assert point["graphs"][0]["ops"] == types(graph)


def test_mindinsight_shows_the_data_pipeline(tmp_path, mindinsight_client):
    data = torch.utils.data
    loader = data.DataLoader(data.Subset(data.TensorDataset(torch.rand(8, 3)), range(6)), batch_size=2, shuffle=True)
    asked = {"collect_dataset_graph": True, "collect_metric": True}
    with Loop(None, None, loader, 1, [SummaryCollector(tmp_path, keep_default_action=False, collect_specified_data=asked)]) as loop:
        for _ in loop.steps():
            loop.report(loss=0.5)
    (run,) = clients.once(
        lambda document: any(run["dataset_graph"] for run in document["lineage"].values()), lambda: mindinsight_client(tmp_path)
    )["lineage"].values()
    stages, found = [], run["dataset_graph"]
    while found:
        stages.append(found["op_type"])
        found = found["children"][0] if found.get("children") else None
    assert stages == ["DataLoader", "Subset", "TensorDataset"]
