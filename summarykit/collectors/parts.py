"""The table of parts: a new one is one file and one line here, or an entry point of another package."""

from summarykit.collectors.part import Part
from summarykit.registry import Registry

PARTS: Registry[type[Part]] = Registry(
    "collectors",
    {
        "metric": "summarykit.collectors.metric:Metric",
        "learning_rate": "summarykit.collectors.learning_rate:LearningRate",
        "parameter": "summarykit.collectors.parameter:Parameter",
        "gradient": "summarykit.collectors.gradient:Gradient",
        "input_data": "summarykit.collectors.input_data:InputData",
        "landscape": "summarykit.collectors.landscape:Landscape",
        "tensor": "summarykit.collectors.tensor:Tensor",
    },
)
