"""Values with named fields behave as frozen dataclasses do."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import pprint
import sys
from collections.abc import Mapping
from typing import Any, Generic, TypeVar

import numpy as np
import pytest

from summarykit.immutable import FEW, Immutable
from summarykit.shapes import Blob, Graph, Histogram, Node, Point, Scalar, Tensor


class Place(Immutable):
    """One of our own."""

    x: int
    y: float = 0.5
    notes: Mapping[str, Any] = {}


class Deep(Place, eq=False):
    """Fields of the base come first."""

    z: int = 3

    def __post_init__(self) -> None:
        if self.z < 0:
            raise ValueError("z")


@dataclasses.dataclass(frozen=True)
class Model:
    """What `Place` is to be like."""

    x: int
    y: float = 0.5
    notes: Mapping[str, Any] = dataclasses.field(default_factory=dict)


@pytest.fixture(params=[0, FEW], ids=["one of few", "one of many"])
def place(request):
    """A class like `Place`, of which so many objects were made: the many are made by other means than the first."""

    class Place(Immutable):
        __qualname__ = "Place"
        x: int
        y: float = 0.5
        notes: Mapping[str, Any] = {}

    for _ in range(request.param):
        Place(0)
    return Place


@pytest.mark.parametrize(("values", "named"), [((1,), {}), ((1, 2.0), {}), ((1,), {"notes": {"a": 1}}), ((), {"y": 2, "x": 1})])
def test_it_holds_what_a_dataclass_would(place, values, named):
    ours, theirs = place(*values, **named), Model(*values, **named)
    assert {name: getattr(ours, name) for name in place.__match_args__} == vars(theirs)
    assert repr(ours) == repr(theirs).replace("Model", "Place")
    assert dataclasses.asdict(ours) == dataclasses.asdict(theirs)


@pytest.mark.parametrize(("values", "named"), [((), {}), ((1, 2, {}, 4), {}), ((1,), {"x": 1}), ((1,), {"w": 1}), ((), {"y": 1, "w": 1})])
def test_it_refuses_what_a_dataclass_would(place, values, named):
    with pytest.raises(TypeError) as theirs:
        Model(*values, **named)
    with pytest.raises(TypeError) as ours:
        place(*values, **named)
    assert str(ours.value) == str(theirs.value).replace("Model", "Place")


def test_nothing_of_it_changes():
    place = Place(1)
    with pytest.raises(AttributeError, match=r"Place\.x cannot be set"):
        place.x = 2
    with pytest.raises(AttributeError, match=r"Place\.y cannot be deleted"):
        del place.y
    assert place == Place(1)


def test_equality_is_by_value_unless_that_is_switched_off():
    assert Place(1) == Place(1, 0.5) != Place(2)
    assert Place(1) != Model(1)
    assert len({Scalar(1.0), Scalar(1.0), Scalar(2.0)}) == 2
    assert Deep(1) != Deep(1)
    same = Tensor(np.arange(3), "int64")
    assert same == same and same in {same}    # noqa: PT018
    with pytest.raises(TypeError, match="unhashable"):
        hash(Place(1))    # for its dict


def test_each_has_defaults_of_its_own():
    first, second = Place(1), Place(1)
    first.notes["a"] = 1
    assert second.notes == {} == Node("a", "b").attributes
    assert Deep(1, 2, {}, 4).z == 4
    with pytest.raises(ValueError, match="z"):
        Deep(1, z=-1)


VALUES = [
    Scalar(1.5),
    Point("scalar", "loss", 1, 2.0, Scalar(3.0)),
    Graph((Node("a", "b", attributes={"c": [1]}),)),
    Blob("graph", b"x"),
    Place(1, notes={"a": 2}),
]


@pytest.mark.parametrize("value", VALUES)
def test_copies_are_equal(value):
    assert pickle.loads(pickle.dumps(value)) == copy.copy(value) == copy.deepcopy(value) == value
    assert dataclasses.replace(value) == value
    if sys.version_info >= (3, 13):
        assert copy.replace(value) == value


def test_dataclasses_takes_it_for_one_of_its_own():
    assert dataclasses.is_dataclass(Place) and dataclasses.is_dataclass(Place(1))    # noqa: PT018
    fields = {field.name: field for field in dataclasses.fields(Deep)}
    assert list(fields) == ["x", "y", "notes", "z"]
    assert fields["x"].default is dataclasses.MISSING
    assert (fields["y"].default, fields["notes"].default_factory, fields["z"].default) == (0.5, dict, 3)
    assert dataclasses.replace(Histogram(np.arange(2.0), np.array([3])), nan=2).count == 5


def test_its_signature_is_that_of_a_dataclass():
    assert str(inspect.signature(Place)) == str(inspect.signature(Model))
    assert list(inspect.signature(Point).parameters) == ["kind", "tag", "step", "wall_time", "value"]


def test_a_dataclass_may_extend_it():
    @dataclasses.dataclass(frozen=True)
    class Longer(Place):
        unit: str = "m"

    assert Longer(1, unit="s") == Longer(1, 0.5, {}, "s") != Longer(1)
    assert dataclasses.asdict(Longer(1)) == {"x": 1, "y": 0.5, "notes": {}, "unit": "m"}
    with pytest.raises(TypeError, match="non-frozen dataclass from a frozen one"):

        @dataclasses.dataclass
        class Changing(Place):
            unit: str = "m"


def test_a_subclass_may_give_a_field_another_default():
    class Elsewhere(Place):
        x: int = 7

    assert Elsewhere() == Elsewhere(7, 0.5, {})
    assert [field.name for field in dataclasses.fields(Elsewhere)] == ["x", "y", "notes"]


@pytest.mark.parametrize("number", [1, FEW + 1])
def test_a_subclass_that_comes_after_objects_has_its_own_fields(number):
    class Base(Immutable):
        x: int

    assert [vars(Base(1)) for _ in range(number)] == [{"x": 1}] * number

    class Late(Base):
        y: int = 2

    class Own(Base):
        y: int = 2

        def __init__(self) -> None:
            super().__init__(5)

    for _ in range(number):
        assert (vars(Late(1)), vars(Own())) == ({"x": 1, "y": 2}, {"x": 5, "y": 2})
    assert [vars(made) for made in (Base(1), Late(1), Own(), Own(), Late(1, 3), Base(4))] == [
        {"x": 1}, {"x": 1, "y": 2}, {"x": 5, "y": 2}, {"x": 5, "y": 2}, {"x": 1, "y": 3}, {"x": 4},
    ]  # fmt: skip


def test_it_may_be_generic():
    kind = TypeVar("kind")

    class Box(Immutable, Generic[kind]):
        content: kind

    assert Box[int](1) == Box(1)


def test_a_long_one_is_printed_prettily():
    """`pprint` asks how a dataclass is made before it leaves it to `repr`."""
    places = [Place(1, notes={"a": "b" * 80})] * 2
    assert pprint.pformat(places) == f"[{places[0]!r},\n {places[1]!r}]"


def test_a_pattern_takes_it_apart():
    match Point("scalar", "loss", 1, 2.0, Scalar(3.0)):
        case Point("scalar", tag, step, value=Scalar(number)):
            assert (tag, step, number) == ("loss", 1, 3.0)
        case other:
            pytest.fail(repr(other))
