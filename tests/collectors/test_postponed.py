"""Norms that another thread takes: only of what the loop lets go of, and never of something else."""

from __future__ import annotations

import numpy as np
import pytest

from summarykit.collectors import SummaryCollector, postponed
from summarykit.collectors.postponed import PostponedNorm, Postponing
from summarykit.errors import RefusedValueError
from summarykit.training import Loop

torch = pytest.importorskip("torch")


def test_what_it_gives_and_what_it_lets_go_of():
    found = PostponedNorm([torch.full((4,), 3.0), torch.full((4,), 4.0)], pytest.fail)
    assert (found.shape, found.nbytes, found.settled) == ((), 32, False)
    assert float(found.get().data) == 10
    assert (found.nbytes, found.settled) == (0, True)
    assert found.get() is found.get()


def test_arrays_that_changed_are_refused():
    gradient, told = torch.ones(3), []
    found = PostponedNorm([gradient], lambda: told.append(True))
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
