"""LightGBM's train, cv and estimators with our collector."""

from __future__ import annotations

import gc
import warnings

import numpy as np
import pytest

pytest.importorskip("lightgbm")

import lightgbm
from testkit.training import Journal

from summarykit import Run
from summarykit.integrations.lightgbm import Callbacks, SummaryCollector, metrics

PARAMS = {"objective": "binary", "num_leaves": 4, "learning_rate": 0.2, "verbose": -1, "num_threads": 1, "min_data_in_leaf": 2, "seed": 0}
random = np.random.default_rng(0)
X = random.normal(size=(120, 4))
Y = (X[:, 0] + 0.3 * X[:, 2] > 0).astype(int)


def train(*callbacks, rounds=7, **options):
    known = lightgbm.Dataset(X[:80], Y[:80], feature_name=["first", "second", "third", "fourth"])
    held_out = lightgbm.Dataset(X[80:], Y[80:], reference=known)
    params = options.pop("params", PARAMS)
    return lightgbm.train(params, known, rounds, valid_sets=[held_out], valid_names=["test"], callbacks=list(callbacks), **options)


def without_rate():
    return {name: value for name, value in PARAMS.items() if name != "learning_rate"}


def steps(run, tag):
    return run.scalars(tag).step.tolist()


def test_metrics_rate_and_importance(tmp_path):
    seen = {}
    model = train(lightgbm.record_evaluation(seen), SummaryCollector(tmp_path, collect_freq=3))
    run = Run(tmp_path)
    assert steps(run, "test/binary_logloss") == steps(run, "learning_rate") == [1, 3, 6, 7]
    assert run.scalars("test/binary_logloss").value.tolist() == [seen["test"]["binary_logloss"][place] for place in (0, 2, 5, 6)]
    assert run.scalars("learning_rate").value.tolist() == [0.2] * 4
    gain = run.tensors("feature_importance/gain")
    assert gain.step.tolist() == [3, 6, 7]
    np.testing.assert_allclose(gain.at(7), model.feature_importance("gain"))
    assert run.points("text", "feature_importance/split/features").step.tolist() == [3, 6, 7]


def test_settings_and_results_are_in_the_lineage(tmp_path):
    seen = {}
    train(lightgbm.record_evaluation(seen), SummaryCollector(tmp_path))
    lineage = Run(tmp_path).lineage()
    assert (lineage.custom["num_leaves"], lineage.custom["objective"]) == (4, "binary")
    assert lineage.hyper_parameters["learning_rate"] == pytest.approx(0.2)
    assert lineage.metrics == {"test/binary_logloss": pytest.approx(seen["test"]["binary_logloss"][-1])}


def test_the_model_is_the_same(tmp_path):
    assert train().model_to_string() == train(SummaryCollector(tmp_path, collect_freq=1)).model_to_string()


def test_the_rate_may_change(tmp_path):
    train(lightgbm.reset_parameter(learning_rate=[0.4, 0.2, 0.1]), SummaryCollector(tmp_path, collect_freq=1), rounds=3)
    assert Run(tmp_path).scalars("learning_rate").value.tolist() == [0.4, 0.2, 0.1]


@pytest.mark.parametrize(("chosen", "rate"), [({}, 0.1), ({"eta": 0.3}, 0.3), ({"shrinkage_rate": 0.4}, 0.4)])
def test_the_rate_is_lightgbms_own_where_none_is_chosen(tmp_path, chosen, rate):
    train(SummaryCollector(tmp_path), rounds=2, params={**without_rate(), **chosen})
    assert Run(tmp_path).scalars("learning_rate").value.tolist() == [rate] * 2
    assert Run(tmp_path).lineage().hyper_parameters["learning_rate"] == pytest.approx(rate)


def test_the_default_rate_of_folds(tmp_path):
    lightgbm.cv(without_rate(), lightgbm.Dataset(X, Y), 2, nfold=2, callbacks=[SummaryCollector(tmp_path)])
    assert Run(tmp_path).scalars("learning_rate").value.tolist() == [0.1] * 2


def test_a_callback_of_the_users_own_may_change_the_rate_of_the_model(tmp_path):
    def slower(env):
        env.model.reset_parameter({"learning_rate": 0.2 / (env.iteration + 1)})

    slower.before_iteration = True
    train(slower, SummaryCollector(tmp_path, collect_freq=1), rounds=3)
    assert Run(tmp_path).scalars("learning_rate").value.tolist() == pytest.approx([0.2, 0.1, 0.2 / 3])


def test_folds_give_mean_and_deviation(tmp_path):
    table = lightgbm.cv(PARAMS, lightgbm.Dataset(X, Y), 4, nfold=3, callbacks=[SummaryCollector(tmp_path, collect_freq=1)])
    run = Run(tmp_path)
    assert run.scalars("valid/binary_logloss").value.tolist() == table["valid binary_logloss-mean"]
    assert run.scalars("valid/binary_logloss_std").value.tolist() == table["valid binary_logloss-stdv"]


def test_results_of_older_versions_are_tuples():
    assert dict(metrics([("test", "l2", 0.5, False)])) == {"test/l2": 0.5}
    assert dict(metrics([("cv_agg", "valid l2", 0.5, False, 0.1)])) == {"valid/l2": 0.5, "valid/l2_std": 0.1}
    assert dict(metrics(None)) == {}


def test_early_stopping_ends_the_run_when_nobody_holds_the_collector(tmp_path):
    model = train(SummaryCollector(tmp_path), lightgbm.early_stopping(1, verbose=False), rounds=200)
    gc.collect()
    last = steps(Run(tmp_path), "test/binary_logloss")[-1]
    assert last == model.best_iteration + 1


def test_an_exception_passes_and_the_collector_serves_again(tmp_path):
    def breaks(env):
        if env.iteration == 1:
            raise ArithmeticError("the second round")

    breaks.before_iteration = True
    collector = SummaryCollector(tmp_path, collect_freq=1)
    with pytest.raises(ArithmeticError, match="the second round"):
        train(collector, breaks)
    collector.driver.close()
    assert steps(Run(tmp_path), "test/binary_logloss") == [1]
    train(collector, rounds=3)
    assert steps(Run(tmp_path), "test/binary_logloss") == [1, 2, 3]


def test_what_ends_the_program_ended_the_run(tmp_path, run_script):
    program = tmp_path / "program.py"
    program.write_text(
        "import lightgbm, numpy\n"
        "from summarykit.integrations.lightgbm import SummaryCollector\n"
        "def breaks(env):\n"
        "    if env.iteration == 1: raise ArithmeticError('the second round')\n"
        "X = numpy.arange(80.0).reshape(40, 2)\n"
        "collector = SummaryCollector('run')\n"
        "lightgbm.train({'verbose': -1, 'num_threads': 1}, lightgbm.Dataset(X, X[:, 0]), 3, callbacks=[collector, breaks])\n"
    )
    assert run_script(program, cwd=tmp_path).returncode == 1
    lineage = Run(tmp_path / "run").lineage()
    assert (lineage.status, lineage.error, lineage.message) == ("FAILED", "ArithmeticError", "the second round")


def test_rounds_go_on_where_a_model_is_trained_on(tmp_path):
    collector = SummaryCollector(tmp_path, collect_freq=1)
    train(collector, rounds=2, init_model=train(collector, rounds=3))
    assert steps(Run(tmp_path), "test/binary_logloss") == [1, 2, 3, 4, 5]


def test_our_callbacks_stop_the_training():
    assert train(Callbacks(Journal(stop_at=2))).current_iteration() == 2


def test_estimators(tmp_path):
    options = {"n_estimators": 3, "n_jobs": 1, "verbose": -1, "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")    # eval_set got another name in 4.7
        fitted = lightgbm.LGBMClassifier(**options).fit(X, Y, eval_set=[(X, Y)], callbacks=[SummaryCollector(tmp_path, collect_freq=1)])
        plain = lightgbm.LGBMClassifier(**options).fit(X, Y)
        np.testing.assert_array_equal(fitted.predict_proba(X), plain.predict_proba(X))
    names = Run(tmp_path).tags()["scalar"]
    (tag,) = (name for name in names if name.endswith("/binary_logloss"))
    assert steps(Run(tmp_path), tag) == [1, 2, 3]


def test_the_order_of_the_hooks():
    journal = Journal()
    train(Callbacks(journal), rounds=2)
    steps = ", ".join(f"train_step_begin {step}, train_step_end {step}" for step in (1, 2))
    assert journal.text() == f"train_begin 0, train_epoch_begin 0, {steps}, train_epoch_end 2, train_end 2"
