"""Frameworks in the tests' own process."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Tiny networks on one thread of PyTorch: on a busy machine several would wait for each other."""
    torch = sys.modules.get("torch")
    before = torch.get_num_threads() if torch else 0
    if torch:
        torch.set_num_threads(1)
    yield
    if torch:
        torch.set_num_threads(before)
