"""Where graphs come from, one file per source: models of torch, Keras and MindSpore, functions of JAX, ONNX files, plain mappings."""

from summarykit.kinds.graphs.source import Source
from summarykit.registry import Registry

SOURCES: Registry[Source] = Registry(
    "graphs",
    {
        "plain": "summarykit.kinds.graphs.plain:PLAIN",
        "keras": "summarykit.kinds.graphs.keras_model:KERAS",    # before torch: on that backend its models are torch's, too
        "torch": "summarykit.kinds.graphs.torch_module:TORCH",
        "mindspore": "summarykit.kinds.graphs.mindspore_network:MINDSPORE",
        "onnx": "summarykit.kinds.graphs.onnx_model:ONNX",
        "jax": "summarykit.kinds.graphs.jax_function:JAX",    # last: whatever can be called may be a function of JAX
    },
)

__all__ = ["SOURCES", "Source"]
