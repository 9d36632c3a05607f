"""Blocks that are in order each become one that is."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from summarykit.profiler.parsers.ascend.blocks import sort_blocks

blocks = st.lists(st.lists(st.integers(0, 30), max_size=12).map(sorted), max_size=8)


@given(blocks, st.integers(0, 20))
def test_all_rows_are_in_order_and_equal_ones_as_they_came(found, drift):
    first = np.array([value + drift * place for place, block in enumerate(found) for value in block], np.int64)
    order = np.argsort(first, kind="stable")
    edges = np.cumsum([0, *map(len, found)])
    columns = [first.copy(), np.arange(len(first), dtype=np.int32)]
    sort_blocks(columns, edges)
    assert columns[0].tolist() == first[order].tolist()
    assert columns[1].tolist() == order.tolist()
