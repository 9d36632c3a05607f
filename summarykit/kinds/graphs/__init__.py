"""Where graphs come from, one file per source: models of torch, ONNX files, plain mappings."""

from summarykit.kinds.graphs.source import Source
from summarykit.registry import Registry

SOURCES: Registry[Source] = Registry(
    "graphs",
    {
        "plain": "summarykit.kinds.graphs.plain:PLAIN",
        "torch": "summarykit.kinds.graphs.torch_module:TORCH",
        "onnx": "summarykit.kinds.graphs.onnx_model:ONNX",
    },
)

__all__ = ["SOURCES", "Source"]
