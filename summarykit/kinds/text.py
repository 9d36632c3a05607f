"""Text: Markdown that TensorBoard renders, or a table of it."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from summarykit.errors import RefusedValueError
from summarykit.kinds.arrays import described
from summarykit.kinds.kind import no_options
from summarykit.shapes import Array, Plugin, strings


class TextKind:
    r"""A str or path, of any length, or a table of them: a list, a list of lists of one length, or an array of one or two axes.

    What UTF-8 cannot say (half of a surrogate pair) becomes an escape such as ``\ud800``.
    """

    name = "text"
    light = True

    def snapshot(self, value: Any, **options: Any) -> Plugin:
        """Encode it as UTF-8.

        Raises:
            RefusedValueError: not text, or a table of another form.
        """
        no_options(self.name, options)
        return Plugin("text", _encoded(value) if isinstance(value, (str, os.PathLike)) else _table(value))

    def reduce(self, snapshot: Plugin) -> Plugin:
        """Nothing is left to do."""
        return snapshot


def _table(value: Any) -> Array:
    rows = value.tolist() if isinstance(value, np.ndarray) else value
    if not isinstance(rows, (list, tuple)) or not rows:
        raise RefusedValueError(f"text takes a str, or a table of them; got {described(value)}")
    if not isinstance(rows[0], (list, tuple)):
        return strings(*(_encoded(cell).item() for cell in rows))
    widths = {len(row) if isinstance(row, (list, tuple)) else -1 for row in rows}
    if widths & {-1, 0} or len(widths) > 1:
        raise RefusedValueError("text: the rows of a table must be lists of one length, above 0")
    return strings(*(_encoded(cell).item() for row in rows for cell in row)).reshape(len(rows), -1)


def _encoded(text: Any) -> Array:
    if not isinstance(text, (str, os.PathLike)):
        raise RefusedValueError(f"text takes a str, or a table of them; got {described(text)}")
    return strings(str(text).encode("utf-8", "backslashreplace")).reshape(())


TEXT = TextKind()
