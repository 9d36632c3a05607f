"""What can be recorded, one file per kind: check and freeze a value, then reduce it to a neutral shape."""

from summarykit.kinds.kind import Kind
from summarykit.registry import Registry

KINDS: Registry[Kind] = Registry(
    "kinds",
    {
        "scalar": "summarykit.kinds.scalar:SCALAR",
        "histogram": "summarykit.kinds.histogram:HISTOGRAM",
        "image": "summarykit.kinds.image:IMAGE",
        "tensor": "summarykit.kinds.tensor:TENSOR",
        "text": "summarykit.kinds.text:TEXT",
        "hparams": "summarykit.kinds.hparams:HPARAMS",
        "custom_scalars": "summarykit.kinds.custom_scalars:CUSTOM_SCALARS",
    },
)

__all__ = ["KINDS", "Kind"]
