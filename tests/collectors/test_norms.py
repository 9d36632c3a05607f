"""The norm over many arrays: right to the last digit that counts, of every framework's arrays."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from summarykit import Loop, Run, SummaryCollector
from summarykit.collectors.norms import norm

FLOATS = st.floats(-1e9, 1e9, width=32)
SHAPES = arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)
SEVERAL = st.lists(arrays.arrays(np.float32, SHAPES, elements=FLOATS), min_size=1)


def truth(found):
    return np.linalg.norm(np.concatenate([np.asarray(one, np.float64).ravel() for one in found]))


@given(SEVERAL)
def test_of_numpy(found):
    assert norm(found) == pytest.approx(truth(found), rel=1e-4, abs=1e-9)


@given(SEVERAL)
def test_of_torch(found):
    torch = pytest.importorskip("torch")
    got = norm(torch.tensor(one) for one in found)
    assert got.shape == ()
    assert got.dtype == torch.float32
    assert float(got) == pytest.approx(truth(found), rel=1e-4, abs=1e-9)


def test_of_nothing_there_is_none():
    assert norm([]) is None


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int64", "complex64"])
def test_torch_dtypes(dtype):
    torch = pytest.importorskip("torch")
    assert float(norm([torch.full((3, 3), 2, dtype=getattr(torch, dtype)), torch.zeros(0)])) == pytest.approx(6)


def test_halves_do_not_overflow():
    torch = pytest.importorskip("torch")
    assert float(norm([torch.full((10_000,), 1000, dtype=torch.float16)])) == pytest.approx(1e5, rel=1e-4)
    assert norm([np.full(10_000, 1000, np.float16)]) == pytest.approx(1e5)


def test_torch_sparse_gradients():
    torch = pytest.importorskip("torch")
    sparse = torch.sparse_coo_tensor([[0, 0, 2]], [[3.0], [1.0], [3.0]], (5, 1), check_invariants=True)    # the first two are of one place
    assert float(norm([sparse])) == 5


def test_torch_leaves_the_graph_and_the_values_alone():
    torch = pytest.importorskip("torch")
    weight = torch.ones(3, requires_grad=True)
    before = weight._version
    assert not norm([weight]).requires_grad
    assert weight._version == before


def test_a_jax_that_is_only_just_being_imported_is_none_yet(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", ModuleType("jax"))
    assert norm([np.full(4, 2.0)]) == 4


def test_of_jax_it_stays_on_the_device():
    jax = pytest.importorskip("jax")
    got = norm([jax.numpy.full((3,), 2.0, "bfloat16"), jax.numpy.full((2,), 2.0)])
    assert isinstance(got, jax.Array)
    assert float(got) == pytest.approx(20**0.5)


def test_parts_on_several_devices_come_together_on_the_accelerator():
    torch = pytest.importorskip("torch")    # whose device "meta" stands for one: to read from it fails
    assert norm([torch.ones(3), torch.ones(3, device="meta"), torch.ones(3)]).device.type == "meta"


class Distributed:
    """An array of which this process holds ``local``, as ``torch.distributed`` has them."""

    def __init__(self, local, shape, partial=False):
        self.shape = shape
        self.placements = [SimpleNamespace(is_partial=lambda: partial)]
        self.to_local = lambda: local


def test_of_sharded_arrays_there_is_none_unless_the_whole_of_them_is_here():
    whole = np.array([3.0, 4.0])
    assert norm([Distributed(whole, (2,)), np.array([12.0])]) == 13
    assert norm([Distributed(whole, (4,)), np.array([12.0])]) is None
    assert norm([Distributed(whole, (2,), partial=True)]) is None


class Global(np.ndarray):
    """An array that is spread over processes, as JAX has them."""

    is_fully_addressable = False
    is_fully_replicated = False


def test_of_arrays_that_span_processes_there_is_none_unless_each_has_the_whole_of_them():
    spread = np.array([3.0, 4.0]).view(Global)
    assert norm([spread, np.array([12.0])]) is None
    spread.is_fully_replicated = True
    assert norm([spread, np.array([12.0])]) == 13


def test_gradients_that_are_in_parts_without_saying_so_give_no_norm(tmp_path, network, caplog):
    class Part(np.ndarray):
        ds_id = 3

    network.parameters["layer0.weight"] = np.zeros(3).view(Part)
    with Loop(network, None, range(3), 1, SummaryCollector(tmp_path, 1)) as loop:
        list(loop.steps())
    assert "gradient_norm" not in Run(tmp_path).tags()["scalar"]
    assert len([message for message in caplog.messages if "the gradients are sharded" in message]) == 1


DISTRIBUTED = """
import os, sys, torch
from torch.distributed import tensor as tensors
from summarykit.collectors.norms import norm
torch.distributed.init_process_group("gloo", init_method="file://" + sys.argv[1], rank=0, world_size=1)
mesh, values = tensors.init_device_mesh("cpu", (1,)), torch.tensor([3.0, 4.0])
print([float(norm([tensors.distribute_tensor(values, mesh, [placement])])) for placement in (tensors.Replicate(), tensors.Shard(0))])
print(norm([tensors.DTensor.from_local(values, mesh, [tensors.Partial()])]), flush=True)
os._exit(0)    # gloo's thread and one that takes its group apart now and then wait for each other, for ever
"""


def test_of_torchs_distributed_arrays(tmp_path, run_script):
    pytest.importorskip("torch.distributed.tensor")
    assert run_script(DISTRIBUTED, tmp_path / "store").expect_success().stdout.split("\n")[:2] == ["[5.0, 5.0]", "None"]
