"""XGBoost, LightGBM and scikit-learn on handwritten digits: metrics of every round, and which pixels matter.

    python examples/xgboost_digits.py [DIRECTORY]

Each library records into a run of its own; the last lines compare them.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import xgboost
from sklearn.datasets import load_digits
from sklearn.linear_model import SGDClassifier

from summarykit import Run, runs
from summarykit.integrations import lightgbm as for_lightgbm
from summarykit.integrations import sklearn as for_sklearn
from summarykit.integrations import xgboost as for_xgboost

ROUNDS, KNOWN = 15, 1400
Data = tuple[np.ndarray, np.ndarray]


def boosted_by_xgboost(directory: Path, known: Data, held_out: Data) -> None:
    """One callback; the names of the data sets are those of ``evals``."""
    training, test = (xgboost.DMatrix(*data, feature_names=[f"pixel {place}" for place in range(64)]) for data in (known, held_out))
    params = {"objective": "multi:softprob", "num_class": 10, "max_depth": 3, "eval_metric": ["mlogloss", "merror"], "nthread": 1}
    collector = for_xgboost.SummaryCollector(directory, collect_freq=5)
    xgboost.train(params, training, ROUNDS, evals=[(training, "train"), (test, "test")], verbose_eval=False, callbacks=[collector])


def boosted_by_lightgbm(directory: Path, known: Data, held_out: Data) -> None:
    """Early stopping and our callback go together."""
    training = lightgbm.Dataset(*known)
    params = {"objective": "multiclass", "num_class": 10, "metric": ["multi_logloss", "multi_error"], "num_threads": 1, "verbose": -1}
    callbacks: list[Any] = [for_lightgbm.SummaryCollector(directory, collect_freq=5), lightgbm.early_stopping(5, verbose=False)]
    test = training.create_valid(*held_out)
    lightgbm.train(params | {"num_leaves": 8}, training, ROUNDS, valid_sets=[test], valid_names=["test"], callbacks=callbacks)


def linear(directory: Path, known: Data, held_out: Data) -> None:
    """Batches, for an estimator with ``partial_fit``."""
    batches = [(known[0][start : start + 100], known[1][start : start + 100]) for start in range(0, KNOWN, 100)]
    model = SGDClassifier(random_state=0)
    collector = for_sklearn.SummaryCollector(directory, collect_specified_data={"collect_input_data": False})
    for_sklearn.partial_fit(model, batches, collector, epochs=3, held_out=held_out, classes=np.arange(10))


def main(directory: str) -> None:
    """Train all three."""
    images, labels = load_digits(return_X_y=True)
    known, held_out = (images[:KNOWN], labels[:KNOWN]), (images[KNOWN:], labels[KNOWN:])
    base = Path(directory)
    boosted_by_xgboost(base / "xgboost", known, held_out)
    boosted_by_lightgbm(base / "lightgbm", known, held_out)
    linear(base / "sgd", known, held_out)
    print("runs:", ", ".join(sorted(runs(base))))
    print(f"xgboost: {1 - Run(base / 'xgboost').scalars('test/merror').value[-1]:.1%} recognised")
    print(f"lightgbm: {1 - Run(base / 'lightgbm').scalars('test/multi_error').value[-1]:.1%} recognised")
    print(f"sgd: {Run(base / 'sgd').scalars('eval/score').value[-1]:.1%} recognised")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "./summary")
