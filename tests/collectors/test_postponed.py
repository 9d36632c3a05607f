"""Norms that another thread takes: only of what the loop lets go of, and never of something else."""

from __future__ import annotations

import threading
import weakref

import numpy as np
import pytest

from summarykit.collectors import SummaryCollector, postponed
from summarykit.collectors.norms import norm
from summarykit.collectors.postponed import PostponedNorm, Postponing
from summarykit.errors import RefusedValueError
from summarykit.training import Loop

torch = pytest.importorskip("torch")


def test_what_it_gives_and_what_it_lets_go_of():
    found = PostponedNorm([torch.full((4,), 3.0), torch.full((4,), 4.0)], 32, pytest.fail)
    assert (found.shape, found.nbytes, found.settled) == ((), 32, False)
    assert float(found.get().data) == 10
    assert (found.nbytes, found.settled) == (0, True)
    assert found.get() is found.get()


def test_it_is_the_norm_of_all_to_the_last_bit_however_many_parts_are_read(monkeypatch):
    arrays = [torch.rand(size, dtype=dtype) for size in (7, 1, 30, 5) for dtype in (torch.float64, torch.float32, torch.bfloat16)]
    for part in (1, 50, 2**23):
        monkeypatch.setattr(postponed, "PART", part)
        assert float(PostponedNorm(arrays, 0, pytest.fail).get().data) == float(norm(arrays))


def test_each_part_is_let_go_of_when_it_was_read(monkeypatch):
    monkeypatch.setattr(postponed, "PART", 1)
    arrays, left, read = [torch.full((3,), value) for value in (1.0, 2.0, 3.0)], [], postponed.each_alone
    gone = [weakref.ref(each) for each in arrays]

    def watched(torch, part):
        left.append([each() is not None for each in gone])
        return read(torch, part)

    monkeypatch.setattr(postponed, "each_alone", watched)
    found = PostponedNorm(arrays, 36, pytest.fail)
    del arrays
    found.get()
    assert left == [[True, True, True], [True, True, False], [True, False, False]]


def test_what_is_interrupted_goes_on_where_it_was(monkeypatch):
    monkeypatch.setattr(postponed, "PART", 1)
    arrays, read = [torch.full((3,), value) for value in (1.0, 2.0, 3.0)], postponed.each_alone
    found, turns = PostponedNorm(arrays, 36, pytest.fail), iter([False, True, False, False])

    def interrupted(torch, part):
        if next(turns):
            raise KeyboardInterrupt
        return read(torch, part)

    monkeypatch.setattr(postponed, "each_alone", interrupted)
    with pytest.raises(KeyboardInterrupt):
        found.get()
    assert float(found.get().data) == float(norm(arrays))


def test_of_two_threads_both_get_the_norm(monkeypatch):
    """One begins, waits until the other has read all, and notes what it has left itself before that one puts the norm together."""
    monkeypatch.setattr(postponed, "PART", 1)
    begun, through, noted, done = (threading.Event() for _ in range(4))
    arrays, each_alone = [torch.full((3,), value) for value in (1.0, 2.0, 3.0)], postponed.each_alone

    class Crossed(PostponedNorm):
        def __getattribute__(self, name):
            value = super().__getattribute__(name)
            if name == "_left" and not value.arrays:
                through.set()
                assert noted.wait(60)
            return value

        def __setattr__(self, name, value):
            super().__setattr__(name, value)
            if threading.current_thread() is slow:
                noted.set()
                assert done.wait(60)

    def in_turn(torch, part):
        if threading.current_thread() is slow:
            begun.set()
            assert through.wait(60)
        return each_alone(torch, part)

    got = []
    slow = threading.Thread(target=lambda: got.append(float(found.get().data)))
    found = Crossed(arrays, 36, pytest.fail)
    monkeypatch.setattr(postponed, "each_alone", in_turn)
    slow.start()
    assert begun.wait(60)
    got.append(float(found.get().data))
    for each in (through, done):
        each.set()
    slow.join(60)
    assert got == [float(norm(arrays))] * 2


def test_arrays_that_changed_are_refused():
    gradient, told = torch.ones(3), []
    found = PostponedNorm([gradient], gradient.nbytes, lambda: told.append(True))
    gradient.zero_()
    with pytest.raises(RefusedValueError, match="written again before"):
        found.get()
    assert told == [True]


def postpones(*sets):
    postponing = Postponing()
    return [isinstance(postponing.norm(gradients), PostponedNorm) for gradients in sets]


def test_gradients_that_are_replaced_are_postponed_from_the_third_time_on():
    assert postpones(*([torch.ones(3)] for _ in range(4))) == [False, False, True, True]


def test_gradients_that_are_written_again_are_not():
    same = [torch.ones(3)]
    assert not any(isinstance(postponing.norm([same[0].zero_()]), PostponedNorm) for postponing in [Postponing()] for _ in range(3))


def test_more_than_a_bound_is_not_kept_alive(monkeypatch):
    monkeypatch.setattr(postponed, "LARGEST", 11)
    assert postpones(*([torch.ones(3)] for _ in range(4))) == [False] * 4


@pytest.mark.parametrize("replace", [True, False])
@pytest.mark.parametrize("fence", [True, False])
def test_every_norm_is_that_of_its_step(directory, replace, fence):
    torch.manual_seed(0)
    net = torch.nn.Linear(100, 100)
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
    only = {"collect_gradient_norm": True}
    collector = SummaryCollector(directory.path, 1, collect_specified_data=only, keep_default_action=False, fence=fence)
    expected = []
    with Loop(net, optimizer, torch.randn(25, 8, 100), 1, collector) as loop:
        for batch in loop.steps():
            optimizer.zero_grad(set_to_none=replace)
            net(batch).square().sum().backward()
            expected.append(torch.cat([p.grad.flatten() for p in net.parameters()]).norm().item())
            optimizer.step()
    assert directory.steps()["gradient_norm"] == list(range(1, 26))
    np.testing.assert_allclose(directory.values("gradient_norm"), expected, rtol=1e-4)
    assert collector.stats()["dropped"] == {}
