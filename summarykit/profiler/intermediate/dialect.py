"""Which generation of MindInsight the files are for: names of files, names of columns, and what a percent is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Dialect:
    """One generation.

    Attributes:
        kernel_words: columns are called ``kernel_…`` and the timeline's file ``ascend_timeline_…`` (2.x), or ``op_…`` and ``timeline_…``.
        fractions: a type's percent is a fraction of 1 and its time that of all runs (2.x), or ×100 and of one run of each operator.
        duration_first: the columns of communication are ``stream_<id>_<i>_<name>``, then with ``_start_point`` and ``_end_point`` (from
            1.0 on), or ``stream_<id>_parallel_<i>`` behind these two.
        all_columns: communication that the first step does not have gets columns, too; upstream leaves it out.
    """

    kernel_words: bool
    fractions: bool
    duration_first: bool
    all_columns: bool


MINDINSIGHT_2 = Dialect(kernel_words=True, fractions=True, duration_first=True, all_columns=True)
"""What the pages of MindInsight 2 open."""

MINDSPORE_1 = Dialect(kernel_words=False, fractions=False, duration_first=True, all_columns=False)
"""MindSpore 1.0, as its own parsers write it."""

MINDINSIGHT_0_5 = Dialect(kernel_words=False, fractions=False, duration_first=False, all_columns=False)
"""MindInsight 0.5, as its own parsers write it."""
