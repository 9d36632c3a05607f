"""What is reported, before anything records it."""

from __future__ import annotations

import numpy as np
import pytest

from summarykit.collectors.reported import at_hand, flatten

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_a_number_in_a_tensor_is_the_same_number(dtype):
    tensor = torch.tensor([0.1], dtype=dtype, requires_grad=True)
    found = at_hand(tensor)
    assert type(found) is float
    assert torch.tensor(found, dtype=torch.float64) == tensor.detach().to(torch.float64)


@pytest.mark.parametrize(
    "value",
    [
        1, "text", None, np.float32(1), torch.ones(2), torch.ones(0), torch.tensor(2**53 + 1), torch.tensor(1j), torch.tensor(True),
        torch.ones(1).to_sparse(), torch.ones(1, device="meta"), torch.nn.Parameter(torch.ones(1)),
    ],
    ids=str,
)  # fmt: skip
def test_everything_else_is_left_to_the_record(value):
    assert at_hand(value) is value


def test_what_has_no_value_is_left_to_the_record():
    seen = []

    def look(value):
        seen.append(at_hand(value) is value)
        return value

    torch.vmap(look)(torch.ones(3))
    assert seen == [True]


def test_cb5_a_mapping_that_holds_itself_is_a_value_where_it_comes_again():
    values = {"loss": 1, "same": {"a": 2}}
    values["nested"] = {"back": values, "same": values["same"]}
    assert dict(flatten(values, "eval/")) == {"eval/loss": 1, "eval/same/a": 2, "eval/nested/same/a": 2, "eval/nested/back": values}


def test_cb5_a_mapping_that_is_nested_too_deep_is_a_value():
    deep = {}
    for _ in range(5000):
        deep = {"x": deep}
    ((tag, _),) = flatten(deep)
    assert tag.count("/") < 100
