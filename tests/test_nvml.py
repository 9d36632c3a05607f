"""Which GPUs there are for this process."""

from __future__ import annotations

import pytest

from summarykit.nvml import visible


@pytest.mark.parametrize(
    ("variable", "expected"),
    [(None, [0, 1]), ("", []), ("-1", []), ("1,0", [1, 0]), (" 0 , 7,1", [0]), ("GPU-x, MIG-y", ["GPU-x", "MIG-y"]), ("no", [])],
)
def test_which_gpus_cuda_shows(variable, expected):
    assert visible(variable, 2) == expected
