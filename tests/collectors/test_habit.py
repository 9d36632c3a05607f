"""Gradients that are not copied in the call: only in loops that leave them alone, and every one is that of its step."""

from __future__ import annotations

import numpy as np
import pytest

from summarykit.collectors import SummaryCollector, gradient, habit
from summarykit.collectors.habit import Habit
from summarykit.kinds.fence import FENCE, Fence, Lasting
from summarykit.reading import Run
from summarykit.training import Loop

torch = pytest.importorskip("torch")
STEPS = 12


def looks(*sets):
    found = Habit()
    return [found.keeps(gradients) for gradients in sets]


def test_gradients_that_are_replaced_are_left_alone_from_the_third_look_on():
    assert looks(*([torch.ones(3)] for _ in range(4))) == [False, False, True, True]


def test_a_loop_that_writes_them_again_once_is_never_believed_again():
    found, first = Habit(), torch.ones(3)
    assert not found.keeps([first])
    first.zero_()
    assert [found.keeps([torch.ones(3)]) for _ in range(4)] == [False] * 4


def test_what_is_written_past_the_version_is_told_by_its_place():
    same = torch.ones(3)
    found = Habit()
    assert [found.keeps([same]) for _ in range(3)] == [False] * 3
    assert [found.keeps([torch.ones(3)]) for _ in range(3)] == [False] * 3


BUCKETS = """
import os, sys, torch
from summarykit.collectors.habit import Habit
torch.distributed.init_process_group("gloo", init_method="file://" + sys.argv[1], rank=0, world_size=1)
net, found = torch.nn.Sequential(torch.nn.Linear(10, 20), torch.nn.Tanh(), torch.nn.Linear(20, 1)), Habit()
ddp = torch.nn.parallel.DistributedDataParallel(net, gradient_as_bucket_view=True)
kept = []
for batch in torch.randn(5, 8, 10):
    net.zero_grad()
    ddp(batch).square().mean().backward()
    kept.append(found.keeps([parameter.grad for parameter in net.parameters()]))
print(kept, flush=True)
os._exit(0)    # gloo's thread and one that takes its group apart now and then wait for each other, for ever
"""


def test_ddp_that_lays_out_its_buckets_anew_is_not_believed(tmp_path, run_script):
    """The buckets of the first step are left alone, and those after it written at each."""
    done = run_script(BUCKETS, tmp_path / "store").expect_success()
    assert done.stdout.strip() == str([False] * 5)


def test_who_was_found_to_write_is_not_believed():
    found = Habit()
    found.distrust()
    assert [found.keeps([torch.ones(3)]) for _ in range(3)] == [False] * 3


def of_inference():
    with torch.inference_mode():
        return [torch.ones(3)]


def test_the_smallest_is_watched_and_nothing_large_kept(monkeypatch):
    small = torch.ones(2)
    found = Habit()
    found.keeps([torch.ones(100), small])
    small.mul_(2)
    assert not found.keeps([torch.ones(100), torch.ones(2)])
    monkeypatch.setattr(habit, "LARGEST_WITNESS", 2)
    assert looks(*([torch.ones(3)] for _ in range(4))) == [False] * 4


class Subclass(torch.Tensor):
    pass


@pytest.mark.parametrize(
    "make",
    [
        lambda: [np.ones(3)], list, lambda: [torch.ones(3).to_sparse()], lambda: [torch.ones(3, device="meta")],
        lambda: [torch.ones(3), np.ones(3)], lambda: [torch.ones(3).as_subclass(Subclass)], of_inference,
        lambda: [torch.ones(3, dtype=torch.complex64)],
    ],
    ids=["numpy", "nothing", "sparse", "device", "mixed", "subclass", "inference", "complex"],
)  # fmt: skip
def test_of_others_nothing_is_known(make):
    assert looks(make(), make(), make(), [torch.ones(3)]) == [False] * 4


@pytest.fixture(autouse=True)
def _all_wait(monkeypatch):
    monkeypatch.setattr(gradient, "WORTH_WAITING", 1)


# --- in loops -------------------------------------------------------------------------------------------------------


def model():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(10, 20), torch.nn.Tanh(), torch.nn.Linear(20, 1))


def forward_backward(net, batch):
    net(batch).square().mean().backward()


def zeroed_first(net, optimizer, batch):
    optimizer.zero_grad()
    forward_backward(net, batch)
    optimizer.step()


def zeroed_before_backward(net, optimizer, batch):
    loss = net(batch).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def zeroed_last(net, optimizer, batch):
    forward_backward(net, batch)
    optimizer.step()
    optimizer.zero_grad()


def zeroed_in_place_first(net, optimizer, batch):
    optimizer.zero_grad(set_to_none=False)
    forward_backward(net, batch)
    optimizer.step()


def zeroed_in_place_last(net, optimizer, batch):
    forward_backward(net, batch)
    optimizer.step()
    optimizer.zero_grad(set_to_none=False)


def zeroed_by_hand(net, optimizer, batch):
    forward_backward(net, batch)
    optimizer.step()
    for parameter in net.parameters():
        parameter.grad.data.zero_()    # counts no version up


def never_zeroed(net, optimizer, batch):
    forward_backward(net, batch)
    optimizer.step()


def accumulated_and_clipped(net, optimizer, batch):
    optimizer.zero_grad()
    for part in batch.chunk(4):
        forward_backward(net, part)
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1e-2)
    optimizer.step()


def scaled(net, optimizer, batch):
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0)
    optimizer.zero_grad()
    scaler.scale(net(batch).square().mean()).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1e-2)
    scaler.step(optimizer)
    scaler.update()


def by_a_closure(net, optimizer, batch):
    def closure():
        optimizer.zero_grad()
        loss = net(batch).square().mean()
        loss.backward()
        return loss

    optimizer.step(closure)


def written_after_the_update(net, optimizer, batch):
    optimizer.zero_grad()
    forward_backward(net, batch)
    optimizer.step()
    (net(batch).mean() * 3).backward()    # as a discriminator's backward pass through a generator does


def written_by_numpy(net, optimizer, batch):
    """Past the version, and zeroed right behind the update."""
    for parameter in net.parameters():
        if parameter.grad is None:
            parameter.grad = torch.zeros_like(parameter)
        parameter.grad.numpy()[...] = batch.mean().item()
    optimizer.step()
    for parameter in net.parameters():
        parameter.grad.numpy()[...] = 0


def made_in_inference_mode(net, optimizer, batch):
    with torch.inference_mode():
        for parameter in net.parameters():
            parameter.grad = torch.full_like(parameter, batch.mean())
    optimizer.step()


LOOPS = [
    zeroed_first, zeroed_before_backward, zeroed_last, zeroed_in_place_first, zeroed_in_place_last, zeroed_by_hand, never_zeroed,
    accumulated_and_clipped, scaled, by_a_closure, written_after_the_update, written_by_numpy,
    made_in_inference_mode,
]  # fmt: skip
LEAVING_ALONE = {zeroed_first, zeroed_before_backward, zeroed_last, accumulated_and_clipped, scaled, by_a_closure}


def train(body, directory=None, freq=1, fence=True):
    """Every gradient as it was at its update, what the parameters came to, and the collector."""
    net = model()
    chosen = torch.optim.LBFGS if body is by_a_closure else torch.optim.Adam
    optimizer = chosen(net.parameters(), lr=0.01)
    asked = {"histogram_regular": ".*", "collect_gradient": True, "collect_gradient_norm": True}
    collector = directory and SummaryCollector(directory, freq, collect_specified_data=asked, keep_default_action=False, fence=fence)
    seen, step = {}, 0

    def note(*_):
        seen[step] = {name: parameter.grad.numpy().copy() for name, parameter in net.named_parameters()}

    optimizer.register_step_post_hook(note)
    with Loop(net, optimizer, torch.randn(STEPS, 8, 10), 1, collector or []) as loop:
        for batch in loop.steps():
            step = loop.step
            body(net, optimizer, batch)
    return seen, [parameter.detach().numpy().tobytes() for parameter in net.parameters()], collector


def check(directory, seen, freq):
    run = Run(directory)
    collected = [step for step in range(1, STEPS + 1) if step in (1, STEPS) or step % freq == 0]
    assert run.scalars("gradient_norm").step.tolist() == collected
    for name in seen[1]:
        points = run.histograms(f"{name}/gradient")
        assert points.step.tolist() == collected
        for step in collected:
            found, held = points.at(step).value, seen[step][name].astype(np.float64)
            assert (found.min, found.max, found.sum) == pytest.approx((held.min(), held.max(), held.sum()))


@pytest.mark.parametrize("freq", [1, 5])
@pytest.mark.parametrize("body", LOOPS, ids=lambda body: body.__name__)
def test_every_gradient_is_that_of_its_step(tmp_path, body, freq):
    seen, weights, collector = train(body, tmp_path, freq)
    check(tmp_path, seen, freq)
    assert collector.stats()["dropped"] == {}
    assert weights == train(body)[1]
    assert not FENCE.waiting


@pytest.mark.parametrize("body", LOOPS, ids=lambda body: body.__name__)
def test_what_waits_longest_is_still_that_of_its_step(body):
    """Whatever the pump's thread does: a copy that is made after all of training finds the gradient as it was."""
    held, found = [], Habit()

    def hook(optimizer, args, kwargs):
        gradients = [each for group in optimizer.param_groups for each in (parameter.grad for parameter in group["params"])]
        if found.keeps(gradients):
            held.extend((FENCE.postpone(each, pytest.fail), each.numpy().copy()) for each in gradients)

    net = model()
    optimizer = (torch.optim.LBFGS if body is by_a_closure else torch.optim.Adam)(net.parameters(), lr=0.01)
    optimizer.register_step_post_hook(hook)
    for batch in torch.randn(STEPS, 8, 10):
        body(net, optimizer, batch)
    assert bool(held) == (body in LEAVING_ALONE)
    assert all(isinstance(lasting, Lasting) and np.array_equal(lasting.get().data, copy) for lasting, copy in held)
    FENCE.begin()
    assert not FENCE.waiting


def test_who_says_so_has_gradients_copied_in_the_call(tmp_path, monkeypatch):
    monkeypatch.setattr(Fence, "postpone", None)
    seen, _, _ = train(zeroed_first, tmp_path, fence=False)
    check(tmp_path, seen, 1)


def test_a_loop_that_changes_its_habit_costs_one_look_at_most(tmp_path, caplog):
    """Of what was to be copied then at most those values are dropped, counted, and told of; from then on all are copied in the call."""
    turn = {"count": 0}

    def body(net, optimizer, batch):
        turn["count"] += 1
        (zeroed_last if turn["count"] < 6 else zeroed_in_place_last)(net, optimizer, batch)

    seen, _, collector = train(body, tmp_path)
    run = Run(tmp_path)
    dropped = sum(collector.stats()["dropped"].values())
    assert dropped <= 5    # four gradients and their norm
    for name in seen[1]:
        steps = run.histograms(f"{name}/gradient").step.tolist()
        assert set(range(1, STEPS + 1)) - set(steps) <= {6}


def test_of_two_optimizers_one_that_zeroes_in_place_costs_one_look(tmp_path):
    """The smallest gradient is let go of, which says nothing of the others."""
    torch.manual_seed(0)
    net = model()
    first, second = torch.optim.SGD([net[2].bias], 0.01), torch.optim.SGD([*net[0].parameters(), net[2].weight], 0.01)
    asked = {"histogram_regular": ".*", "collect_gradient": True}
    collector = SummaryCollector(tmp_path, 1, collect_specified_data=asked, keep_default_action=False)
    with Loop(net, first, torch.randn(STEPS, 8, 10), 1, collector) as loop:
        for batch in loop.steps():
            forward_backward(net, batch)
            first.step()
            second.step()
            first.zero_grad()
            second.zero_grad(set_to_none=False)
            FENCE.begin()
    dropped = collector.stats()["dropped"]
    assert sum(dropped.values()) <= 3
    assert not any("parameter" in reason for reason in dropped)
