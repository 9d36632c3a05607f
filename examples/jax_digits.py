"""JAX and optax on handwritten digits: a jitted step that donates its arguments, recorded without waiting for it.

    python examples/jax_digits.py [DIRECTORY]

What is collected is copied on the device and fetched by another thread.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from sklearn.datasets import load_digits

from summarykit import Run
from summarykit.integrations.jax import Loop, SummaryCollector

OPTIMIZER = optax.inject_hyperparams(optax.adam)(learning_rate=optax.exponential_decay(0.01, 25, 0.8))


def start(key: Any) -> dict[str, Any]:
    """Parameters of two layers; their keys become tags: ``hidden/kernel/auto``."""
    one, other = jax.random.split(key)
    hidden = {"kernel": jax.random.normal(one, (64, 64)) / 8, "bias": jnp.zeros(64)}
    return {"hidden": hidden, "output": {"kernel": jax.random.normal(other, (64, 10)) / 8, "bias": jnp.zeros(10)}}


def scores(params: dict[str, Any], images: Any) -> Any:
    """Ten scores for each image."""
    hidden = jax.nn.relu(images.reshape(-1, 64) @ params["hidden"]["kernel"] + params["hidden"]["bias"])
    return hidden @ params["output"]["kernel"] + params["output"]["bias"]


def loss_of(params: dict[str, Any], images: Any, labels: Any) -> Any:
    """Mean loss of a batch."""
    return optax.softmax_cross_entropy_with_integer_labels(scores(params, images), labels).mean()


@partial(jax.jit, donate_argnums=(0, 1))
def update(params: dict[str, Any], state: Any, images: Any, labels: Any) -> tuple[Any, ...]:
    """One step; the memory of the old parameters is used for the new ones."""
    loss, gradients = jax.value_and_grad(loss_of)(params, images, labels)
    changes, state = OPTIMIZER.update(gradients, state)
    return optax.apply_updates(params, changes), state, loss, gradients


def main(directory: str) -> None:
    """Train and record."""
    images, labels = load_digits(return_X_y=True)
    images = (images / 16).astype("float32").reshape(-1, 8, 8, 1)
    batches = [(images[place : place + 64], labels[place : place + 64]) for place in range(0, 1400, 64)]
    params = start(jax.random.key(0))
    state = OPTIMIZER.init(params)
    with Loop(params, state, batches, 4, SummaryCollector(directory, collect_freq=5), forward=loss_of) as loop:
        for _ in loop.epochs():
            for batch, targets in loop.steps():
                params, state, loss, gradients = update(params, state, batch, targets)
                loop.update(params, state, gradients=gradients)
                loop.report(loss=loss)
            with loop.evaluation():
                loop.report(accuracy=(scores(params, images[1400:]).argmax(1) == labels[1400:]).mean())
    accuracy = Run(directory).scalars("eval/accuracy")
    for step, value in zip(accuracy.step, accuracy.value, strict=True):
        print(f"step {step}: {value:.1%} of the test images recognised")
    print("parameters:", ", ".join(tag for tag in Run(directory).tags()["histogram"] if tag.endswith("/auto")))
    assert np.isfinite(Run(directory).scalars("loss").value).all()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "./summary")
