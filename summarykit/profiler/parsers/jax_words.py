"""What the spans of XLA's profiler are, whichever file they are in: JAX, and TensorFlow since 2.2."""

from __future__ import annotations

import re

from summarykit.profiler.parsers.trace_kinds import Kind
from summarykit.profiler.recording import Category

STEP, OPERATOR, DEVICE, NOTE, PLAIN = "step", "hlo", "device", "note", ""
"""The words by which ``classify`` is told where a span was found: with a step number, with an operator of the compiled program, in a row of
kernels of a device, in another row of a device, anywhere else."""

_ROWS_OF_KERNELS = re.compile(r"XLA Ops|Stream|Async XLA Ops|TensorCore|.*[Kk]ernel")
_COPY = re.compile(r"(Memcpy|copy|Copy|.*(D2H|H2D|DtoH|HtoD))")
_COLLECTIVE = re.compile(r"(all-reduce|all-gather|all-to-all|reduce-scatter|collective-permute|nccl.*Kernel)")
_OWN = re.compile(r"(ThreadpoolListener|end: |\$profiler\.py)")


def row(process: str, thread: str) -> str:
    """The word for spans of a row: ``"device"`` for kernels, ``"note"`` for other rows of a device, ``""`` for the host."""
    if not process.startswith("/device:"):
        return PLAIN
    return DEVICE if _ROWS_OF_KERNELS.match(thread) else NOTE


def classify(word: str, name: str) -> Kind:
    """What a span is, by one of the words here and its name."""
    if word == STEP:
        return Kind(Category.STEP)
    if word == DEVICE:
        return Kind(_on_device(name), device=True)
    if word == NOTE:
        return Kind(Category.USER, device=True)
    if _OWN.match(name):
        return Kind(Category.OVERHEAD)
    if name.startswith("$"):
        return Kind(Category.PYTHON)
    if word == OPERATOR:
        return Kind(Category.COMMUNICATION if _COLLECTIVE.match(name) else Category.HOST_OP)
    return Kind(Category.RUNTIME)


def _on_device(name: str) -> Category:
    if _COLLECTIVE.match(name):
        return Category.COMMUNICATION
    return Category.MEMCPY if _COPY.match(name) else Category.KERNEL
