"""Frameworks that are only just being imported, by another thread perhaps: none of their values is there yet."""

from __future__ import annotations

import sys
from types import ModuleType

import numpy as np
import pytest

from summarykit.collectors.habit import Habit
from summarykit.collectors.norms import norm
from summarykit.collectors.reported import at_hand
from summarykit.kinds.arrays import freeze
from summarykit.kinds.immutable import frozen_together
from summarykit.landscape.models.jax_tree import JaxNetwork
from summarykit.landscape.models.keras_model import KerasNetwork
from summarykit.landscape.models.mindspore_cell import MindSporeNetwork
from summarykit.landscape.models.torch_module import TorchNetwork
from summarykit.lazy import loaded
from summarykit.ops import routes


class Stranger:
    """A value of a class that nobody has seen."""


BEGINNINGS = (["jax"], ["jax", "jax.core", "jax.tree_util"], ["torch"], ["torch", "torch.nn"], ["keras"], ["mindspore", "mindspore.nn"])


@pytest.fixture(params=BEGINNINGS)
def beginning(request, monkeypatch):
    """Modules in which nothing is defined yet."""
    for name in request.param:
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setattr(routes, "_ROUTES", {})


def test_nobody_takes_a_value_for_one_of_a_framework_that_is_only_just_being_imported(beginning):
    array = np.full(4, 2.0)
    routes.give("scalar", "tag", Stranger(), "")
    assert norm([array]) == 4
    assert at_hand(array) is array
    assert not Habit().keeps([array])
    assert frozen_together([array])[0] is array
    np.testing.assert_array_equal(freeze(array).data, array)
    for network in (JaxNetwork, TorchNetwork, KerasNetwork, MindSporeNetwork):
        assert not network.owns({"weight": Stranger()})


def test_jax_that_has_its_arrays_and_not_yet_its_trees_owns_no_network(monkeypatch):
    """Its package makes the one before the other."""
    jax = ModuleType("jax")
    monkeypatch.setattr(jax, "Array", Stranger, raising=False)
    monkeypatch.setitem(sys.modules, "jax", jax)
    monkeypatch.delitem(sys.modules, "jax.tree_util", raising=False)
    assert not JaxNetwork.owns({"weight": np.zeros(1)})


def test_a_class_of_a_module_that_is_not_imported_has_no_values():
    assert not isinstance(Stranger(), loaded("summarykit.no_such_module", "Stranger"))
    assert not isinstance(Stranger(), loaded("sys", "Stranger"))
    assert isinstance(Stranger(), loaded(__name__, "Stranger")) == (__name__ in sys.modules)
