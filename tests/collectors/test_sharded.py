"""Of parameters that are in parts on each process nothing is recorded that would be true of a part only; it is said once."""

from __future__ import annotations

import numpy as np
import pytest

from summarykit import Loop, Run, SummaryCollector

EVERYTHING = {"collect_gradient": True, "collect_update_ratio": True, "collect_optimizer_state": True}


def recorded(path, network, optimizer, turn):
    """Tags of two steps in which everything is collected."""
    with Loop(network, optimizer, range(2), 1, SummaryCollector(path, 1, collect_specified_data=EVERYTHING)) as loop:
        for _ in loop.steps():
            turn()
    return tags_of(path)


def tags_of(path):
    tags = Run(path).tags()
    return {tag for kind in ("scalar", "histogram") for tag in tags[kind]}


def test_parts_that_do_not_say_so(tmp_path, network, caplog):
    class Part(np.ndarray):
        ds_id = 3

    network.parameters["layer0.weight"] = np.ones(3).view(Part)
    tags = recorded(tmp_path, network, None, lambda: None)
    assert not any("layer0.weight" in tag for tag in tags)
    assert {"layer1.weight/auto", "layer1.weight/gradient", "layer1.weight/update_ratio"} <= tags    # it is here as a whole
    for what in ("layer0.weight/auto", "layer0.weight/gradient", "no update_ratio"):
        assert len([message for message in caplog.messages if "sharded" in message and what in message]) == 1


def training(torch, network):
    optimizer = torch.optim.Adam(network.parameters())

    def turn():
        optimizer.zero_grad()
        network(torch.ones(2, 4)).sum().backward()
        optimizer.step()

    return network, optimizer, turn


def test_state_of_parameters_in_parts(tmp_path, caplog):
    torch = pytest.importorskip("torch")
    network = torch.nn.Linear(4, 3)
    network.weight._fsdp_flattened = True
    tags = recorded(tmp_path, *training(torch, network))
    assert not any(tag.endswith("_norm") or tag.startswith("weight") for tag in tags)
    assert {"bias/auto", "bias/gradient", "bias/update_ratio"} <= tags
    assert len([message for message in caplog.messages if "optimizer state 'exp_avg' is sharded" in message]) == 1


WHOLE = """
import os, sys, torch
from torch.distributed import fsdp
from summarykit import Loop, SummaryCollector
torch.distributed.init_process_group("gloo", init_method="file://" + sys.argv[1], rank=0, world_size=1)
network = fsdp.FullyShardedDataParallel(torch.nn.Linear(4, 3), device_id=torch.device("cpu"), use_orig_params=True)
optimizer = torch.optim.Adam(network.parameters())
everything = {"collect_gradient": True, "collect_update_ratio": True, "collect_optimizer_state": True}
with Loop(network, optimizer, range(2), 1, SummaryCollector(sys.argv[2], 1, collect_specified_data=everything)) as loop:
    for _ in loop.steps():
        optimizer.zero_grad()
        network(torch.ones(2, 4)).sum().backward()
        optimizer.step()
os._exit(0)    # gloo's thread and one that takes its group apart now and then wait for each other, for ever
"""


def test_fsdp_of_one_process_holds_everything(tmp_path, run_script):
    pytest.importorskip("torch.distributed.fsdp")
    run_script(WHOLE, tmp_path / "store", tmp_path / "run").expect_success()
    tags = tags_of(tmp_path / "run")
    name = "_fsdp_wrapped_module.weight"
    assert {f"{name}/auto", f"{name}/gradient", f"{name}/update_ratio", "gradient_norm", "optimizer/exp_avg_norm"} <= tags
