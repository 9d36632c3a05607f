"""Operators by the shapes of their inputs: where these change, kernels may be compiled and memory divided anew."""

from __future__ import annotations

import numpy as np

from summarykit.profiler.analysis.grouping import Groups
from summarykit.profiler.recording import Recording, Table


def input_shapes(recording: Recording) -> Table:
    """A row an operator, those whose inputs change most first.

    Returns:
        ``name``, ``calls``, ``shapes`` (how many different ones), ``common`` (those of most calls), ``types`` (of the same calls).
    """
    found = recording.tables.get("input_shapes", Table())
    if not found.rows:
        return Table()
    order = np.argsort(-found["count"], kind="stable")
    names, number = np.unique(found["name"][order].astype(str), return_inverse=True)
    groups = Groups(number)
    table = Table(
        name=names.astype(object),
        calls=groups.sum(found["count"][order]),
        shapes=groups.count,
        common=groups.first(found["shapes"][order]),
        types=groups.first(found["types"][order]),
    )
    rank = np.lexsort((-table["calls"], -table["shapes"]))
    return Table({name: column[rank] for name, column in table.items()})
