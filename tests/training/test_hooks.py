"""The hooks: MindSpore's order, both families, and what a callback finds in its context."""

from __future__ import annotations

import copy
import pickle

import pytest

from summarykit.training import Callback, CallbackList, Loop, RunContext
from summarykit.training.callback import HOOKS
from summarykit.training.context import CallbackParams

# What MindSpore 2.10 calls in fit(2 epochs, 2 steps, 1 evaluation batch), its own internal callbacks left out.
EVALUATION = "enter eval_begin eval_epoch_begin eval_step_begin eval_step_end eval_epoch_end eval_end exit"
EPOCH = f"train_epoch_begin train_step_begin train_step_end train_step_begin train_step_end {EVALUATION} train_epoch_end"
GOLDEN = f"enter train_begin {EPOCH} {EPOCH} train_end exit".split()
OLD_NAMES = ("begin", "epoch_begin", "step_begin", "step_end", "epoch_end", "end")


class Recorder(Callback):
    """Writes down every call; the fields given are noted beside it."""

    def __init__(self, calls: list, *fields: str, name: str = "") -> None:
        self.calls, self.fields, self.name = calls, fields, name

    def note(self, what, context=None):
        seen = {field: context.original_args().get(field) for field in self.fields} if context else {}
        entry = (what, *seen.values()) if self.fields else what
        self.calls.append(f"{self.name}.{what}" if self.name else entry)

    def __enter__(self):
        self.note("enter")
        return self

    def __exit__(self, *error):
        self.note("exit")


for hook in HOOKS:
    setattr(Recorder, hook, lambda self, context, hook=hook: self.note(hook.removeprefix("on_"), context))


class OldNames(Callback):
    def __init__(self):
        self.calls = []


for old in OLD_NAMES:
    setattr(OldNames, old, lambda self, context, what=old: self.calls.append((context.original_args().mode, what)))


def fit(*callbacks, epochs=2, steps=2):
    with Loop(train_dataset=range(steps), epochs=epochs, callbacks=callbacks) as loop:
        for _ in loop.epochs():
            for _ in loop.steps():
                loop.report(loss=1.0)
            with loop.evaluation(["batch"]):
                for _ in loop.steps():
                    loop.report(accuracy=0.5)
    return loop


def test_hooks_come_in_mindspores_order():
    calls = []
    fit(Recorder(calls))
    assert calls == GOLDEN


def test_old_names_are_called_by_the_defaults_of_the_new_ones():
    callback = OldNames()
    fit(callback)
    hooks = [name for name in GOLDEN if name not in ("enter", "exit")]
    assert callback.calls == [tuple(name.split("_", 1)) for name in hooks]


def test_callbacks_come_in_their_order_and_are_left_in_the_reverse():
    calls = []
    with Loop(train_dataset=[0], callbacks=[Recorder(calls, name="a"), Recorder(calls, name="b")]) as loop:
        list(loop.steps())
    assert calls[:4] == ["a.enter", "b.enter", "a.train_begin", "b.train_begin"]
    assert calls[-2:] == ["b.exit", "a.exit"]


def test_step_numbers_run_through_the_epochs_and_an_evaluation_puts_them_back():
    calls = []
    fit(Recorder(calls, "mode", "cur_step_num", "cur_epoch_num", "batch_num", "train_step_num"))
    steps = [call for call in calls if call[0] in ("train_step_begin", "train_step_end", "eval_step_end", "train_epoch_end", "train_end")]
    assert steps == [
        ("train_step_begin", "train", 1, 1, 2, None),
        ("train_step_end", "train", 1, 1, 2, None),
        ("train_step_begin", "train", 2, 1, 2, None),
        ("train_step_end", "train", 2, 1, 2, None),
        ("eval_step_end", "eval", 1, 1, 1, 2),
        ("train_epoch_end", "train", 2, 1, 2, None),
        ("train_step_begin", "train", 3, 2, 2, None),
        ("train_step_end", "train", 3, 2, 2, None),
        ("train_step_begin", "train", 4, 2, 2, None),
        ("train_step_end", "train", 4, 2, 2, None),
        ("eval_step_end", "eval", 1, 2, 1, 4),
        ("train_epoch_end", "train", 4, 2, 2, None),
        ("train_end", "train", 4, 2, 2, None),
    ]


def test_fields_of_a_training():
    model, network, optimizer, loss_fn, data, seen = object(), object(), object(), object(), [("x", "y")], {}

    class Look(Callback):
        def on_train_begin(self, context):
            seen["begin"] = dict(context.original_args())

        def on_train_step_end(self, context):
            seen["step_end"] = dict(context.original_args())

    look = Look()
    with Loop(model, optimizer, data, 3, look, network=network, loss_fn=loss_fn, initial_step=40, initial_epoch=2) as loop:
        for epoch in loop.epochs():
            assert epoch == 3
            for _ in loop.steps():
                loop.report(loss="the loss")
    begin = seen["begin"]
    assert (begin["network"], begin["train_network"], begin["optimizer"], begin["loss_fn"]) == (network, model, optimizer, loss_fn)
    assert begin["train_dataset"] is data
    assert (begin["mode"], begin["epoch_num"], begin["batch_num"], begin["cur_step_num"]) == ("train", 1, 1, 40)
    assert "cur_epoch_num" not in begin
    assert (begin["list_callback"], begin["dataset_sink_mode"], begin["parallel_mode"]) == ([look], False, "stand_alone")
    assert (begin["device_number"], begin["initial_step"]) == (1, 40)
    step = seen["step_end"]
    assert (step["cur_step_num"], step["cur_epoch_num"], step["net_outputs"]) == (41, 3, "the loss")
    assert step["train_dataset_element"] is data[0]


def test_metrics_of_an_evaluation_are_there_until_the_epoch_ends():
    calls = []
    fit(Recorder(calls, "metrics"), epochs=1)
    seen = dict(call for call in calls if len(call) == 2)
    assert seen["eval_end"] == seen["train_epoch_end"] == {"accuracy": 0.5}
    assert seen["train_end"] is None


def test_a_missing_field_is_an_attribute_error():
    params = RunContext({"cur_step_num": 2}).original_args()
    assert params.cur_step_num == 2
    assert not hasattr(params, "loss_fn")
    assert getattr(params, "loss_fn", "none") == "none"
    with pytest.raises(AttributeError, match="no field 'loss_fn'; it has: cur_step_num"):
        _ = params.loss_fn
    with pytest.raises(AttributeError, match="no field 'loss_fn'"):
        del params.loss_fn


def test_fields_may_be_added_removed_copied_and_pickled():
    params = CallbackParams(cur_step_num=2)
    params.mine = 7
    assert params["mine"] == 7
    assert copy.copy(params).mine == copy.deepcopy(params).mine == pickle.loads(pickle.dumps(params)).mine == 7
    del params.mine
    assert "mine" not in params


def test_a_run_context_wants_a_dict():
    with pytest.raises(TypeError, match="original_args: a dict is needed, got list"):
        RunContext([("cur_step_num", 1)])


def test_a_stop_is_requested_once_and_for_all():
    context = RunContext({})
    assert context.get_stop_requested() is False
    context.request_stop()
    assert context.get_stop_requested() is True


@pytest.mark.parametrize("wrong", [print, [print], [Recorder], "callback", [Recorder([]), None], 3])
def test_what_is_no_callback_is_refused_by_name(wrong):
    with pytest.raises(TypeError, match="callbacks: objects derived from summarykit's Callback are needed, got"):
        CallbackList(wrong)


def test_a_framework_that_looks_for_its_own_hooks_is_told_where_they_are():
    callback = Callback()
    assert not hasattr(callback, "on_init_end")
    with pytest.raises(AttributeError, match=r"'Callback' object has no attribute 'on_init_end' \(frameworks take that of summarykit"):
        callback.on_init_end()
    with pytest.raises(AttributeError, match=r"no attribute 'something'$"):
        callback.something  # noqa: B018 - it is looked for


def test_the_same_object_twice_is_refused():
    callback = Recorder([])
    with pytest.raises(ValueError, match="twice"):
        CallbackList([callback, callback])


def test_any_object_with_the_hooks_will_do():
    def note(self, context):
        self.seen += 1

    class Foreign:
        seen = 0

        def __enter__(self):
            return self

        def __exit__(self, *error):
            pass

    for hook in HOOKS:
        setattr(Foreign, hook, note)
    callback = Foreign()
    fit(callback)
    assert callback.seen == len([name for name in GOLDEN if name not in ("enter", "exit")])


def test_one_callback_a_list_or_none():
    callback = Recorder([])
    assert list(CallbackList(callback)) == list(CallbackList([callback])) == list(CallbackList(iter([callback]))) == [callback]
    assert list(CallbackList(None)) == list(CallbackList()) == []
