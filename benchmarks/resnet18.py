"""A ResNet-18 for ImageNet (He et al. 2016, "Deep Residual Learning for Image Recognition"): the sizes of its parameters, and itself."""

from __future__ import annotations

from typing import Any

WIDTHS = ((64, 64), (64, 128), (128, 256), (256, 512))
CLASSES = 1000


def block(inner: int, outer: int, shortcut: bool) -> list[int]:
    """Parameters of a residual block: two convolutions of 3 x 3 and, where the width changes, one of 1 x 1, each with a batch norm."""
    convolutions = [9 * inner * outer, 9 * outer * outer, *([inner * outer] if shortcut else [])]
    return [size for convolution in convolutions for size in (convolution, outer, outer)]


SIZES = [
    7 * 7 * 3 * 64, 64, 64,
    *(size for inner, outer in WIDTHS for size in [*block(inner, outer, inner != outer), *block(outer, outer, False)]),
    512 * CLASSES, CLASSES,
]  # fmt: skip
"""Values of each parameter of a ResNet-18, in its order."""


def network() -> Any:
    """The network itself, in PyTorch; it takes images of 3 channels, of 32 x 32 pixels and more."""
    import torch
    from torch import nn

    def convolution(inner: int, outer: int, size: int, stride: int) -> nn.Sequential:
        return nn.Sequential(nn.Conv2d(inner, outer, size, stride, size // 2, bias=False), nn.BatchNorm2d(outer))

    class Block(nn.Module):
        def __init__(self, inner: int, outer: int) -> None:
            super().__init__()
            stride = 1 if inner == outer else 2
            self.body = nn.Sequential(convolution(inner, outer, 3, stride), nn.ReLU(), convolution(outer, outer, 3, 1))
            self.shortcut = nn.Identity() if inner == outer else convolution(inner, outer, 1, stride)

        def forward(self, x: Any) -> Any:
            return torch.relu(self.body(x) + self.shortcut(x))

    blocks = [each for inner, outer in WIDTHS for each in (Block(inner, outer), Block(outer, outer))]
    stem = [convolution(3, 64, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    return nn.Sequential(*stem, *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, CLASSES))
