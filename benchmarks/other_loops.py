"""The loops of integrations.py in frameworks whose networks are not PyTorch's modules.

Keras has its TensorBoard callback, which needs TensorFlow; a loop over functions of JAX, PyTorch's SummaryWriter; MindSpore its own
SummaryCollector. XGBoost, LightGBM and scikit-learn have nothing of the kind, and no networks: a round is a step.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
from hook_clock import HookClock, watch_methods

OURS, IDLE, THEIRS = "summarykit", "idle", "tensorboard"
COPY, BESIDE = "copy", "copy beside"


class Copier:
    """In place of a TensorBoard writer: copies arrays into memory that it keeps, the least a recorder takes whose copies do not wait."""

    def __init__(self) -> None:
        self._copies: dict[str, Any] = {}

    def add_histogram(self, tag: str, values: Any, step: int) -> None:
        """Copy them, as NumPy sees them."""
        self._copy(tag, values.detach().numpy() if hasattr(values, "detach") else np.asarray(values))

    def _copy(self, tag: str, array: Any) -> None:
        if tag not in self._copies:
            self._copies[tag] = np.zeros_like(array)
        np.copyto(self._copies[tag], array)

    def add_scalar(self, tag: str, value: Any, step: int) -> None:
        """A number is nothing to copy."""

    close = flush = lambda self: None


class CopierBeside(Copier):
    """The same in another thread, beside the next step: the least a recorder takes whose copies wait, for the memory that both use."""

    def __init__(self) -> None:
        super().__init__()
        self._due: deque[tuple[str, Any]] = deque()
        self._called = threading.Event()
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        while self._called.wait():
            self._called.clear()
            while self._due:
                super()._copy(*self._due.popleft())

    def _copy(self, tag: str, array: Any) -> None:
        self._due.append((tag, array))
        self._called.set()


COPIERS: dict[str | None, type[Copier]] = {COPY: Copier, BESIDE: CopierBeside}


class Steps:
    """In place of a network: its parameters' sizes, and what the clock says when a step begins."""

    def __init__(self, sizes: Sequence[int], clock: Callable[[], float]) -> None:
        """Take both."""
        self.sizes, self.clock = sizes, clock
        self.seen: list[float] = []

    def tick(self) -> None:
        """A step begins."""
        self.seen.append(self.clock())

    def ticking(self, batches: Sequence[Any]) -> Iterator[Any]:
        """Give the batches of a loop written by hand."""
        for batch in batches:
            self.tick()
            yield batch


def keras_loop(backend: str, recorder: str | None, directory: str, model: Steps, steps: int, what: Any) -> None:
    """Keras: our callback, or its TensorBoard with one for the histograms."""
    os.environ["KERAS_BACKEND"] = backend
    import keras

    class Net(keras.Model):
        def __init__(self) -> None:
            super().__init__()
            sizes = enumerate(model.sizes)
            self.vectors = [self.add_weight(shape=(size,), initializer="ones", name=f"v{number}") for number, size in sizes]

        def call(self, x: Any) -> Any:
            return sum(vector[0] ** 2 for vector in self.vectors) * x

    class Tick(keras.callbacks.Callback):
        def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
            model.tick()

    net = Net()
    net.compile(keras.optimizers.SGD(1e-3), loss=lambda wanted, found: found)
    callbacks = keras_callbacks(recorder, directory, net, what)
    for callback in callbacks:
        watch_methods(model.clock, callback, "on_train_batch_begin", "on_train_batch_end")
    given = np.ones((steps, 1), np.float32)
    net.fit(given, given, 1, callbacks=[Tick(), *callbacks], verbose=0, shuffle=False)


def keras_callbacks(recorder: str | None, directory: str, net: Any, what: Any) -> list[Any]:
    """The recorder as callbacks."""
    import keras

    class Parameters(keras.callbacks.Callback):
        def __init__(self, writer: Any) -> None:
            super().__init__()
            self.writer = writer

        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            if (batch + 1) % what.every == 0:
                keras_histograms(self.model, what.count, batch + 1, self.writer)

    if recorder == OURS:
        from summarykit.integrations.keras import SummaryCollector

        return [SummaryCollector(directory, what.every, **what.collected)]
    if recorder in COPIERS:
        return [Parameters(COPIERS[recorder]())]
    if recorder == THEIRS:
        from tensorflow import summary

        writer = SimpleNamespace(add_scalar=summary.scalar, add_histogram=summary.histogram)    # the one that this TensorBoard opens
        return [keras.callbacks.TensorBoard(directory, update_freq=what.every), Parameters(writer)]

    class Idle(keras.callbacks.Callback):    # Keras would not call what is inherited from its base
        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            pass

    return [Idle()] if recorder == IDLE else []


def keras_histograms(net: Any, count: int, step: int, writer: Any) -> None:
    """Record the parameters, and on PyTorch the gradients."""
    writer.add_scalar("learning_rate", float(net.optimizer.learning_rate), step)
    for variable in net.trainable_variables[:count]:
        writer.add_histogram(variable.path, np.asarray(variable), step)
        if (gradient := getattr(variable.value, "grad", None)) is not None:
            writer.add_histogram(f"{variable.path}/gradient", gradient.numpy(), step)


@cache
def jax_step() -> Callable[..., Any]:
    """One step of gradient descent, compiled."""
    import jax

    def step(vectors: dict[str, Any], x: Any) -> Any:
        loss, gradients = jax.value_and_grad(lambda given: sum(vector[0] ** 2 for vector in given.values()) * x)(vectors)
        return jax.tree.map(lambda vector, gradient: vector - 1e-3 * gradient, vectors, gradients), loss, gradients

    return jax.jit(step)


def jax_loop(recorder: str | None, directory: str, model: Steps, steps: int, what: Any) -> None:
    """JAX: our ``Loop``, or PyTorch's SummaryWriter called in a loop."""
    import jax.numpy as jnp

    vectors = {f"v{number}": jnp.ones(size, jnp.float32) for number, size in enumerate(model.sizes)}
    batches, step = model.ticking([jnp.float32(1)] * steps), jax_step()
    if recorder == OURS:
        from summarykit.integrations.jax import Loop, SummaryCollector

        with Loop(vectors, None, batches, callbacks=SummaryCollector(directory, what.every, **what.collected), learning_rate=1e-3) as loop:
            for _ in loop.epochs():
                for x in loop.steps():
                    vectors, loss, gradients = step(vectors, x)
                    loop.update(vectors, gradients=gradients)
                    loop.report(loss=loss)
    else:
        writer: Any = COPIERS[recorder]() if recorder in COPIERS else None
        if recorder == THEIRS:
            from torch.utils.tensorboard import SummaryWriter

            writer = SummaryWriter(directory)
        for number, x in enumerate(batches, 1):
            vectors, loss, gradients = step(vectors, x)
            if writer and number % what.every == 0:
                writer.add_scalar("loss", float(loss), number)
                writer.add_scalar("learning_rate", 1e-3, number)
                for name in [*vectors][: what.count]:
                    writer.add_histogram(name, np.asarray(vectors[name]), number)
                    writer.add_histogram(f"{name}/gradient", np.asarray(gradients[name]), number)


def samples(rows: int = 200, columns: int = 20) -> tuple[Any, Any]:
    """Inputs whose columns differ much in size, and classes that they do not tell."""
    drawn = np.random.default_rng(0)
    return drawn.normal(size=(rows, columns)) * np.logspace(-3, 3, columns), drawn.integers(0, 2, rows)


def xgboost_loop(recorder: str | None, directory: str, model: Steps, steps: int, what: Any) -> None:
    """XGBoost: our callback."""
    import xgboost

    class Tick(xgboost.callback.TrainingCallback):    # type: ignore[misc]
        def before_iteration(self, booster: Any, epoch: int, evals_log: Any) -> bool:
            model.tick()
            return False

    callbacks = [xgboost.callback.TrainingCallback()] if recorder == IDLE else []
    if recorder == OURS:
        from summarykit.integrations.xgboost import SummaryCollector

        callbacks = [SummaryCollector(directory, what.every, **what.collected)]
    for callback in callbacks:
        watch_methods(model.clock, callback, "before_iteration", "after_iteration")
    data = xgboost.DMatrix(*samples())
    params = {"max_depth": 2, "objective": "binary:logistic", "nthread": 1}
    xgboost.train(params, data, steps, evals=[(data, "train")], verbose_eval=False, callbacks=[Tick(), *callbacks])


def lightgbm_loop(recorder: str | None, directory: str, model: Steps, steps: int, what: Any) -> None:
    """LightGBM: our callback."""
    import lightgbm

    def tick(env: Any) -> None:
        model.tick()

    tick.before_iteration = True    # type: ignore[attr-defined]
    callbacks: list[Any] = [lambda env: None] if recorder == IDLE else []
    if recorder == OURS:
        from summarykit.integrations.lightgbm import SummaryCollector

        callbacks = [SummaryCollector(directory, what.every, **what.collected)]
    if isinstance(model.clock, HookClock):
        callbacks = [model.clock.around(callback) for callback in callbacks]
    data = lightgbm.Dataset(*samples())
    params = {"max_depth": 2, "num_leaves": 4, "objective": "binary", "num_threads": 1, "verbose": -1}
    lightgbm.train(params, data, steps, valid_sets=[data], callbacks=[tick, *callbacks])


def sklearn_loop(recorder: str | None, directory: str, model: Steps, steps: int, what: Any) -> None:
    """scikit-learn: its callbacks, in the iterations of a logistic regression."""
    import warnings

    from sklearn.linear_model import LogisticRegression

    class Tick:
        def setup(self, *_: Any, **__: Any) -> None:
            pass

        teardown = on_fit_task_end = setup

        def on_fit_task_begin(self, *_: Any, **__: Any) -> None:
            model.tick()

    class Idle:
        setup = teardown = on_fit_task_begin = on_fit_task_end = Tick.setup

    callbacks: list[Any] = [Idle()] if recorder == IDLE else []
    if recorder == OURS:
        from summarykit.integrations.sklearn import SummaryCollector

        callbacks = [SummaryCollector(directory, what.every, **what.collected)]
    for callback in callbacks:
        watch_methods(model.clock, callback, "on_fit_task_begin", "on_fit_task_end")
    warnings.simplefilter("ignore")    # that it has not converged
    LogisticRegression(C=1e9, tol=0, max_iter=steps).set_callbacks(Tick(), *callbacks).fit(*samples())


def partial_fit_loop(recorder: str | None, directory: str, model: Steps, steps: int, what: Any) -> None:
    """scikit-learn: an estimator trained batch by batch, by our function or in a loop."""
    from sklearn.linear_model import SGDClassifier

    estimator, batches = SGDClassifier(), model.ticking([samples(10)] * steps)
    if recorder == OURS:
        from summarykit.integrations.sklearn import SummaryCollector, partial_fit

        partial_fit(estimator, batches, SummaryCollector(directory, what.every, **what.collected), classes=[0, 1])
    else:
        for inputs, targets in batches:
            estimator.partial_fit(inputs, targets, classes=[0, 1])


def mindspore_loop(mode: str, recorder: str | None, directory: str, model: Steps, steps: int, what: Any) -> None:
    """MindSpore: our callback, or its own SummaryCollector, which records no gradients."""
    import mindspore as ms

    ms.set_context(mode=ms.GRAPH_MODE if mode == "graph" else ms.PYNATIVE_MODE)

    class Net(ms.nn.Cell):    # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            made = [ms.Parameter(np.ones(size, np.float32), name=f"v{number}") for number, size in enumerate(model.sizes)]
            self.vectors = ms.ParameterTuple(made)

        def construct(self, x: Any) -> Any:
            loss = x.sum()
            for vector in self.vectors:
                loss = loss + vector[0] ** 2
            return loss

    class Tick(ms.train.Callback):    # type: ignore[misc]
        def on_train_step_begin(self, run_context: Any) -> None:
            model.tick()

    class Parameters(ms.train.Callback):    # type: ignore[misc]
        def __init__(self, writer: Copier) -> None:
            self.writer = writer

        def on_train_step_end(self, run_context: Any) -> None:
            params = run_context.original_args()
            if params.cur_step_num % what.every == 0:
                for number, parameter in enumerate(params.optimizer.parameters[: what.count]):
                    self.writer.add_histogram(str(number), parameter.asnumpy(), params.cur_step_num)

    callbacks: list[Any] = [ms.train.Callback()] if recorder == IDLE else []
    if recorder in COPIERS:
        callbacks = [Parameters(COPIERS[recorder]())]
    if recorder == OURS:
        from summarykit.integrations.mindspore import SummaryCollector

        callbacks = [SummaryCollector(directory, what.every, **what.collected)]
    elif recorder == THEIRS:
        asked = {"collect_metric": True, "histogram_regular": ".*" if what.count > 5 else None}
        callbacks = [ms.train.SummaryCollector(directory, what.every, collect_specified_data=asked, keep_default_action=not what.collected)]
    for callback in callbacks:
        watch_methods(model.clock, callback, "on_train_step_begin", "on_train_step_end")
    net = Net()
    data = ms.dataset.NumpySlicesDataset({"x": np.ones((steps, 1), np.float32)}, shuffle=False)
    ms.train.Model(net, optimizer=ms.nn.SGD(net.trainable_params(), 1e-3)).train(
        1, data, callbacks=[Tick(), *callbacks], dataset_sink_mode=False,
    )  # fmt: skip
