"""Keras 3 on handwritten digits, on the backend that is installed: one callback records the training.

    KERAS_BACKEND=torch python examples/keras_digits.py [DIRECTORY]

The same file runs with KERAS_BACKEND=jax.
"""

from __future__ import annotations

import os
import sys

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
from sklearn.datasets import load_digits

from summarykit import Run
from summarykit.integrations.keras import SummaryCollector


def model() -> keras.Model:
    """Two layers, and a rate that falls."""
    net = keras.Sequential([keras.Input((8, 8, 1)), keras.layers.Flatten(), keras.layers.Dense(64, "relu"), keras.layers.Dense(10)])
    rate = keras.optimizers.schedules.ExponentialDecay(0.01, decay_steps=25, decay_rate=0.8)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    net.compile(keras.optimizers.Adam(rate), loss, metrics=["accuracy"])
    return net


def main(directory: str) -> None:
    """Train and record."""
    keras.utils.set_random_seed(0)
    images, labels = load_digits(return_X_y=True)
    images = (images / 16).astype("float32").reshape(-1, 8, 8, 1)
    test = images[1400:], labels[1400:]
    collector = SummaryCollector(directory, collect_freq=5)
    model().fit(images[:1400], labels[:1400], batch_size=64, epochs=4, validation_data=test, verbose=0, callbacks=[collector])
    accuracy = Run(directory).scalars("eval/accuracy")
    for step, value in zip(accuracy.step, accuracy.value, strict=True):
        print(f"step {step}: {value:.1%} of the test images recognised")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "./summary")
