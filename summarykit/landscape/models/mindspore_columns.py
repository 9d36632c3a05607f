"""Convolutions of MindSpore as products of matrices, on CPUs where its own are slow.

MindSpore asks oneDNN for a layout that has no fast convolution on CPUs with AVX-512 (MindSpore 2.10 with oneDNN 3.10, which says so under
``ONEDNN_VERBOSE=1``: ``jit_uni_ncsp:conv+ref:any``), so a reference loop runs, at half a GFLOP a second. The patches of the input laid out
as columns, then a convolution with a kernel of 1×1, which is a product of matrices, give the same up to rounding, fifteen times faster.
"""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from functools import cache
from typing import Any

_AT_ONCE = 1 << 24    # elements of the columns: 64 MB
_CLEARLY = 6.0    # times a product of the same size: a slow convolution takes 25 to 45 times as long, a fast one as long


class Replaced:
    """Convolutions of a cell that columns stand for; a graph that was compiled with the others must not be used meanwhile."""

    def __init__(self, cell: Any) -> None:
        """Put columns in the place of each convolution of a cell that they can stand for; where that fails, none stays replaced."""
        places = [(each, name, found) for _, each in cell.cells_and_names() for name, found in _convolutions(each)]
        self._kept: list[tuple[Any, str, Any]] = []
        try:
            for each, name, found in places:
                columns = _columns()(found)
                self._kept.append((each, name, found))
                _put(each, name, columns)
        except BaseException:
            self.back()
            raise

    def back(self) -> None:
        """Put the convolutions back."""
        for each, name, found in self._kept:
            _put(each, name, found)
        self._kept = []


@cache
def pay() -> bool:
    """Whether columns are faster here: tried once in a process; graphs are to be compiled meanwhile."""
    convolution, product = _seconds(16, 3), _seconds(16 * 3 * 3, 1)    # as many multiplications
    return convolution > _CLEARLY * product


def _seconds(channels: int, kernel: int) -> float:
    """CPU time of a small convolution: of the shortest of three calls, after one that compiles."""
    mindspore = sys.modules["mindspore"]
    cell, inputs = mindspore.nn.Conv2d(channels, 16, kernel), mindspore.ops.ones((16, channels, 16, 16))
    cell(inputs).asnumpy()
    spent = []
    for _ in range(3):
        begun = time.process_time()
        cell(inputs).asnumpy()
        spent.append(time.process_time() - begun)
    return min(spent)


def replaceable(cell: Any) -> bool:
    """Whether columns can stand for anything in a cell."""
    return any(_convolutions(each) for _, each in cell.cells_and_names())


def _convolutions(cell: Any) -> list[tuple[str, Any]]:
    kind = sys.modules["mindspore"].ops.Conv2D
    return [(name, each) for name, each in vars(cell).items() if isinstance(each, kind) and each.group == 1 and each.kernel_size != (1, 1)]


def _put(cell: Any, name: str, value: Any) -> None:
    with suppress(AttributeError):    # an interrupt may have come behind this
        delattr(cell, name)    # a cell keeps operators and cells in different places
    setattr(cell, name, value)


@cache
def _columns() -> Any:
    """The class of cells that stand for a convolution; MindSpore reads the source of ``construct`` and compiles it."""
    mindspore = sys.modules["mindspore"]
    base, ops = mindspore.nn.Cell, mindspore.ops

    class Columns(base):    # type: ignore[misc, valid-type]  # known at run time only
        """Stands for a convolution."""

        def __init__(self, convolution: Any) -> None:
            super().__init__(auto_prefix=False)
            self.kernel, self.stride, self.dilation = convolution.kernel_size, convolution.stride[2:], convolution.dilation[2:]
            self.same, self.margins, self.most = convolution.pad_mode == "same", convolution.padding, _AT_ONCE
            self.columns = ops.Im2Col(ksizes=self.kernel, strides=self.stride, dilations=self.dilation, pads=0)
            self.product = ops.Conv2D(convolution.out_channel, 1)
            self.pad, self.join = ops.pad, ops.cat

        def construct(self, inputs: Any, weight: Any) -> Any:
            """As many samples at once as memory allows."""
            padded = self.padded(inputs)
            rows, columns = self.reached(padded.shape[2], 0), self.reached(padded.shape[3], 1)
            depth = padded.shape[1] * self.kernel[0] * self.kernel[1]
            factors, parts = weight.astype(inputs.dtype).reshape(weight.shape[0], depth, 1, 1), []    # as mixed precision has it
            step = max(1, self.most // (depth * rows * columns))
            for start in range(0, padded.shape[0], step):
                piece = self.columns(padded[start : start + step])
                parts.append(self.product(piece.reshape(piece.shape[0], depth, rows, columns), factors))
            return self.join(parts)

        def padded(self, inputs: Any) -> Any:
            """With the margins that the convolution would add."""
            top, bottom, left, right = self.margins
            if self.same:
                top, bottom = self.margin(inputs.shape[2], 0)
                left, right = self.margin(inputs.shape[3], 1)
            return self.pad(inputs, (left, right, top, bottom)) if top + bottom + left + right > 0 else inputs

        def margin(self, size: int, axis: int) -> tuple[int, int]:
            """Zeros before and after an axis, so that only the stride makes it shorter."""
            steps = (size - 1) // self.stride[axis]
            missing = max(0, steps * self.stride[axis] + self.dilation[axis] * (self.kernel[axis] - 1) + 1 - size)
            return missing // 2, missing - missing // 2

        def reached(self, size: int, axis: int) -> int:
            """Length of an axis of the output."""
            return (size - self.dilation[axis] * (self.kernel[axis] - 1) - 1) // self.stride[axis] + 1

    return Columns
