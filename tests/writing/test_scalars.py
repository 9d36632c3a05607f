"""Scalars on their last way: few and many are the same to whoever reads them."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from testkit import events

from summarykit.formats.scalars import FEW
from summarykit.writing.options import WriterOptions
from summarykit.writing.output import Output
from summarykit.writing.scalars import ScalarWriter
from summarykit.writing.stats import Stats


class Failing:
    """A number that is none after all."""

    def __float__(self):
        raise RuntimeError("deleted")


def written(directory: Path, values):
    """The counters, and what both files have, of values of one tag at steps 0, 1, 2 ..."""
    stats = Stats("test")
    output = Output(WriterOptions(directory), stats, lambda error: None)
    flat = [item for step, value in enumerate(values) for item in ("loss", value, step, 1.5)]
    ScalarWriter(output, stats).write(flat)
    output.close()
    return stats, events.both(directory)


@pytest.mark.parametrize("count", [1, 2, FEW - 1, FEW, FEW + 1, 100])
def test_any_number_of_them(count, tmp_path):
    values = [number / 7 for number in range(count)]
    stats, found = written(tmp_path, values)
    assert found == list(enumerate(values))
    assert (stats.written, stats.nonfinite, dict(stats.dropped)) == (count, {}, {})


@pytest.mark.parametrize("count", [2, FEW - 1, FEW, 100])
@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf])
def test_va2_the_first_that_is_not_finite_is_noted(count, odd, tmp_path):
    values = [1.0] * count
    values[1] = values[-1] = odd
    stats, found = written(tmp_path, values)
    assert [str(value) for _, value in found] == [str(value) for value in values]
    assert stats.nonfinite == {"loss": 1}


@pytest.mark.parametrize("count", [1, 2, FEW - 1, FEW, 100])
def test_one_that_fails_costs_itself_alone(count, tmp_path):
    values = [float(number) for number in range(count)]
    values[count // 2] = Failing()
    stats, found = written(tmp_path, values)
    assert found == [(step, value) for step, value in enumerate(values) if step != count // 2]
    assert dict(stats.dropped) == {"scalar: RuntimeError": 1}
    assert stats.written == count - 1
