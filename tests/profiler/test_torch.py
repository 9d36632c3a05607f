"""PyTorch: phases and data waits without a line in the loop, Kineto's trace beside, collectives with their order."""

from __future__ import annotations

import logging
import sys
from collections import Counter

import numpy as np
import pytest

from summarykit import Loop, Profiler, StopAtStep, schedule
from summarykit.profiler.merging import recorded
from summarykit.profiler.parsers import read
from summarykit.profiler.recording import Category, Recording

torch = pytest.importorskip("torch")

LIGHT = ["input", "torch"]


@pytest.fixture(autouse=True)
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


class Numbers(torch.utils.data.Dataset):
    def __len__(self) -> int:
        return 24

    def __getitem__(self, place: int):
        return torch.full((8,), float(place)), place % 3


def model_and_optimizer():
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Linear(16, 3)))
    return model, torch.optim.SGD(model.parameters(), lr=0.01)


def train(loader, steps=None, model=None, optimizer=None, after=lambda: None) -> None:
    if model is None:
        model, optimizer = model_and_optimizer()
    loss_fn = torch.nn.CrossEntropyLoss()
    for data, target in loader:
        optimizer.zero_grad()
        loss_fn(model(data), target).backward()
        optimizer.step()
        after()


def loader(**options):
    return torch.utils.data.DataLoader(Numbers(), batch_size=4, **options)


def phases(recording: Recording) -> Counter[str]:
    chosen = recording.spans.of(Category.PHASE)
    return Counter(recording.spans.names[number] for number in recording.spans.name[chosen].tolist())


def only(profiler: Profiler) -> Recording:
    (recording,) = recorded(profiler.windows[-1].records)
    assert not recording.skipped
    return recording


def test_all_phases_are_seen_and_steps_end_with_updates(tmp_path):
    with Profiler(tmp_path, collectors=LIGHT) as profiler:
        train(loader())
    recording = only(profiler)
    # Six batches: the model and the loss are called by the loop; one wait makes the iterator, one finds that there is no more.
    assert phases(recording) == {"data wait": 8, "forward": 12, "backward": 6, "optimizer": 12}
    steps = recording.tables["steps"]
    assert steps["step"].tolist() == [1, 2, 3, 4, 5, 6]
    assert ((steps["start"] < steps["fp_start"]) & (steps["fp_start"] < steps["bp_end"]) & (steps["bp_end"] < steps["end"])).all()
    assert recording.meta["collected"]["input"]["loaders"] == [
        {
            "num_workers": 0, "batch_size": 4, "prefetch_factor": None, "pin_memory": False, "persistent_workers": False,
            "dataset": "Numbers",
        }
    ]  # fmt: skip


def test_steps_by_hand_hold_their_phases(tmp_path):
    with Profiler(tmp_path, collectors=LIGHT) as profiler:
        train(loader(), after=profiler.step)
    report = profiler.analyse()
    split = report.profiles[0].phases
    assert split["step"].tolist() == [1, 2, 3, 4, 5, 6]
    for name in ("data wait", "forward", "backward", "optimizer"):
        assert (split[name] > 0).all(), name


def test_nothing_is_left_in_pytorch(tmp_path):
    def state():
        module = sys.modules["torch.nn.modules.module"]
        optimizer = sys.modules["torch.optim.optimizer"]
        hooks = [module._global_forward_hooks, module._global_forward_pre_hooks, optimizer._global_optimizer_pre_hooks]
        kinds = (torch.utils.data.DataLoader, torch.utils.data.dataloader._BaseDataLoaderIter, torch.optim.Optimizer, torch.Tensor)
        names = ("__iter__", "__next__", "zero_grad", "to", "cuda", "backward")
        return [len(one) for one in hooks], [vars(kind).get(name) for kind in kinds for name in names], torch.autograd.backward

    model, optimizer = model_and_optimizer()
    before = state()
    with Profiler(tmp_path, collectors=LIGHT):
        assert state() != before
        train(loader(), model=model, optimizer=optimizer)
        assert model._forward_hooks
    assert state() == before
    assert not model._forward_hooks
    assert not model._forward_pre_hooks


def test_a_window_in_the_middle_of_an_epoch(tmp_path):
    profiler = Profiler(tmp_path, False, collectors=LIGHT)
    model, optimizer = model_and_optimizer()
    loss_fn = torch.nn.CrossEntropyLoss()
    loop = Loop(train_dataset=loader(), callbacks=[StopAtStep(3, 4, profiler=profiler)])
    with loop:
        for data, target in loop.steps():
            optimizer.zero_grad()
            loss = loss_fn(model(data), target)
            loss.backward()
            optimizer.step()
            loop.report(loss=loss)
    recording = only(profiler)
    assert recording.tables["steps"]["step"].tolist() == [3, 4]
    assert phases(recording) == {"data wait": 4, "forward": 4, "backward": 2, "optimizer": 4}    # each wait by the loop and by the loader


def test_a_transfer_is_what_ends_on_another_device(tmp_path):
    with Profiler(tmp_path, collectors=["torch"]) as profiler:
        tensor = torch.ones(3)
        tensor.to(torch.float64)
        tensor.to("meta")
    assert phases(only(profiler)) == {"transfer": 1}


def test_an_error_in_forward_is_a_span_too(tmp_path):
    model = torch.nn.Linear(8, 3)
    with Profiler(tmp_path, collectors=["torch"]) as profiler:
        with pytest.raises(RuntimeError):
            model(torch.ones(2, 5))
        model(torch.ones(2, 8))
    assert phases(only(profiler)) == {"forward": 2}


def test_pr12_workers_of_a_data_loader(run_script, tmp_path):
    code = """
import sys, threading, torch
from summarykit import Profiler
torch.set_num_threads(1)

class Numbers(torch.utils.data.Dataset):
    def __len__(self): return 24
    def __getitem__(self, place): return torch.full((8,), float(place))

profiler = Profiler(sys.argv[1], collectors=["input", "torch", "system", "stacks", "gc", "logging"])
for epoch in range(2):
    for batch in torch.utils.data.DataLoader(Numbers(), batch_size=4, num_workers=2):
        profiler.step()
profiler.stop()
"""
    run_script(code, tmp_path).expect_success()
    (recording,) = read(tmp_path)    # the workers wrote none
    assert recording.tables["steps"].rows == 12
    assert phases(recording)["data wait"] == 2 * (1 + 6 + 1)
    counters = recording.tables["counters"]
    queue = counters["value"][counters["counter"] == "queue/dataloader"]
    assert len(queue) == 14
    assert ((queue >= 0) & (queue <= 4)).all()
    assert recording.meta["collected"]["input"]["loaders"][0]["num_workers"] == 2


def test_kineto_lies_beside_and_becomes_part_of_the_recording(tmp_path):
    profiler = Profiler(tmp_path, collectors=[*LIGHT, "kineto"])
    train(loader(), after=profiler.step)
    profiler.stop()
    (records, trace) = sorted(profiler.windows[0].directory.iterdir(), key=lambda path: path.suffix == ".json")
    assert (records.name, trace.name) == ("rank_0.profile", "rank_0.kineto.json")
    recording = only(profiler)
    operators = {recording.spans.names[number] for number in recording.spans.name[recording.spans.of(Category.HOST_OP)].tolist()}
    assert "aten::linear" in operators
    steps = recording.tables["steps"]
    inside = recording.spans.start[recording.spans.of(Category.HOST_OP)]
    # On one clock: what ran while steps 2 to 6 were traced lies within them, give or take what the two clocks differ by.
    assert (inside >= steps["start"][1] - 10**8).all()
    assert (inside <= steps["end"][-1] + 10**8).all()
    assert recording.meta["collected"]["kineto"]["steps"] == 5


def test_kineto_is_on_from_the_first_step_where_a_callback_opens_the_window(tmp_path):
    profiler = Profiler(tmp_path, False, collectors=["kineto"])
    loop = Loop(train_dataset=range(6), callbacks=[StopAtStep(2, 4, profiler=profiler)])
    with loop:
        for _ in loop.steps():
            torch.ones(3) + 1
            loop.report(loss=1.0)
    recording = only(profiler)
    traced = [name for name in recording.spans.names if name.startswith("ProfilerStep#")]
    assert sorted(traced) == ["ProfilerStep#2", "ProfilerStep#3", "ProfilerStep#4"]


def test_kineto_ends_after_enough_steps(tmp_path):
    with Profiler(tmp_path, collectors=["kineto"]) as profiler:
        for _ in range(30):
            torch.ones(3) + 1
            profiler.step()
    recording = only(profiler)
    assert recording.meta["collected"]["kineto"] == {"trace": "rank_0.kineto.json", "steps": 20, "ended": "20 steps are enough"}
    assert recording.tables["steps"].rows == 30


def test_pr2_two_windows_do_not_take_kineto_from_each_other(tmp_path, caplog):
    caplog.set_level(logging.WARNING, "summarykit")
    outer, inner = (Profiler(tmp_path / name, False, collectors=["kineto"]) for name in ("outer", "inner"))
    with outer:
        for step in range(8):
            if step == 3:
                inner.start()
            torch.ones(3) + 1
            outer.step()
            inner.step()
        inner.stop()
    assert "in use by another window" in caplog.text or "uses torch.profiler itself" in caplog.text
    assert only(outer).meta["collected"]["kineto"]["steps"] == 7
    assert only(inner).meta["collected"]["kineto"]["trace"] is None


def test_pr2_the_programs_own_torch_profiler_keeps_its_events(tmp_path, caplog):
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as theirs, Profiler(tmp_path) as profiler:
        for _ in range(3):
            torch.ones(3) + 1
            profiler.step()
    assert any(event.key == "aten::add" for event in theirs.key_averages())
    assert "uses torch.profiler itself" in caplog.text
    assert only(profiler).tables["steps"].rows == 3


def test_a_schedule_traces_each_period(tmp_path):
    profiler = Profiler(tmp_path, collectors=["kineto"], schedule=schedule(wait=1, warmup=1, active=2, repeat=2))
    for _ in range(10):
        torch.ones(3) + 1
        profiler.step()
    for window, numbers in zip(profiler.windows, ([3, 4], [7, 8]), strict=True):
        (recording,) = recorded(window.records)
        assert recording.tables["steps"]["step"].tolist() == numbers
        traced = sorted(int(name[13:]) for name in recording.spans.names if name.startswith("ProfilerStep#"))
        assert traced == numbers


COLLECTIVES = """
import os, sys, torch, time
import torch.distributed as dist
from summarykit import Profiler
rank = int(os.environ["RANK"])
torch.set_num_threads(1)
dist.init_process_group("gloo", init_method="file://" + sys.argv[2], rank=rank, world_size=2)
profiler = Profiler(sys.argv[1], collectors=["communication", "torch"])
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    loss = model(torch.ones(2, 4)).sum()
    if rank == 1:
        time.sleep(0.05)
    loss.backward()
    optimizer.step()
    dist.all_reduce(torch.ones(100))
    profiler.step()
dist.barrier()
profiler.stop()
dist.destroy_process_group()
os._exit(0)    # PyTorch's own threads now and then abort a process that ends while they do
"""


def test_collectives_of_two_ranks_have_the_same_order(start_script, tmp_path):
    running = [
        start_script(COLLECTIVES, tmp_path / "out", tmp_path / "rendezvous", env={"RANK": str(rank), "WORLD_SIZE": "2"})[1]
        for rank in range(2)
    ]
    for process in running:
        output = process.communicate(timeout=600)
        assert process.returncode == 0, output
    zero, one = (recording for recording in read(tmp_path / "out"))
    assert (zero.rank, one.rank, zero.world_size) == (0, 1, 2)
    tables = [recording.tables["collectives"] for recording in (zero, one)]
    for table in tables:
        assert table["operation"].tolist() == ["gradients", "all_reduce"] * 3 + ["barrier"]
        assert table["sequence"].tolist() == list(range(7))
        assert table["bytes"].tolist() == [-1, 400] * 3 + [-1]
    starts, ends = (
        np.stack([table[column] + recording.clock_offset for table, recording in zip(tables, (zero, one), strict=True)])
        for column in ("start", "end")
    )
    assert (ends.min(axis=0) > starts.max(axis=0) - 5_000_000).all()    # nobody goes on before everybody has come
    assert phases(zero)["communication"] == 7
    assert np.all(tables[0]["end"] > tables[0]["start"])


@pytest.mark.parametrize("kind", ["pre", "post"])
def test_a_window_may_be_opened_and_closed_within_a_hook_of_an_optimizer(tmp_path, kind):
    """As adapters do that watch optimizers."""
    module = sys.modules["torch.optim.optimizer"]
    both = module._global_optimizer_pre_hooks, module._global_optimizer_post_hooks
    before = [len(hooks) for hooks in both]
    profiler = Profiler(tmp_path, False, collectors=["torch"])
    model, optimizer = model_and_optimizer()
    calls = iter(range(10))

    def hook(*_: object) -> None:
        call = next(calls)
        if call in (1, 6):
            profiler.start()
        if call in (4, 8):
            profiler.stop()

    handle = getattr(module, f"register_optimizer_step_{kind}_hook")(hook)
    try:
        for _ in range(10):
            optimizer.zero_grad()
            model(torch.ones(2, 8)).sum().backward()
            optimizer.step()
    finally:
        handle.remove()
    assert phases(recorded(profiler.windows[0].records)[0])["backward"] == 3
    assert phases(recorded(profiler.windows[1].records)[0])["backward"] == 2
    with profiler:
        optimizer.zero_grad()
    assert [len(hooks) for hooks in both] == before    # what had to stay went with the next window
