"""``watch``: a PyTorch loop that is not edited."""

from __future__ import annotations

import copy
import io
from concurrent.futures import ThreadPoolExecutor

import pytest
from testkit.scripts import CHECKOUT
from testkit.training import Journal, scalars, steps

pytest.importorskip("torch")
import torch

from summarykit import Run
from summarykit.integrations.driver import LeftOpenError
from summarykit.integrations.torch import SummaryCollector, watch

STEPS = [1, 2, 3, 4, 5, 6]
ENVIRONMENT = {"PYTHONPATH": f"{CHECKOUT}:{CHECKOUT / 'tests'}", "OMP_NUM_THREADS": "1"}


def training(batches=6, seed=0):
    torch.manual_seed(seed)
    model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Dropout(0.5), torch.nn.Linear(3, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    data = [(torch.randn(2, 4), torch.randn(2, 1)) for _ in range(batches)]
    return model, optimizer, torch.nn.MSELoss(), data


def train(model, optimizer, criterion, data, accumulation=1, fail_at=None):
    for number, (inputs, targets) in enumerate(data, 1):
        if (number - 1) % accumulation == 0:
            optimizer.zero_grad()
        loss = criterion(model(inputs), targets)
        if number == fail_at:
            raise ValueError("boom")
        (loss / accumulation).backward()
        if number % accumulation == 0:
            optimizer.step()


def test_a_loop_is_recorded_as_it_is(tmp_path):
    model, optimizer, criterion, data = training()
    with watch(model, optimizer, SummaryCollector(tmp_path, 1), loss=criterion) as watching:
        train(model, optimizer, criterion, data)
        assert watching.step == 6
    assert list(scalars(tmp_path)["loss"]) == list(scalars(tmp_path)["learning_rate"]) == STEPS
    assert steps(tmp_path, "histogram", "0.weight/auto") == steps(tmp_path, "histogram", "2.bias/gradient") == STEPS


def test_the_training_is_the_same_bit_for_bit(tmp_path):
    weights = []
    for watched in (False, True):
        model, optimizer, criterion, data = training()
        if watched:
            collector = SummaryCollector(tmp_path, 1, collect_specified_data={"histogram_regular": ".*"})
            with watch(model, optimizer, collector, loss=criterion):
                train(model, optimizer, criterion, data)
        else:
            train(model, optimizer, criterion, data)
        weights.append([parameter.detach().numpy().tobytes() for parameter in model.parameters()])
    assert weights[0] == weights[1]
    assert not (model._forward_pre_hooks | criterion._forward_hooks)


def test_the_order_of_hooks():
    model, optimizer, criterion, data = training(2)
    journal = Journal()
    with watch(model, optimizer, journal, loss=criterion) as watching:
        train(model, optimizer, criterion, data)
        with watching.evaluation():
            model.eval()
            model(data[0][0])
            watching.report(accuracy=1.0)
    assert journal.text() == (
        "train_begin 0, train_epoch_begin 0, train_step_begin 1, train_step_end 1, train_step_begin 2, train_step_end 2, "
        "eval_begin 0, eval_epoch_begin 0, eval_epoch_end 0, eval_end 0, train_epoch_end 2, train_end 2"
    )
    assert journal.fields["metrics"] == {"accuracy": 1.0}


def test_cb1_accumulation_makes_one_step_of_several_calls():
    model, optimizer, criterion, data = training()
    journal = Journal()
    with watch(model, optimizer, journal, loss=criterion):
        train(model, optimizer, criterion, data, accumulation=2)
    assert [call for call in journal.calls if "step_end" in call] == [f"train_step_end {step}" for step in (1, 2, 3)]
    assert journal.fields["micro_step"] == 6


def test_an_exception_at_step_2_closes_everything(tmp_path):
    model, optimizer, criterion, data = training()
    journal = Journal()
    with pytest.raises(ValueError, match="boom"), watch(model, optimizer, [SummaryCollector(tmp_path, 1), journal], loss=criterion):
        train(model, optimizer, criterion, data, fail_at=2)
    assert journal.left == [ValueError]
    assert list(scalars(tmp_path)["loss"]) == [1, 2]    # of the second step what it had reported
    assert steps(tmp_path, "histogram", "0.weight/auto") == [1]
    assert not (model._forward_pre_hooks | criterion._forward_hooks)


def test_a_run_is_continued(tmp_path):
    model, optimizer, criterion, data = training()
    for half, done in ((data[:4], 0), (data[2:], 2)):    # the first one went further than its last checkpoint
        with watch(model, optimizer, SummaryCollector(tmp_path, 1), loss=criterion, initial_step=done):
            train(model, optimizer, criterion, half)
    assert Run(tmp_path).scalars("loss").step.tolist() == STEPS


def test_evaluation_is_apart_and_at_the_step_of_training(tmp_path):
    model, optimizer, criterion, data = training(2)
    with watch(model, optimizer, SummaryCollector(tmp_path, 1), loss=criterion) as watching:
        train(model, optimizer, criterion, data)
        model.eval()
        with watching.evaluation(), torch.no_grad():
            watching.report({"loss": criterion(model(data[0][0]), data[0][1])}, accuracy=0.5)
        model.train()
        train(model, optimizer, criterion, data)
    assert list(scalars(tmp_path)["loss"]) == [1, 2, 3, 4]
    assert list(scalars(tmp_path)["eval/loss"]) == list(scalars(tmp_path)["eval/accuracy"]) == [2]


def test_an_evaluation_that_an_exception_ends_is_over_and_the_training_goes_on(tmp_path):
    model, optimizer, criterion, data = training(2)
    with watch(model, optimizer, [SummaryCollector(tmp_path, 1), journal := Journal()], loss=criterion) as watching:
        train(model, optimizer, criterion, data)
        with pytest.raises(MemoryError), watching.evaluation():
            raise MemoryError
        train(model, optimizer, criterion, data)
        with watching.evaluation():
            watching.report(accuracy=0.5)
    assert journal.left == [MemoryError, None, None]
    assert list(scalars(tmp_path)["loss"]) == [1, 2, 3, 4]
    assert list(scalars(tmp_path)["eval/accuracy"]) == [4]


def test_a_report_before_the_update_belongs_to_the_step_and_one_after_it_comes_in_any_case(tmp_path):
    model, optimizer, criterion, data = training()
    with watch(model, optimizer, SummaryCollector(tmp_path, 4)) as watching:
        for inputs, targets in data:
            optimizer.zero_grad()
            loss = criterion(model(inputs), targets)
            loss.backward()
            watching.report(before=loss)
            optimizer.step()
            watching.report(after=loss)
    assert list(scalars(tmp_path)["before"]) == [1, 4, 6]
    assert list(scalars(tmp_path)["after"]) == STEPS


def test_other_optimizers_are_none_of_its_business():
    model, optimizer, criterion, data = training()
    other, others, _, _ = training()
    with watch(model, optimizer, journal := Journal(), loss=criterion):
        train(other, others, torch.nn.MSELoss(), data)
    assert not any("step" in call for call in journal.calls)


@pytest.mark.parametrize("wrong", [True, False])
def test_a_training_of_which_no_update_was_seen_is_told(wrong, caplog):
    model, optimizer, criterion, data = training(2)
    with watch(model, torch.optim.SGD(model.parameters(), lr=0.1) if wrong else optimizer, Journal(), loss=criterion):
        train(model, optimizer, criterion, data)
        model(data[0][0])    # a step that is open at the end is none
    assert [record.getMessage().partition(",")[0] for record in caplog.records] == ["watch: the model was called"] * wrong


class Sharpness(torch.optim.Optimizer):
    """One that has another do the update, of the same groups."""

    def __init__(self, params):
        super().__init__(params, {})
        self.base = torch.optim.SGD(self.param_groups, lr=0.1)
        self.param_groups = self.base.param_groups

    def step(self, closure=None):
        self.base.step()


@pytest.mark.parametrize("called", [True, False], ids=["the model", "its parts"])
@pytest.mark.parametrize("watched", ["outer", "inner"])
def test_an_optimizer_around_another_makes_one_step(tmp_path, called, watched):
    model, _, criterion, data = training(3)
    optimizer = Sharpness(model.parameters())
    with watch(model, optimizer if watched == "outer" else optimizer.base, SummaryCollector(tmp_path, 1)) as watching:
        train(model if called else model[:], optimizer, criterion, data)
    assert watching.step == 3
    assert steps(tmp_path, "scalar", "gradient_norm") == [1, 2, 3]


def test_a_model_that_is_not_called_itself_has_steps_all_the_same():
    model, optimizer, criterion, data = training(2)
    with watch(model, optimizer, journal := Journal()):
        for inputs, targets in data:
            criterion(model[2](model[0](inputs)), targets).backward()
            optimizer.step()
    assert [call for call in journal.calls if "step_end" in call] == ["train_step_end 1", "train_step_end 2"]


def test_copies_of_the_model_are_not_watched():
    model, optimizer, criterion, data = training(2)
    with watch(model, optimizer, journal := Journal(), loss=criterion):
        average = copy.deepcopy(model)
        buffer = io.BytesIO()
        torch.save(model, buffer)
        buffer.seek(0)
        loaded = torch.load(buffer, weights_only=False)
        for clone in (average, loaded):
            clone(data[0][0])
    assert not any("step" in call for call in journal.calls)


def test_the_same_collector_watches_one_training_after_the_other(tmp_path):
    collector = SummaryCollector(tmp_path, 1)
    for done in (0, 6):
        model, optimizer, criterion, data = training()
        with watch(model, optimizer, collector, loss=criterion, initial_step=done):
            train(model, optimizer, criterion, data)
    assert list(scalars(tmp_path)["loss"]) == list(range(1, 13))


def test_a_watch_that_was_left_open_ends_where_its_callbacks_watch_anew(tmp_path):
    """As when a notebook's cell is run again, with the same model or another one."""
    collector = SummaryCollector(tmp_path, 1)
    model, optimizer, criterion, data = training()
    left = watch(model, optimizer, [collector, journal := Journal()], loss=criterion)
    train(model, optimizer, criterion, data[:3])
    with watch(model, optimizer, collector, loss=criterion, initial_step=10) as watching:
        train(model, optimizer, criterion, data[:2])
        left.close()
        train(model, optimizer, criterion, data[:1])
    assert list(scalars(tmp_path)["loss"]) == [1, 2, 3, 11, 12, 13]
    assert (left.step, watching.step) == (3, 13)
    assert journal.left == [LeftOpenError]


def test_a_wish_to_stop_is_handed_on():
    model, optimizer, criterion, data = training()
    with watch(model, optimizer, Journal(stop_at=3), loss=criterion) as watching:
        for batch in data:
            train(model, optimizer, criterion, [batch])
            if watching.stop_requested:
                break
    assert watching.step == 3


def test_an_optimizer_whose_state_is_loaded_is_still_the_same():
    model, optimizer, criterion, data = training(2)
    state = copy.deepcopy(optimizer.state_dict())
    with watch(model, optimizer, Journal(), loss=criterion) as watching:
        optimizer.load_state_dict(state)
        train(model, optimizer, criterion, data)
    assert watching.step == 2


@pytest.mark.parametrize("compiled", ["what is watched", "what is called"])
def test_a_compiled_model_is_compiled_once(compiled):
    model, optimizer, criterion, data = training(4)
    graphs = []
    called = torch.compile(model, backend=lambda graph, _: graphs.append(graph) or graph.forward)
    with watch(called if compiled == "what is watched" else model, optimizer, journal := Journal()) as watching:
        train(called, optimizer, criterion, data)
    assert watching.step == 4
    assert len(graphs) == 1
    assert isinstance(journal.fields["network"], torch.nn.Sequential)


def test_a_compiled_step_is_compiled_without_what_records_it(tmp_path):
    model, optimizer, criterion, data = training()
    graphs = []
    step = torch.compile(optimizer.step, backend=lambda graph, _: graphs.append(graph) or graph.forward)
    train(model, optimizer, criterion, data[:1])
    step()
    compiled = len(graphs)
    with watch(model, optimizer, SummaryCollector(tmp_path, 2)):
        for inputs, targets in data:
            optimizer.zero_grad()
            criterion(model(inputs), targets).backward()
            step()
    assert len(graphs) - compiled <= 1    # other hooks, another graph
    assert steps(tmp_path, "scalar", "gradient_norm") == [1, 2, 4, 6]


def traced(model):
    return torch.jit.trace(model, torch.zeros(2, 4), check_trace=False)    # of dropout each call is another


@pytest.mark.parametrize("make", [torch.jit.script, traced])
def test_torchscript_is_watched_as_any_other_module(tmp_path, make):
    model, _, criterion, data = training()
    model, criterion = make(model), torch.jit.script(criterion)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with watch(model, optimizer, [SummaryCollector(tmp_path, 1), journal := Journal()], loss=criterion):
        train(model, optimizer, criterion, data, accumulation=2)
    assert journal.fields["micro_step"] == 6
    assert list(scalars(tmp_path)["loss"]) == steps(tmp_path, "histogram", "0.weight/gradient") == [1, 2, 3]
    assert not (model._forward_pre_hooks | criterion._forward_hooks)


def test_a_module_that_refuses_hooks_is_refused_before_anything_has_begun():
    class Hookless(torch.nn.MSELoss):
        def register_forward_hook(self, *args, **kwargs):
            raise RuntimeError("no hooks")

    model, optimizer, _, _ = training()
    with pytest.raises(RuntimeError, match="no hooks"):
        watch(model, optimizer, journal := Journal(), loss=Hookless())
    assert not journal.calls
    assert not model._forward_pre_hooks


def test_a_callback_that_fails_at_the_beginning_leaves_no_hooks():
    class Failing(Journal):
        def on_train_begin(self, run_context):
            raise ValueError("boom")

    model, optimizer, criterion, _ = training()
    with pytest.raises(ValueError, match="boom"):
        watch(model, optimizer, failing := Failing(), loss=criterion)
    assert failing.left == [ValueError]
    assert not (model._forward_pre_hooks | criterion._forward_hooks)


@pytest.mark.parametrize("wrong", [{"model": "net"}, {"model": len}, {"loss": 3}, {"loss": torch.nn.functional.mse_loss}], ids=str)
def test_what_is_no_module_is_refused_before_anything_has_begun(wrong):
    journal = Journal()
    model = torch.nn.Linear(2, 2)
    given = {"model": model, "optimizer": torch.optim.SGD(model.parameters()), "callbacks": journal, **wrong}
    with pytest.raises(TypeError, match=f"{next(iter(wrong))}: a torch.nn.Module is needed"):
        watch(**given)
    assert not journal.calls
    assert not model._forward_pre_hooks


def test_what_is_no_optimizer_is_refused():
    with pytest.raises(TypeError, match=r"optimizer: a torch\.optim\.Optimizer.*got int"):
        watch(torch.nn.Linear(1, 1), 3, Journal())


RANK = """
import os, sys, torch
from testkit.training import Journal
from summarykit.integrations.torch import SummaryCollector, watch
rank = int(sys.argv[1])
torch.distributed.init_process_group("gloo", init_method="file://" + sys.argv[2], rank=rank, world_size=2)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
with watch(model, optimizer, [SummaryCollector("summary", 1), SummaryCollector("all", 1, ranks="all"), journal := Journal()]):
    for _ in range(2):
        model(torch.ones(1, 2)).sum().backward()
        optimizer.step()
print(rank, journal.fields["device_number"], type(journal.fields["network"]).__name__, flush=True)
torch.distributed.barrier()
torch.distributed.destroy_process_group()
os._exit(0)    # PyTorch's own threads now and then abort a process that ends while they do
"""


def test_cb9_only_rank_0_records_unless_asked(run_script, tmp_path):
    with ThreadPoolExecutor(2) as pool:
        ranks = [pool.submit(run_script, RANK, rank, tmp_path / "meeting", cwd=tmp_path, env=ENVIRONMENT) for rank in (0, 1)]
    assert [rank.result().expect_success().stdout for rank in ranks] == ["0 2 Linear\n", "1 2 Linear\n"]
    assert steps(tmp_path / "summary", "histogram", "weight/auto") == [1, 2]
    assert [path.name for path in (tmp_path / "all").iterdir() if path.is_dir()] == ["rank_1"]
    assert steps(tmp_path / "all/rank_1", "histogram", "weight/auto") == [1, 2]


PROGRAM = """
import sys, torch
from testkit.training import Journal
from summarykit.integrations.torch import watch
class Told(Journal):
    def __exit__(self, kind, error, trace):
        print("left by", kind and kind.__name__, flush=True)
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
watch(model, optimizer, Told())
model(torch.ones(1, 2)).sum().backward()
optimizer.step()
"""


@pytest.mark.parametrize(("end", "told"), [("", "left by None"), ("raise ValueError", "left by ValueError")])
def test_the_end_of_the_program_is_the_end(run_script, tmp_path, end, told):
    done = run_script(PROGRAM + end, cwd=tmp_path, env=ENVIRONMENT)
    assert told in done.stdout
