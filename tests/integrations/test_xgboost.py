"""XGBoost's train, cv and estimators with our collector."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("xgboost")

import xgboost
from testkit.training import Journal

from summarykit import Run
from summarykit.integrations.importance import table
from summarykit.integrations.xgboost import Callbacks, SummaryCollector, importance

PARAMS = {"max_depth": 2, "objective": "binary:logistic", "eta": 0.2, "nthread": 1, "seed": 0}
random = np.random.default_rng(0)
X = random.normal(size=(120, 4))
Y = (X[:, 0] + 0.3 * X[:, 2] > 0).astype(int)


def data(start, stop):
    return xgboost.DMatrix(X[start:stop], Y[start:stop], feature_names=["first", "second", "third", "fourth"])


def train(*callbacks, rounds=7, **options):
    evals = [(data(0, 80), "train"), (data(80, 120), "test")]
    return xgboost.train(PARAMS, evals[0][0], rounds, evals=evals, verbose_eval=False, callbacks=list(callbacks), **options)


def steps(run, tag):
    return run.scalars(tag).step.tolist()


def test_metrics_rate_and_importance(tmp_path):
    results = {}
    model = train(SummaryCollector(tmp_path, collect_freq=3), evals_result=results)
    run = Run(tmp_path)
    assert steps(run, "test/logloss") == steps(run, "learning_rate") == [1, 3, 6, 7]
    assert run.scalars("test/logloss").value.tolist() == [results["test"]["logloss"][place] for place in (0, 2, 5, 6)]
    assert run.scalars("learning_rate").value.tolist() == pytest.approx([0.2] * 4)
    gain = run.tensors("feature_importance/gain")
    assert gain.step.tolist() == [3, 6, 7]
    expected = model.get_score(importance_type="gain")
    np.testing.assert_allclose(gain.at(7), [expected.get(name, 0) for name in model.feature_names])
    assert run.points("text", "feature_importance/gain/features").step.tolist() == [3, 6, 7]
    assert "| first |" in table(importance(model)["gain"])


def test_settings_and_results_are_in_the_lineage(tmp_path):
    results = {}
    train(SummaryCollector(tmp_path), evals_result=results)
    lineage = Run(tmp_path).lineage()
    assert [lineage.custom[name] for name in ("max_depth", "objective", "booster")] == [2, "binary:logistic", "gbtree"]
    assert lineage.hyper_parameters["learning_rate"] == pytest.approx(0.2)
    assert "optimizer" not in lineage.hyper_parameters
    assert lineage.metrics == {f"{data}/logloss": pytest.approx(results[data]["logloss"][-1]) for data in ("train", "test")}


def test_the_model_is_the_same(tmp_path):
    assert train().save_raw("ubj") == train(SummaryCollector(tmp_path, collect_freq=1)).save_raw("ubj")


def test_the_rate_is_the_one_that_the_round_had(tmp_path):
    """XGBoost's scheduler acts after a round, so its first rate is that of the second."""
    train(xgboost.callback.LearningRateScheduler([0.4, 0.3, 0.1]), SummaryCollector(tmp_path, collect_freq=1), rounds=3)
    assert Run(tmp_path).scalars("learning_rate").value.tolist() == pytest.approx([0.2, 0.4, 0.3])


def test_folds_give_mean_and_deviation(tmp_path):
    table = xgboost.cv(PARAMS, data(0, 120), 4, nfold=3, callbacks=[SummaryCollector(tmp_path, collect_freq=1)], as_pandas=False)
    run = Run(tmp_path)
    assert run.scalars("test/logloss").value.tolist() == table["test-logloss-mean"]
    assert run.scalars("test/logloss_std").value.tolist() == table["test-logloss-std"]


def test_early_stopping_ends_the_run_well(tmp_path):
    model = train(SummaryCollector(tmp_path), xgboost.callback.EarlyStopping(rounds=1, metric_name="logloss", data_name="test"), rounds=50)
    last = model.num_boosted_rounds()
    assert last < 50
    assert steps(Run(tmp_path), "test/logloss")[-1] == last


class Breaks(xgboost.callback.TrainingCallback):
    def before_iteration(self, model, epoch, evals_log):
        if epoch == 1:
            raise ArithmeticError("the second round")
        return False


def test_an_exception_passes_and_the_collector_serves_again(tmp_path):
    collector = SummaryCollector(tmp_path, collect_freq=1)
    with pytest.raises(ArithmeticError, match="the second round"):
        train(collector, Breaks())
    collector.driver.close()
    assert steps(Run(tmp_path), "test/logloss") == [1]
    train(collector, rounds=3)
    assert steps(Run(tmp_path), "test/logloss") == [1, 2, 3]


def test_rounds_go_on_where_a_model_is_trained_on(tmp_path):
    collector = SummaryCollector(tmp_path, collect_freq=1)
    train(collector, rounds=2, xgb_model=train(collector, rounds=3))
    assert steps(Run(tmp_path), "test/logloss") == [1, 2, 3, 4, 5]


def test_our_callbacks_stop_the_training():
    assert train(Callbacks(Journal(stop_at=2))).num_boosted_rounds() == 2


def test_estimators(tmp_path):
    collector = SummaryCollector(tmp_path, collect_freq=1)
    fitted = xgboost.XGBClassifier(n_estimators=3, callbacks=[collector], n_jobs=1).fit(X, Y, eval_set=[(X, Y)], verbose=False)
    plain = xgboost.XGBClassifier(n_estimators=3, n_jobs=1).fit(X, Y)
    np.testing.assert_array_equal(fitted.predict_proba(X), plain.predict_proba(X))
    assert steps(Run(tmp_path), "validation_0/logloss") == [1, 2, 3]


def test_a_linear_model(tmp_path):
    params = {"booster": "gblinear", "objective": "multi:softmax", "num_class": 3, "nthread": 1}
    xgboost.train(params, xgboost.DMatrix(X, random.integers(0, 3, 120)), 2, callbacks=[SummaryCollector(tmp_path)])
    assert Run(tmp_path).tensors("feature_importance/weight").at(2).shape == (4,)


def test_the_order_of_the_hooks():
    journal = Journal()
    train(Callbacks(journal), rounds=2)
    steps = ", ".join(f"train_step_begin {step}, train_step_end {step}" for step in (1, 2))
    assert journal.text() == f"train_begin 0, train_epoch_begin 0, {steps}, train_epoch_end 2, train_end 2"
