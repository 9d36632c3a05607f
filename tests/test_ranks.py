"""Which rank a process is: what a framework says, and which variables of a launcher are believed."""

from __future__ import annotations

import sys
import types

import pytest
from hypothesis import given
from hypothesis import strategies as st

from summarykit.ranks import LAUNCHERS, Rank, detect

ALONE = Rank()


@pytest.fixture(autouse=True)
def _no_framework(monkeypatch):
    """Whatever other tests have imported."""
    for module in ("torch.distributed", "jax", "mindspore.communication"):
        monkeypatch.delitem(sys.modules, module, raising=False)


@pytest.mark.parametrize("names", LAUNCHERS, ids=lambda names: names[0])
def test_cb9_a_launchers_whole_set_is_believed(names):
    environ = dict(zip(names, ("3", "4", "1"), strict=True))
    assert detect(environ) == Rank(3, 4, 1, ", ".join(names[:2]))
    assert not detect(environ).certain


@pytest.mark.parametrize(
    "environ",
    [
        {},
        {"RANK": "3"},
        {"WORLD_SIZE": "4"},
        {"RANK": "3", "SLURM_NTASKS": "4"},
        {"RANK": "4", "WORLD_SIZE": "4"},
        {"RANK": "0", "WORLD_SIZE": "1"},
        {"RANK": "-1", "WORLD_SIZE": "4"},
        {"RANK": "1.0", "WORLD_SIZE": "4"},
        {"RANK": "", "WORLD_SIZE": "4"},
        {"RANK": "x", "WORLD_SIZE": "4"},
        {"RANK": "²", "WORLD_SIZE": "4"},
        {"SLURM_PROCID": "3", "SLURM_NTASKS": "1"},
        {"RANK_ID": "3"},
    ],
    ids=str,
)
def test_what_does_not_fit_together_is_no_distributed_run(environ):
    assert detect(environ) == ALONE
    assert detect(environ).certain


@given(st.dictionaries(st.sampled_from([name for names in LAUNCHERS for name in names]), st.text(max_size=4)))
def test_no_environment_is_too_odd(environ):
    found = detect(environ)
    assert 0 <= found.rank < found.world_size


def communication(inited, rank=1):
    return types.SimpleNamespace(
        GlobalComm=types.SimpleNamespace(INITED=inited), get_rank=lambda: rank, get_group_size=lambda: 2
    )


def test_a_framework_that_is_up_is_believed_first(monkeypatch):
    monkeypatch.setitem(sys.modules, "mindspore.communication", communication(True))
    assert detect({"RANK": "3", "WORLD_SIZE": "4", "LOCAL_RANK": "3"}) == Rank(1, 2, None, "mindspore.communication")
    assert detect({"RANK_ID": "1", "RANK_SIZE": "2", "LOCAL_RANK": "0"}) == Rank(1, 2, 0, "mindspore.communication")
    assert detect({}).certain


def test_a_framework_that_is_not_up_says_nothing(monkeypatch):
    monkeypatch.setitem(sys.modules, "mindspore.communication", communication(False))
    assert detect({}) == ALONE


def test_a_framework_that_fails_says_nothing(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.distributed", types.SimpleNamespace(is_available=None))
    assert detect({}) == ALONE


TORCH = """
import sys, torch.distributed as dist
from summarykit.ranks import detect
before = detect()
dist.init_process_group("gloo", init_method="file://" + sys.argv[1], rank=int(sys.argv[2]), world_size=int(sys.argv[3]))
print(before.source, "|", detect())
dist.destroy_process_group()
"""


def test_torch_with_a_process_group(tmp_path, run_script):
    pytest.importorskip("torch")
    done = run_script(TORCH, tmp_path / "meet", 0, 1, env={"RANK": "3", "WORLD_SIZE": "4"}).expect_success()
    assert done.stdout.strip() == f"RANK, WORLD_SIZE | {Rank(0, 1, None, 'torch.distributed')}"


JAX = """
import socket, jax
from summarykit.ranks import detect
before = detect()
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
jax.distributed.initialize(f"127.0.0.1:{port}", num_processes=1, process_id=0)
print(before, "|", detect())
"""


def test_jax_with_its_processes(run_script):
    pytest.importorskip("jax")
    done = run_script(JAX, env={"JAX_PLATFORMS": "cpu"}).expect_success()
    assert done.stdout.strip() == f"{ALONE} | {Rank(0, 1, None, 'jax.distributed')}"


def test_nothing_is_imported_for_it(run_script):
    code = "import sys; from summarykit.ranks import detect; detect(); print([*filter(sys.modules.get, ('torch', 'jax', 'mindspore'))])"
    assert run_script(code).expect_success().stdout.strip() == "[]"
