"""scikit-learn's estimators with our collector."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn", minversion="1.9")

from joblib.externals.loky import get_reusable_executor
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from testkit.training import Journal

from summarykit import Run
from summarykit.integrations.sklearn import Callbacks, SummaryCollector, partial_fit, replay

random = np.random.default_rng(0)
X = random.normal(size=(120, 4))
Y = (X[:, 0] + 0.3 * X[:, 2] > 0).astype(int)
BATCHES = [(X[start : start + 30], Y[start : start + 30]) for start in range(0, 120, 30)]


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")    # that so few iterations do not converge
        yield


def steps(run, tag):
    return run.scalars(tag).step.tolist()


def test_iterations(tmp_path):
    plain = LogisticRegression(max_iter=5).fit(X, Y)
    model = LogisticRegression(max_iter=5).set_callbacks(SummaryCollector(tmp_path, collect_freq=2)).fit(X, Y)
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    run = Run(tmp_path)
    assert steps(run, "score") == [1, 2, 4, 5]
    assert run.scalars("score").value[-1] == model.score(X, Y)
    assert run.lineage().metrics == {"score": model.score(X, Y)}
    last = run.histograms("coef_/auto").at(5).value
    assert (last.min, last.max) == (model.coef_.min(), model.coef_.max())
    assert run.histograms("coef_/auto").at(1).value.max != last.max


@pytest.fixture
def no_workers_left():
    """joblib keeps its processes and their threads for the next search; other tests count theirs."""
    yield
    get_reusable_executor().shutdown(wait=True)


@pytest.mark.usefixtures("no_workers_left")
def test_a_search_is_recorded_by_candidates(tmp_path):
    search = GridSearchCV(LogisticRegression(max_iter=5), {"C": [0.001, 1, 10]}, cv=2, n_jobs=2)
    search.set_callbacks(SummaryCollector(tmp_path, collect_freq=1)).fit(X, Y)
    run = Run(tmp_path)
    assert steps(run, "mean_test_score") == [1, 2, 3]
    np.testing.assert_array_equal(run.scalars("mean_test_score").value, search.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(run.scalars("std_test_score").value, search.cv_results_["std_test_score"])
    assert run.lineage().metrics == {"best_score": search.best_score_}
    assert run.lineage().custom["estimator__max_iter"] == 5


def test_what_has_no_parameters_is_no_mistake(tmp_path, caplog):
    GradientBoostingClassifier(n_estimators=2).fit(X, Y, monitor=SummaryCollector(tmp_path))
    assert not caplog.messages


def test_a_pipeline_and_a_scaler_harm_nothing(tmp_path):
    model = make_pipeline(StandardScaler(), LogisticRegression()).set_callbacks(SummaryCollector(tmp_path)).fit(X, Y)
    assert model.score(X, Y) > 0.9
    StandardScaler().set_callbacks(SummaryCollector(tmp_path)).fit(X)


def test_a_collector_and_what_holds_it_can_be_copied(tmp_path):
    collector = SummaryCollector(tmp_path, collect_freq=1)
    model = LogisticRegression(max_iter=2).set_callbacks(collector).fit(X, Y)
    for again in (copy.deepcopy(collector), pickle.loads(pickle.dumps(collector))):
        LogisticRegression(max_iter=3).set_callbacks(again).fit(X, Y)
    assert pickle.loads(pickle.dumps(model)).predict(X).tolist() == model.predict(X).tolist()


class Broken(LogisticRegression):
    def score(self, *args):
        raise ArithmeticError("no score")


class Breaks:
    def setup(self, estimator, context):
        pass

    on_fit_task_end = teardown = setup

    def on_fit_task_begin(self, estimator, context):
        if context.max_subtasks == 0 and context.task_id == 1:
            raise ArithmeticError("the second iteration")


def test_an_exception_passes_and_the_collector_serves_again(tmp_path):
    collector = SummaryCollector(tmp_path, collect_freq=1)
    with pytest.raises(ArithmeticError, match="the second iteration"):
        LogisticRegression(max_iter=5).set_callbacks(collector, Breaks()).fit(X, Y)
    assert not collector.driver.training
    assert steps(Run(tmp_path), "score") == [1]
    LogisticRegression(max_iter=3).set_callbacks(collector).fit(X, Y)
    assert steps(Run(tmp_path), "score") == [1, 2, 3]


def test_a_score_that_fails_costs_only_itself(tmp_path):
    Broken(max_iter=3).set_callbacks(SummaryCollector(tmp_path, collect_freq=1)).fit(X, Y)
    assert Run(tmp_path).histograms("coef_/auto").step.tolist() == [1, 2, 3]


def test_a_monitor_sees_every_tree(tmp_path):
    plain = GradientBoostingClassifier(n_estimators=6, random_state=0).fit(X, Y)
    model = GradientBoostingClassifier(n_estimators=6, random_state=0).fit(X, Y, monitor=SummaryCollector(tmp_path, collect_freq=4))
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))
    run = Run(tmp_path)
    assert steps(run, "train_score") == steps(run, "learning_rate") == [1, 4, 6]
    assert run.scalars("train_score").value.tolist() == model.train_score_[[0, 3, 5]].tolist()
    np.testing.assert_array_equal(run.tensors("feature_importance/impurity").at(6), model.feature_importances_)


def test_trees_that_are_added_are_counted_on(tmp_path):
    collector = SummaryCollector(tmp_path, collect_freq=1)
    model = GradientBoostingClassifier(n_estimators=2, warm_start=True).fit(X, Y, monitor=collector)
    model.set_params(n_estimators=4).fit(X, Y, monitor=collector)
    assert steps(Run(tmp_path), "train_score") == [1, 2, 3, 4]


def test_our_callbacks_stop_the_training():
    assert GradientBoostingClassifier(n_estimators=6).fit(X, Y, monitor=Callbacks(Journal(stop_at=2))).n_estimators_ == 2


def test_partial_fit_in_batches(tmp_path):
    plain = MLPClassifier(4, random_state=0)
    for _ in range(2):
        for inputs, targets in BATCHES:
            plain.partial_fit(inputs, targets, classes=[0, 1])
    model = MLPClassifier(4, random_state=0)
    collector = SummaryCollector(tmp_path, collect_freq=3)
    assert partial_fit(model, BATCHES, collector, epochs=2, held_out=(X, Y), classes=[0, 1]) is model
    for one, other in zip(model.coefs_, plain.coefs_, strict=True):
        np.testing.assert_array_equal(one, other)
    run = Run(tmp_path)
    assert steps(run, "loss") == [1, 3, 6, 8]
    assert run.scalars("loss").value[-1] == model.loss_
    assert steps(run, "eval/score") == [4, 8]
    assert run.histograms("coefs_/0/auto").at(8).value.max == model.coefs_[0].max()


def test_partial_fit_of_an_estimator_without_a_loss(tmp_path):
    partial_fit(SGDClassifier(random_state=0), BATCHES, SummaryCollector(tmp_path, collect_freq=1), classes=[0, 1])
    assert Run(tmp_path).histograms("coef_/auto").step.tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("model", [
    HistGradientBoostingClassifier(max_iter=5, early_stopping=True, scoring="loss", n_iter_no_change=10, random_state=0),
    MLPClassifier(4, max_iter=5, early_stopping=True, random_state=0),
], ids=["trees", "network"])  # fmt: skip
def test_what_an_estimator_remembers_is_replayed(model, tmp_path):
    replay(model.fit(X, Y), SummaryCollector(tmp_path, collect_freq=1))
    run = Run(tmp_path)
    tag, history = ("train_score", getattr(model, "train_score_", None)) if hasattr(model, "train_score_") else ("loss", model.loss_curve_)
    assert steps(run, tag) == steps(run, "validation_score") == [1, 2, 3, 4, 5]
    assert run.scalars(tag).value.tolist() == list(history[-5:])


def test_an_estimator_that_remembers_nothing_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"loss_curve_.*got LogisticRegression"):
        replay(LogisticRegression().fit(X, Y), SummaryCollector(tmp_path))


def test_the_order_of_the_hooks():
    journal = Journal()
    LogisticRegression(max_iter=2).set_callbacks(Callbacks(journal)).fit(X, Y)
    steps = ", ".join(f"train_step_begin {step}, train_step_end {step}" for step in (1, 2))
    assert journal.text() == f"train_begin 0, train_epoch_begin 0, {steps}, train_epoch_end 2, train_end 2"
