"""Distributed runs: who records, where, and what."""

from __future__ import annotations

import logging

import pytest

from summarykit.collectors import SummaryCollector
from summarykit.training import CallbackList, Loop, RunContext

RANKED = """
import sys
from summarykit import Loop, SummaryCollector
with Loop(train_dataset=range(3), callbacks=SummaryCollector(sys.argv[1], **eval(sys.argv[2]))) as loop:
    for _ in loop.steps():
        loop.report(loss=loop.step)
"""


def train(path, **arguments):
    with Loop(None, {"lr": 1}, range(3), 1, SummaryCollector(path, 1, **arguments)) as loop:
        for _ in loop.steps():
            loop.report(loss=loop.step)
    return loop


def launched(monkeypatch, rank):
    monkeypatch.setenv("RANK", str(rank))
    monkeypatch.setenv("WORLD_SIZE", "4")


def test_cb9_four_ranks_of_one_directory_and_rank_0_writes(directory, start_script):
    processes = [start_script(RANKED, directory.path, {}, env={"RANK": str(rank), "WORLD_SIZE": "4"})[1] for rank in range(4)]
    assert [process.wait(150) for process in processes] == [0] * 4
    assert [file.name.split(".")[5] for file in directory.files] == ["0"]
    assert [path for path in directory.path.rglob("*") if path.is_dir()] == []
    assert directory.steps()["loss"] == [1, 3]
    told = [process.stderr.read() for process in processes]
    assert ["records nothing" in text for text in told] == [False, True, True, True]
    assert "rank 2 of 4 (says RANK, WORLD_SIZE) records nothing; SummaryCollector(rank=0) records, and so does ranks='all'" in told[2]


def test_a_rank_above_0_records_everything_below_where_all_are_asked(directory, monkeypatch):
    launched(monkeypatch, 2)
    train(directory.path, ranks="all")
    assert [path.name for path in directory.path.iterdir()] == ["rank_2"]
    assert directory.steps()["loss"] == [1, 2, 3]


def test_a_rank_above_0_records_its_machine_where_that_is_asked(directory, monkeypatch):
    launched(monkeypatch, 2)
    train(directory.path, ranks="machine")
    assert {tag.split("/")[0] for tag in directory.steps()} == {"throughput", "system"}


def test_rank_0_records_everything_where_machines_are_asked(directory, monkeypatch):
    launched(monkeypatch, 0)
    train(directory.path, ranks="machine")
    assert directory.steps()["loss"] == [1, 2, 3]
    assert all(file.is_file() for file in directory.path.iterdir())


def test_what_the_user_says_counts_most(directory, monkeypatch):
    launched(monkeypatch, 2)
    train(directory.path, rank=0)
    assert directory.steps()["loss"] == [1, 2, 3]


def test_a_rank_that_records_nothing_leaves_no_directory(directory):
    train(directory.path, rank=3)
    assert list(directory.path.iterdir()) == []


DISTRIBUTED = """
import os, sys, torch
from summarykit import Loop, SummaryCollector
directory, meet, rank = sys.argv[1], sys.argv[2], int(sys.argv[3])
collector = SummaryCollector(directory, 1, ranks="machine")    # before anybody can know the rank
torch.distributed.init_process_group("gloo", init_method="file://" + meet, rank=rank, world_size=2)
net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
with Loop(net, optimizer, torch.ones(3, 4, 2), 1, collector, network=net.module) as loop:
    for batch in loop.steps():
        optimizer.zero_grad()
        loss = net(batch * (rank + 1)).square().mean()
        loss.backward()
        optimizer.step()
        loop.report(loss=loss)
torch.distributed.barrier()
torch.distributed.destroy_process_group()
os._exit(0)    # PyTorch's own threads now and then abort a process that ends while they do
"""


@pytest.mark.slow
def test_cb9_a_real_distributed_run(directory, tmp_path, start_script):
    pytest.importorskip("torch")
    started = [start_script(DISTRIBUTED, directory.path, tmp_path / "meet", rank)[1] for rank in range(2)]
    assert [process.wait(150) for process in started] == [0, 0], [process.stderr.read() for process in started]
    first = type(directory)(directory.path / "rank_1").steps()
    assert {tag.split("/")[0] for tag in first} == {"throughput", "system"}
    steps = directory.steps()
    assert steps["loss"] == steps["weight/auto"] == steps["gradient_norm"] == [1, 2, 3]


def test_what_the_adapter_says_counts_more_than_the_launcher(directory, monkeypatch):
    launched(monkeypatch, 2)
    callbacks = CallbackList(SummaryCollector(directory.path))
    with callbacks.entered():
        callbacks.fire("on_train_begin", RunContext({"cur_step_num": 0, "rank": 0}))
        callbacks.fire("on_train_step_end", RunContext({"cur_step_num": 1, "rank": 0, "reported": {"loss": 1}}))
    assert directory.steps()["loss"] == [1]


@pytest.mark.parametrize("rank", [0, 1])
def test_the_loop_tells_how_many_there_are(monkeypatch, rank):
    launched(monkeypatch, rank)
    with Loop(train_dataset=range(1)) as loop:
        params = loop._context.original_args()
    assert (params.device_number, params.parallel_mode) == (4, "data_parallel")


def test_a_silent_rank_is_silent_in_evaluations_too(directory, monkeypatch, caplog, no_leftovers):
    launched(monkeypatch, 1)
    loop = Loop(train_dataset=range(3), callbacks=SummaryCollector(directory.path))
    with caplog.at_level(logging.INFO, "summarykit"):
        for _ in loop.epochs():
            for _ in loop.steps():
                pass
            with loop.evaluation():
                loop.report(accuracy=1)
        with loop.evaluation():
            loop.report(accuracy=1)
    assert list(directory.path.iterdir()) == []
    assert len(caplog.messages) == 1
