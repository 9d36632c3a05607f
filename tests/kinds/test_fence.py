"""Fences: a parameter's copy may wait for the optimizer's next step, and for nothing else."""

from __future__ import annotations

import gc
import os
import threading

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from summarykit.errors import RefusedValueError  # noqa: E402
from summarykit.kinds import KINDS, fence  # noqa: E402
from summarykit.kinds.arrays import freeze  # noqa: E402
from summarykit.kinds.fence import FENCE, Fence, Fenced  # noqa: E402
from summarykit.reading import Run  # noqa: E402
from summarykit.summary import SummaryRecord  # noqa: E402
from summarykit.writing import buffer  # noqa: E402

SHAPE = (100, 100)


def trained(optimizer=torch.optim.SGD):
    """A parameter whose optimizer has made a step, and a function that makes another."""
    parameter = torch.nn.Parameter(torch.ones(SHAPE))
    FENCE.hold(parameter)    # sets the hook
    chosen = optimizer([parameter], lr=1.0)

    def step():
        parameter.grad = torch.ones(SHAPE)
        chosen.step()

    step()
    return parameter, step


def test_a_parameter_is_trusted_to_the_fence_once_its_optimizer_called_the_hook():
    parameter = torch.nn.Parameter(torch.ones(SHAPE))
    assert FENCE.hold(parameter) is None
    optimizer = torch.optim.SGD([parameter], lr=1.0)
    assert FENCE.hold(parameter) is None
    parameter.grad = torch.ones(SHAPE)
    optimizer.step()
    assert isinstance(FENCE.hold(parameter), Fenced)
    FENCE.settle()


@pytest.mark.parametrize("optimizer", [torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW, torch.optim.RMSprop])
def test_any_optimizers_step_finds_the_copy_made(optimizer):
    parameter, step = trained(optimizer)
    before = parameter.detach().numpy().copy()
    fenced = FENCE.hold(parameter)
    step()
    assert not np.array_equal(parameter.detach().numpy(), before)
    np.testing.assert_array_equal(fenced.get().data, before)


def test_another_optimizers_step_is_a_fence_too():
    parameter, _ = trained()
    _, other_step = trained()
    fenced = FENCE.hold(parameter)
    other_step()
    assert fenced.settled


def test_a_change_before_the_copy_is_noticed():
    parameter, _ = trained()
    fenced = FENCE.hold(parameter)
    with torch.no_grad():
        parameter += 1
    with pytest.raises(RefusedValueError, match="fence=False"):
        fenced.get()
    FENCE.settle()
    assert FENCE.hold(parameter) is None    # who wrote to it will again


def test_a_change_while_it_is_copied_is_noticed(monkeypatch):
    parameter, _ = trained()
    fenced = FENCE.hold(parameter)
    from summarykit.kinds import fence

    def copy_and_change(tensor):
        copy = KINDS.get("tensor").snapshot(tensor)
        with torch.no_grad():
            parameter.add_(1)
        return copy

    monkeypatch.setattr(fence, "freeze", copy_and_change)
    with pytest.raises(RefusedValueError):
        fenced.get()
    FENCE.settle()


@pytest.mark.parametrize(
    "make",
    [
        lambda parameter: parameter.detach(),
        lambda parameter: parameter * 2,
        lambda parameter: parameter.grad,
        lambda parameter: torch.nn.Parameter(torch.ones(SHAPE)),
        lambda parameter: torch.nn.Parameter(torch.ones(3)),
        lambda parameter: np.ones(SHAPE),
        lambda parameter: 1.0,
    ],
)
def test_everything_else_is_copied_in_the_call(make):
    parameter, _ = trained()
    assert FENCE.hold(make(parameter)) is None


def with_closure(optimizer_type=torch.optim.SGD, by_name=False):
    """A parameter that is being trained, and a function that trains it one step more and tells what ``look`` saw in the closure."""
    parameter = torch.nn.Parameter(torch.linspace(1, 2, 10_000).reshape(SHAPE))
    optimizer = optimizer_type([parameter], lr=0.1)
    FENCE.hold(parameter)

    def step(look=lambda: None):
        seen = []

        def closure():
            optimizer.zero_grad()
            loss = parameter.square().sum()
            loss.backward()
            seen.append(look())
            return loss.detach()

        loss = optimizer.step(closure=closure) if by_name else optimizer.step(closure)
        assert float(loss) >= 0
        return seen[0]

    step()
    return parameter, step


@pytest.mark.parametrize("by_name", [False, True])
@pytest.mark.parametrize("optimizer", [torch.optim.SGD, torch.optim.Adam, torch.optim.LBFGS])
def test_of_a_step_with_a_closure_the_copies_wait_until_that_ends(optimizer, by_name):
    parameter, step = with_closure(optimizer, by_name)
    before = parameter.detach().numpy().copy()
    fenced = FENCE.hold(parameter)
    assert not step(lambda: fenced.settled)
    assert not np.array_equal(parameter.detach().numpy(), before)
    np.testing.assert_array_equal(fenced.get().data, before)


def test_what_is_recorded_in_the_closure_is_copied_before_the_update():
    parameter, step = with_closure()
    before = parameter.detach().numpy().copy()
    fenced = step(lambda: FENCE.hold(parameter))
    assert fenced.settled
    np.testing.assert_array_equal(fenced.get().data, before)


def test_an_optimizer_that_may_change_parameters_before_its_closure_finds_the_copies_made():
    class Ahead(torch.optim.SGD):
        """Moves first, as SAM does."""

        def step(self, closure):
            with torch.no_grad():
                self.param_groups[0]["params"][0].add_(1)
            return closure()

    parameter, step = with_closure(Ahead)
    before = parameter.detach().numpy().copy()
    fenced = FENCE.hold(parameter)
    assert step(lambda: fenced.settled)
    np.testing.assert_array_equal(fenced.get().data, before)


class Other(torch.optim.SGD):
    """Not PyTorch's own: calls what it is given with arguments, or does not call it."""

    def step(self, given, *args):
        return given(*args) if args else given


@pytest.mark.parametrize("given", [[torch.ones(SHAPE)], torch.nn.Linear(1, 1)])
def test_what_another_optimizers_step_takes_in_the_place_of_a_closure_reaches_it(given):
    parameter = torch.nn.Parameter(torch.ones(SHAPE))
    FENCE.hold(parameter)
    assert Other([parameter], lr=0.1).step(given) is given
    assert isinstance(FENCE.hold(parameter), Fenced)    # it is a fence all the same
    FENCE.settle()


def test_a_closure_may_take_arguments_and_its_exception_ends_it_behind_the_copies():
    parameter = torch.nn.Parameter(torch.ones(SHAPE))
    FENCE.hold(parameter)
    optimizer = Other([parameter], lr=0.1)
    assert optimizer.step(lambda number: number, 7) == 7
    held = []

    def closure(number):
        held.append(FENCE.hold(parameter))
        raise FloatingPointError(number)

    with pytest.raises(FloatingPointError):
        optimizer.step(closure, 8)
    assert held[0].settled


def test_a_compiled_step_is_a_fence_that_is_not_compiled():
    graphs = []

    def backend(graph, example):
        graphs.append(graph)
        return graph.forward

    parameter, _ = trained()
    optimizer = torch.optim.SGD([parameter], lr=1.0)
    parameter.grad = torch.ones(SHAPE)
    step = torch.compile(optimizer.step, backend=backend)
    step()
    compiled = len(graphs)
    before = parameter.detach().numpy().copy()
    fenced = FENCE.hold(parameter)
    step()
    assert fenced.settled
    assert not np.array_equal(parameter.detach().numpy(), before)
    np.testing.assert_array_equal(fenced.get().data, before)
    assert len(graphs) == compiled > 0


def test_behind_a_closure_that_is_compiled_is_a_fence_that_is_not():
    """What looks at new parameters and copies known ones would break graphs for reasons of its own."""
    reasons = torch._dynamo.utils.counters["graph_break"]
    reasons.clear()
    parameter = torch.nn.Parameter(torch.ones(SHAPE))
    optimizer = torch.optim.SGD([parameter], lr=0.1)

    def closure():
        optimizer.zero_grad()
        parameter.square().sum().backward()

    FENCE.hold(parameter)
    step = torch.compile(optimizer.step, backend="eager")
    step(closure)
    before = parameter.detach().numpy().copy()
    fenced = FENCE.hold(parameter)
    step(closure)
    assert fenced.settled
    np.testing.assert_array_equal(fenced.get().data, before)
    assert not np.array_equal(parameter.detach().numpy(), before)
    assert not [reason for reason in reasons if "weakref" in reason or "data_ptr" in reason]


def test_what_is_no_optimizer_of_pytorch_may_tell_of_its_updates():
    class Optimizer:
        """Has no hooks."""

    optimizer, parameter = Optimizer(), torch.nn.Parameter(torch.ones(SHAPE))
    FENCE.before_update(optimizer, 1, iter([parameter]))
    fenced = FENCE.hold(parameter)
    FENCE.before_update(optimizer, 1, iter([parameter]))
    assert fenced.settled
    np.testing.assert_array_equal(fenced.get().data, np.ones(SHAPE))


def test_parameters_added_to_an_optimizer_later_are_trusted_too():
    first, second = torch.nn.Parameter(torch.ones(SHAPE)), torch.nn.Parameter(torch.ones(SHAPE))
    FENCE.hold(first)
    optimizer = torch.optim.SGD([first], lr=1.0)
    optimizer.step()
    optimizer.add_param_group({"params": [second]})
    optimizer.step()
    assert FENCE.hold(second) is not None
    FENCE.settle()


def test_updates_in_which_nothing_waits_are_hardly_looked_at_until_something_new_is_recorded(monkeypatch):
    known, step = trained()
    for _ in range(fence.LOOKS):
        step()
    looks = []
    monkeypatch.setattr(FENCE, "before_update", lambda *update: looks.append(update) or Fence.before_update(FENCE, *update))
    step()
    assert looks == []
    copied_at_the_next, (new, step_of_new) = FENCE.hold(known), trained()
    assert copied_at_the_next.settled
    for _ in range(fence.LOOKS):    # of the other optimizer: the new one's turn comes behind it
        step_of_new()
    assert isinstance(FENCE.hold(new), Fenced)
    step()
    assert not FENCE.waiting


def test_of_two_optimizers_in_turn_both_are_looked_at():
    _, step = trained()
    new = torch.nn.Parameter(torch.ones(SHAPE))
    optimizer = torch.optim.SGD([new], lr=1.0)
    for _ in range(2 * fence.LOOKS):
        step()
        optimizer.step()
    later = torch.nn.Parameter(torch.ones(SHAPE))
    optimizer.add_param_group({"params": [later]})
    step()
    optimizer.step()
    assert FENCE.hold(later) is None
    step()
    optimizer.step()
    assert isinstance(FENCE.hold(later), Fenced)
    FENCE.settle()


def test_nothing_is_kept_alive_and_no_number_is_taken_for_another():
    parameter, step = trained()
    key = id(parameter)
    optimizers = len(FENCE._optimizers)
    assert key in FENCE._governed
    del parameter, step
    gc.collect()
    assert key not in FENCE._governed
    assert len(FENCE._optimizers) < optimizers


def test_a_parameter_with_another_storage_is_trusted_as_it_is_now():
    parameter, _ = trained()
    parameter.data = torch.arange(7.0)
    fenced = FENCE.hold(parameter)
    assert (fenced.shape, fenced.nbytes) == ((7,), 28)
    np.testing.assert_array_equal(fenced.get().data, np.arange(7.0))
    FENCE.settle()


def test_another_storage_before_the_copy_is_noticed():
    parameter, _ = trained()
    fenced = FENCE.hold(parameter)
    parameter.data = parameter.data.clone()
    again = FENCE.hold(parameter)
    with pytest.raises(RefusedValueError, match="fence=False"):
        fenced.get()
    np.testing.assert_array_equal(again.get().data, parameter.detach().numpy())
    FENCE.settle()


def test_another_view_of_the_same_storage_costs_one_value():
    parameter, _ = trained()
    parameter.data = parameter.data[:3]
    with pytest.raises(RefusedValueError, match="fence=False"):
        FENCE.hold(parameter).get()
    fenced = FENCE.hold(parameter)
    assert (fenced.shape, fenced.get().data.shape, fenced.nbytes) == ((3, 100), (3, 100), 1200)
    FENCE.settle()


def test_settled_copies_are_let_go():
    parameter, _ = trained()
    FENCE.hold(parameter)
    assert FENCE.waiting
    FENCE.begin()
    assert not FENCE.waiting


def test_two_threads_copy_once():
    parameter, _ = trained()
    copies = []
    for _ in range(50):
        fenced = [FENCE.hold(parameter) for _ in range(20)]
        threads = [threading.Thread(target=FENCE.begin), threading.Thread(target=FENCE.settle)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        copies += [each.get().data for each in fenced]
    assert len({copy.ctypes.data for copy in copies}) == len(copies)


def test_a_forked_child_does_not_copy_for_its_parent():
    parameter, _ = trained()
    FENCE.hold(parameter)
    pid = os.fork()
    if pid == 0:
        os._exit(bool(FENCE.waiting))
    assert os.waitpid(pid, 0)[1] == 0
    FENCE.settle()


@pytest.mark.parametrize("fence", [True, False])
def test_recorded_parameters_are_those_of_their_step(tmp_path, fence):
    """Every step's histogram and tensor hold what the parameter was at that step, whoever copied it."""
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(200, 200), torch.nn.ReLU(), torch.nn.Linear(200, 200))
    optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
    expected = {}
    with SummaryRecord(tmp_path, fence=fence) as record:
        for step in range(1, 31):
            optimizer.zero_grad()
            net(torch.randn(16, 200)).square().mean().backward()
            optimizer.step()
            for name, parameter in net.named_parameters():
                record.add_value("tensor", name, parameter)
                record.add_value("histogram", name, parameter)
                expected[name, step] = parameter.detach().numpy().copy()
            assert record.record(step)
        record.flush()
        assert record.stats()["dropped"] == {}
    run = Run(tmp_path)
    for (name, step), value in expected.items():
        np.testing.assert_array_equal(np.asarray(run.tensors(name).at(step)), value)
        assert run.histograms(name).at(step).value.sum == pytest.approx(value.astype(np.float64).sum())


def test_close_completes_the_copies_that_wait(tmp_path):
    parameter, _ = trained()
    with SummaryRecord(tmp_path, flush_secs=60) as record:
        record.add_value("tensor", "p", parameter)
        record.record(1)
    np.testing.assert_array_equal(np.asarray(Run(tmp_path).tensors("p").at(1)), np.zeros(SHAPE, np.float32))


def test_a_torn_value_is_counted_and_costs_itself_alone(tmp_path, caplog):
    parameter, _ = trained()
    with SummaryRecord(tmp_path) as record:
        record.add_value("scalar", "good", 1.0)
        record.add_value("tensor", "torn", parameter)
        with torch.no_grad():
            parameter += 1
        record.record(1)
        record.flush()
        stats = record.stats()
    assert (stats["written"], sum(stats["dropped"].values())) == (1, 1)
    assert any("'torn'" in line and "fence=False" in line for line in caplog.messages)


def test_no_memory_for_a_copy_costs_the_value_and_not_the_step(monkeypatch):
    parameter, step = trained()
    fenced = FENCE.hold(parameter)

    def exhausted(value):
        raise MemoryError

    monkeypatch.setattr(fence, "freeze", exhausted)
    step()
    with pytest.raises(RefusedValueError, match="no memory is left"):
        fenced.get()


def test_a_complex_parameter_is_refused_in_the_call_and_disturbs_neither_step_nor_record(tmp_path):
    parameter = torch.nn.Parameter(torch.ones(SHAPE, dtype=torch.complex64))
    FENCE.hold(parameter)
    optimizer = torch.optim.SGD([parameter], lr=1.0)
    with SummaryRecord(tmp_path) as record:
        for step in (1, 2):
            parameter.grad = torch.ones_like(parameter)
            optimizer.step()
            record.add_value("histogram", "p", parameter)
            record.add_value("scalar", "good", 1.0)
            record.record(step)
        assert record.flush()
        assert (record.stats()["written"], sum(record.stats()["dropped"].values())) == (2, 2)


def test_whatever_goes_wrong_with_a_copy_costs_that_value_alone(tmp_path, monkeypatch):
    parameter, step = trained()
    with SummaryRecord(tmp_path) as record:
        record.add_value("tensor", "p", parameter)
        record.add_value("scalar", "good", 1.0)

        def broken(value):
            raise RuntimeError("no storage")

        monkeypatch.setattr(fence, "freeze", broken)
        step()
        record.record(1)
        assert record.flush()
        stats = record.stats()
    assert (stats["written"], stats["dropped"]) == (1, {"tensor: RefusedValueError: no storage": 1})


def test_what_finds_the_buffer_full_is_not_kept_while_the_pump_hangs(tmp_path, monkeypatch):
    parameter, step = trained()
    monkeypatch.setattr(buffer, "FULL_BYTES", parameter.nbytes * 4)
    with SummaryRecord(tmp_path, on_full="drop") as record, record._writer.desk.turns.lock:    # as if a turn hung in a system call
        for number in range(10):
            record.add_value("histogram", "p", parameter)
            record.add_value("histogram", "p/gradient", FENCE.postpone(torch.ones(SHAPE), pytest.fail))
            record.record(number)
            step()
        assert sum(record.stats()["dropped"].values()) == 16
        assert len(FENCE.waiting) == 2    # the gradients of the two that found room
    assert not FENCE.waiting


def test_what_a_filter_discards_or_a_later_value_replaces_is_not_copied(tmp_path, monkeypatch):
    parameter, step = trained()
    copies = []
    monkeypatch.setattr(fence, "freeze", lambda value: copies.append(value.sum().item()) or freeze(value))
    with SummaryRecord(tmp_path) as record:
        with record._writer.desk.turns.lock:    # so that it is the step that makes the copies
            record.add_value("tensor", "p", parameter)
            record.add_value("histogram", "p", parameter)
            record.add_value("histogram", "p", parameter)    # twice: the last wins
            with torch.no_grad():
                parameter.add_(1.0)
            record.add_value("histogram", "p", parameter)
            assert record.record(1, plugin_filter="histogram".__eq__)
            step()
            assert copies == [parameter.numel()]    # ones again, before the step
        assert record.record(2)    # nothing of the first step is left
    run = Run(tmp_path)
    assert run.tags() == {"histogram": ["p"]}
    assert [(point.step, point.value.max) for point in run.histograms("p")] == [(1, 1.0)]


def test_ex8_a_signal_handler_that_interrupted_a_copy_may_flush(tmp_path):
    """The pump must not wait for that copy, which waits for the handler, which waits for the pump."""
    parameter, _ = trained()
    others = []
    with SummaryRecord(tmp_path) as record:
        record.add_value("histogram", "weight", parameter)
        with FENCE.copying, FENCE.copying:    # as where the handler comes
            record.record(1)
            assert record.flush()
            assert Run(tmp_path).histograms("weight").step.tolist() == [1]
            other = threading.Thread(target=lambda: others.append(FENCE.copying.acquire(blocking=False)))
            other.start()
            other.join()
    assert others == [False]    # and the copy goes on undisturbed


def test_a_gradient_that_was_written_again_is_told_of():
    gradient, told = torch.ones(SHAPE), []
    lasting = FENCE.postpone(gradient, lambda: told.append(True))
    gradient.zero_()
    FENCE.begin()
    with pytest.raises(RefusedValueError, match="the gradient was written again"):
        lasting.get()
    assert told == [True]
