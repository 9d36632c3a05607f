"""Answers to queries, and the conditions that choose, order and page their rows."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from summarykit.profiler.parsers.rows import objects
from summarykit.profiler.recording import Table

LIMIT = 10
"""Rows of a page where the condition does not say it."""

Row = list[Any]
Condition = Mapping[str, Any]


@dataclass(frozen=True)
class Answer:
    """Rows below the names of their columns.

    Attributes:
        columns: the names.
        rows: as many values as there are columns.
        size: number of rows before paging.
    """

    columns: list[str]
    rows: list[Row]
    size: int

    @property
    def table(self) -> Table:
        """The rows as columns of objects."""
        return Table({name: objects([row[place] for row in self.rows]) for place, name in enumerate(self.columns)})

    def to_dict(self) -> dict[str, Any]:
        """As MindInsight's server sends it: ``{col_name, object, size}``."""
        return {"col_name": self.columns, "object": self.rows, "size": self.size}


def ask(columns: Sequence[str], rows: Sequence[Row], condition: Condition | None, *, unsortable: Sequence[str] = ()) -> Answer:
    """Filter, sort and page.

    Args:
        columns: the names.
        rows: of these columns.
        condition: ``filter_condition``: column -> ``{"in": […]}``, ``{"not_in": […]}`` or ``{"partial_match_str_in": […]}`` (any of these
            texts, in any case, within); another operator matches nothing, another column is not looked at.
            ``sort_condition``: ``{"name", "type": "ascending" | "descending"}``, descending where not said; None comes before every value.
            ``group_condition``: ``{"limit", "offset"}``: the page number ``offset`` of ``limit`` rows.
        unsortable: columns whose values have no order.

    Raises:
        ValueError: the column to sort by does not exist or cannot be sorted by, or a page is no page.
    """
    condition = condition or {}
    chosen = [row for row in rows if matches(columns, row, condition.get("filter_condition") or {})]
    chosen = ordered(columns, chosen, condition.get("sort_condition") or {}, unsortable)
    return Answer(list(columns), paged(chosen, condition.get("group_condition") or {}), len(chosen))


def matches(columns: Sequence[str], row: Sequence[Any], wanted: Mapping[str, Any]) -> bool:
    """Whether a row is what a ``filter_condition`` wants."""
    return all(
        _holds(operator, operand, row[columns.index(name)])
        for name, terms in wanted.items() if name in columns and isinstance(terms, Mapping) for operator, operand in terms.items()
    )


def _holds(operator: str, operand: Any, value: Any) -> bool:
    if operator == "in":
        return value in operand
    if operator == "not_in":
        return value not in operand
    return operator == "partial_match_str_in" and any(str(part).lower() in str(value).lower() for part in operand)


def ordered(columns: Sequence[str], rows: list[Row], order: Mapping[str, Any], unsortable: Sequence[str] = ()) -> list[Row]:
    """The rows in the order of a ``sort_condition``; equal ones stay as they stand.

    Raises:
        ValueError: the column does not exist, or has no order.
    """
    name = order.get("name")
    if not name:
        return rows
    if name not in columns or name in unsortable:
        raise ValueError(f"sort_condition: name must be one of {[each for each in columns if each not in unsortable]}, not {name!r}")
    place = columns.index(name)
    compare = functools.cmp_to_key(_compare)
    return sorted(rows, key=lambda row: compare(row[place]), reverse=order.get("type", "descending") == "descending")


def _compare(one: Any, other: Any) -> int:
    if one is None or other is None:
        return (one is not None) - (other is not None)
    try:
        return (one > other) - (one < other)
    except TypeError:
        return (type(one).__name__ > type(other).__name__) - (type(one).__name__ < type(other).__name__)


def paged(rows: list[Row], page: Mapping[str, Any]) -> list[Row]:
    """One page of a ``group_condition``; all rows where it says nothing.

    Raises:
        ValueError: limit is not from 1 to 100, or offset is negative.
    """
    if page.get("limit") is None and page.get("offset") is None:
        return rows
    limit, offset = page.get("limit", LIMIT), page.get("offset", 0)
    limit, offset = LIMIT if limit is None else limit, 0 if offset is None else offset
    if not (isinstance(limit, int) and 1 <= limit <= 100 and isinstance(offset, int) and offset >= 0):
        raise ValueError(f"group_condition: limit must be from 1 to 100 and offset from 0 on, not {limit!r} and {offset!r}")
    return rows[limit * offset : limit * (offset + 1)]


def shown(value: float | str) -> float | str:
    """A number as MindInsight rounds it: below 1 to six digits, else to three; ``-`` stays."""
    if value == "-":
        return value
    number = float(value)
    return round(number, 6 if number < 1 else 3)
