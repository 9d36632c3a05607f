"""Several graphs of one run: the first is its own, the others are beside it, for each viewer in the way that it knows."""

from __future__ import annotations

import pytest

from summarykit import Run, SummaryRecord, SummaryWriter
from summarykit.formats.mindspore.graph import of_file
from summarykit.reading import convert
from summarykit.shapes import Node


def graph(op):
    return {"x": {"op": "Input"}, f"net/{op}": {"op": op, "inputs": ["x"]}}


def record(directory, *pairs, **options):
    with SummaryRecord(directory, **options) as made:
        for step, (tag, op) in enumerate(pairs):
            made.add_value("graph", tag, graph(op))
            made.record(step)
    assert not made.stats()["dropped"]
    return Run(directory)


def seen(run):
    return {tag: (each.nodes[1].op, each.beside) for tag, each in run.graphs().items()}


@pytest.mark.parametrize("num_process", [0, 1])
@pytest.mark.parametrize("formats", [("mindspore",), ("tensorboard",), ("mindspore", "tensorboard")])
def test_tags_come_back(tmp_path, formats, num_process):
    run = record(tmp_path, ("before", "Neg"), ("after fusion/训练", "PRelu"), formats=formats, num_process=num_process)
    assert seen(run) == {"before": ("Neg", False), "after fusion/训练": ("PRelu", True)}
    assert not run.damage
    files = [path for path in tmp_path.iterdir() if path.suffix == ".pb"]
    assert [path.name for path in files] == (["after_fusion___.pb"] if "mindspore" in formats else [])
    for path in files:
        assert of_file(path.read_bytes()).nodes[1] == Node("net/PRelu", "PRelu", ("x",))


def test_a_tag_that_comes_again_is_a_newer_graph(tmp_path):
    run = record(tmp_path, ("net", "Neg"), ("other", "Abs"), ("net", "Relu"), ("other", "Exp"))
    assert seen(run) == {"net": ("Relu", False), "other": ("Exp", True)}
    assert len(run.graph()) == 4


def test_the_other_writer_takes_a_tag_too(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_graph(graph("Neg"))
        writer.add_graph(graph("PRelu"), tag="fused")
    assert seen(Run(tmp_path)) == {"graph": ("Neg", False), "fused": ("PRelu", True)}


def test_files_of_others_are_left_alone(tmp_path):
    (tmp_path / "b.pb").write_bytes(b"mine")
    record(tmp_path, ("a", "Neg"), ("b", "Relu"), ("b ", "Exp"))
    assert (tmp_path / "b.pb").read_bytes() == b"mine"
    assert sorted(path.name for path in tmp_path.glob("*.pb")) == ["b.pb", "b_.pb", "b_2.pb"]


def test_half_a_graph_is_none(tmp_path, run_script):
    """A file may be of so many bytes only; what is a value's own file is there or is not."""
    code = """
import os, resource, sys
from pathlib import Path
from summarykit import SummaryRecord

def unlink(path, missing_ok=False, real=os.unlink):
    '''As on Windows: no file that is open.'''
    assert os.path.realpath(path) not in [os.path.realpath(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd")]
    real(path)

os.unlink = Path.unlink = unlink
graph = {f"n{number}": {"op": "Add", "inputs": [f"n{number - 1}"] if number else []} for number in range(2000)}
with SummaryRecord(sys.argv[1]) as record:
    record.add_value("graph", "first", {"x": {"op": "Input"}}); record.record(0)
    assert record.flush()
    resource.setrlimit(resource.RLIMIT_FSIZE, (5000, resource.RLIM_INFINITY))
    record.add_value("graph", "second", graph); record.record(1)
    record.flush()
    assert list(record.stats()["dropped"]) == ["graph: OSError"], record.stats()
"""
    run_script(code, tmp_path).expect_success()
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".pb"] == []


def test_another_writer_says_that_its_graph_is_beside(tmp_path):
    record(tmp_path, ("graph", "Neg"))
    with SummaryRecord(tmp_path) as later:
        later.add_value("graph", "compiled", graph("Fused"), beside=True)
        later.record(5)
    assert seen(Run(tmp_path)) == {"graph": ("Neg", False), "compiled": ("Fused", True)}


@pytest.mark.parametrize("target", ["mindspore", "tensorboard"])
def test_both_are_converted(tmp_path, target):
    source = "tensorboard" if target == "mindspore" else "mindspore"
    run = record(tmp_path / "from", ("before", "Neg"), ("after", "PRelu"), formats=(source,))
    convert(tmp_path / "from", tmp_path / "to", target)
    assert seen(Run(tmp_path / "to")) == seen(run)
