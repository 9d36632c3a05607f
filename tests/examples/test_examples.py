"""Every program in examples/ runs to its end in an empty directory, and what it recorded is sound."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest
from testkit import records

NEEDS = {
    "accumulation": ("sklearn", "torch"),
    "hf_trainer": ("sklearn", "torch", "transformers", "accelerate"),
    "lightning_digits": ("sklearn", "torch", "lightning"),
    "offload": ("sklearn", "torch"),
    "torch_watch": ("sklearn", "torch"),
    "profile_torch": ("torch",),
    "digits": ("sklearn",),
    "landscape_lenet": ("sklearn", "torch"),
    "landscape_resnet": ("sklearn", "torch"),
    "landscape_dask": ("distributed",),
    "graph_fusion": ("torch",),
    "inference_service": ("sklearn",),
    "jax_digits": ("sklearn", "jax", "optax"),
    "keras_digits": ("sklearn", "keras", "torch"),
    "xgboost_digits": ("sklearn", "xgboost", "lightgbm"),
    "compile_vs_eager": ("sklearn", "torch"),
}
# MindSpore's run in its own environment, Ray's without Ray: see the tests of landscapes and integrations.
ELSEWHERE = ("mindspore", "landscape_ray")
EXAMPLES = sorted(
    path for path in (Path(__file__).resolve().parents[2] / "examples").glob("*.py") if not any(name in path.stem for name in ELSEWHERE)
)


def test_there_are_examples():
    assert EXAMPLES


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs(path, run_script, tmp_path):
    for package in NEEDS.get(path.stem, ()):
        if not find_spec(package):    # importing keras would choose its backend
            pytest.skip(f"could not import '{package}'")
    done = run_script(path.read_text(encoding="utf-8"), cwd=tmp_path).expect_success()
    assert "Traceback" not in done.stderr
    assert records.check_directory(tmp_path)
    done.expect_nothing_left()
