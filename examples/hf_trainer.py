"""Hugging Face's Trainer: a tiny vision transformer, built from a configuration, learns handwritten digits. Nothing is downloaded.

    python examples/hf_trainer.py [DIRECTORY]

``callbacks=[SummaryCollector(...)]`` is all there is to it. (``register()`` and ``report_to="summarykit"`` do the same where only the
arguments of a training can be changed.)
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import torch
from sklearn.datasets import load_digits
from transformers import EvalPrediction, Trainer, TrainingArguments, ViTConfig, ViTForImageClassification, set_seed

from summarykit import Run
from summarykit.integrations.transformers import SummaryCollector


def samples() -> list[dict[str, Any]]:
    """The digits as the Trainer takes them: images ``[1, 8, 8]`` in [0, 1] and labels."""
    images, labels = load_digits(return_X_y=True)
    pixels = (images / 16).astype(np.float32).reshape(-1, 1, 8, 8)
    chosen = np.random.default_rng(0).permutation(len(labels))
    return [{"pixel_values": pixels[one], "labels": int(labels[one])} for one in chosen]


def model() -> ViTForImageClassification:
    """A vision transformer of one layer over patches of 4 x 4."""
    return ViTForImageClassification(
        ViTConfig(
            image_size=8, patch_size=4, num_channels=1, num_labels=10, hidden_size=64, num_hidden_layers=1, num_attention_heads=2,
            intermediate_size=128, hidden_dropout_prob=0.0,
        )
    )  # fmt: skip


def metrics(prediction: EvalPrediction) -> dict[str, float]:
    """What the evaluation tells."""
    return {"accuracy": float(np.mean(prediction.predictions.argmax(-1) == prediction.label_ids))}


def main(directory: str) -> None:
    """Train and record."""
    set_seed(0)
    torch.set_num_threads(1)    # so small a network is faster on one
    digits = samples()
    arguments = TrainingArguments(
        output_dir=f"{directory}/checkpoints", num_train_epochs=4, per_device_train_batch_size=32, gradient_accumulation_steps=2,
        learning_rate=0.003, logging_steps=5, eval_strategy="epoch", save_strategy="no", disable_tqdm=True, use_cpu=True,
    )  # fmt: skip
    trainer = Trainer(
        model(), arguments, train_dataset=digits[:1400], eval_dataset=digits[1400:], compute_metrics=metrics,
        callbacks=[SummaryCollector(directory)],
    )  # fmt: skip
    trainer.train()
    accuracy = Run(directory).scalars("eval/accuracy")
    for step, value in zip(accuracy.step, accuracy.value, strict=True):
        print(f"step {step}: {value:.1%} of the test images recognised")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "./summary")
