"""The parameters of a ResNet-18 for ImageNet (He et al. 2016, "Deep Residual Learning for Image Recognition")."""

from __future__ import annotations


def block(inner: int, outer: int, shortcut: bool) -> list[int]:
    """Parameters of a residual block: two convolutions of 3 x 3 and, where the width changes, one of 1 x 1, each with a batch norm."""
    convolutions = [9 * inner * outer, 9 * outer * outer, *([inner * outer] if shortcut else [])]
    return [size for convolution in convolutions for size in (convolution, outer, outer)]


WIDTHS = ((64, 64), (64, 128), (128, 256), (256, 512))
SIZES = [
    7 * 7 * 3 * 64, 64, 64,
    *(size for inner, outer in WIDTHS for size in [*block(inner, outer, inner != outer), *block(outer, outer, False)]),
    512 * 1000, 1000,
]  # fmt: skip
"""Values of each parameter of a ResNet-18, in its order."""
