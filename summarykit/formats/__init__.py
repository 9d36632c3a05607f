"""How a shape lies on disk: framing, checksums, file names and one package per format."""

from summarykit.formats.format import Format
from summarykit.registry import Registry

FORMATS: Registry[type[Format]] = Registry(
    "formats",
    {
        "mindspore": "summarykit.formats.mindspore.layout:MindSporeFormat",
        "tensorboard": "summarykit.formats.tensorboard.layout:TensorBoardFormat",
    },
)

__all__ = ["FORMATS", "Format"]
