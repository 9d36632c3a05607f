"""Data pipelines: what gives the batches, described without drawing any."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from summarykit.kinds import KINDS
from summarykit.kinds.data_pipeline import pipeline
from summarykit.kinds.secret_names import is_secret
from summarykit.shapes import Lineage


def recorded(dataset):
    """As the kind of the lineage takes it."""
    kind = KINDS.get("dataset_graph")
    shape = kind.reduce(kind.snapshot(pipeline(dataset)))
    assert shape.part == Lineage.DATASET
    return shape.values


class Numbers:
    def __init__(self, size=10):
        self.size, self.root, self.api_key, self.rows = size, "./numbers", "secret", np.arange(size)

    def __len__(self):
        return self.size

    def __getitem__(self, place):
        return self.rows[place]


class Scale:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, value):
        return value * self.factor


class Compose:
    def __init__(self, transforms):
        self.transforms = transforms


def test_a_loader_of_torch():
    torch = pytest.importorskip("torch")
    data = torch.utils.data
    numbers = Numbers()
    numbers.transform = Compose([Scale(2), abs])
    loader = data.DataLoader(data.Subset(numbers, [0, 1, 2, 3]), 2, shuffle=True, num_workers=0, drop_last=True)
    before = torch.get_rng_state()
    found = recorded(loader)
    assert torch.equal(before, torch.get_rng_state())
    assert {name: found[name] for name in ("op_type", "batch_size", "drop_last", "num_workers", "collate_fn", "dataset_size")} == {
        "op_type": "DataLoader", "batch_size": 2, "drop_last": True, "num_workers": 0, "collate_fn": "default_collate", "dataset_size": 2,
    }  # fmt: skip
    assert found["sampler"] == {"sampler_type": "RandomSampler", "replacement": False}
    (subset,) = found["children"]
    assert (subset["op_type"], subset["dataset_size"]) == ("Subset", 4)
    (inner,) = subset["children"]
    assert inner == {
        "op_type": "Numbers", "size": 10, "root": "./numbers", "api_key": "***", "dataset_size": 10, "children": [],
        "operations": [{"tensor_op_name": "Scale", "factor": 2}, {"tensor_op_name": "abs"}],
    }  # fmt: skip


def test_of_a_secret_the_name_is_told_and_what_only_sounds_like_one_whole():
    class Texts(Numbers):
        def __init__(self):
            super().__init__()
            self.tokenizer, self.max_tokens, self.sort_key, self.passwords_file = "bert", 512, "length", "words.txt"
            self.hub_token, self.secret_key, self.mirror, self.transform = "x", "x", "https://me:x@host/data", Scale(2)
            self.transform.password = "x"

    found = recorded(Texts())
    names = ("tokenizer", "max_tokens", "sort_key", "passwords_file", "hub_token", "secret_key", "mirror")
    assert [found[name] for name in names] == ["bert", 512, "length", "words.txt", "***", "***", "https://***@host/data"]
    assert found["operations"] == [{"tensor_op_name": "Scale", "factor": 2, "password": "***"}]


def test_a_sampler_of_batches():
    torch = pytest.importorskip("torch")
    data = torch.utils.data
    samples = [{"x": number} for number in range(5)]
    batches = data.BatchSampler(data.RandomSampler(samples), 2, drop_last=False)
    found = recorded(data.DataLoader(samples, batch_sampler=batches))
    assert (found["batch_size"], found["sampler"]["sampler_type"]) == (2, "RandomSampler")
    assert found["children"] == [{"op_type": "list", "dataset_size": 5, "children": []}]


def test_several_sources():
    torch = pytest.importorskip("torch")
    found = recorded(torch.utils.data.ConcatDataset([Numbers(3), Numbers(4)]))
    assert [child["size"] for child in found["children"]] == [3, 4]


def test_wrapped_loaders_and_iterables():
    class Prefetch:
        def __init__(self, loader):
            self.loader, self.depth = loader, 3

        def __iter__(self):
            return iter(self.loader)

    drawn = []
    found = recorded(Prefetch(drawn.append(number) or number for number in range(3)))
    assert found == {"op_type": "Prefetch", "depth": 3, "children": [{"op_type": "generator", "children": []}]}
    assert drawn == []
    assert recorded([1, 2]) == {"op_type": "list", "dataset_size": 2, "children": []}
    assert recorded(np.zeros((4, 2)))["op_type"] == "ndarray"


def test_a_circle_ends():
    class Circle:
        @property
        def dataset(self):
            return self

        def __iter__(self):
            return iter(())

    assert json.dumps(recorded(Circle())).count("Circle") == 21


def test_a_length_that_raises_is_no_length():
    class Odd(Numbers):
        def __len__(self):
            raise TypeError("unknown")

    assert "dataset_size" not in recorded(Odd())


LETTERS = st.characters(codec="ascii", categories=["Ll"])
NAMES = st.text(LETTERS, min_size=1, max_size=4).filter(lambda name: not is_secret(name))    # shorter than those that wrappers use
VALUES = st.booleans() | st.integers(-9, 9) | st.floats(allow_nan=False) | st.text(max_size=5) | st.none() | st.lists(st.integers())


@given(st.dictionaries(NAMES, VALUES, max_size=5))
def test_attributes_are_told_where_they_are_numbers_or_texts(attributes):
    class Anything:
        pass

    made = Anything()
    made.__dict__.update(attributes)
    plain = {name: value for name, value in attributes.items() if isinstance(value, (bool, int, float, str))}
    assert pipeline(made) == {"op_type": "Anything", **plain, "children": []}
