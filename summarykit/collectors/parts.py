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
        "gradient_norm": "summarykit.collectors.gradient_norm:GradientNorm",
        "update_ratio": "summarykit.collectors.update_ratio:UpdateRatio",
        "optimizer": "summarykit.collectors.optimizer:Optimizer",
        "optimizer_state": "summarykit.collectors.optimizer:OptimizerState",
        "activation": "summarykit.collectors.activation:Activation",
        "throughput": "summarykit.collectors.throughput:Throughput",
        "system": "summarykit.collectors.system:System",
        "input_data": "summarykit.collectors.input_data:InputData",
        "landscape": "summarykit.collectors.landscape:Landscape",
        "tensor": "summarykit.collectors.tensor:Tensor",
        "train_lineage": "summarykit.collectors.lineage:TrainLineage",
        "eval_lineage": "summarykit.collectors.lineage:EvalLineage",
        "operator": "summarykit.collectors.operator:Operator",
        "graph": "summarykit.collectors.graph:Graph",
        "dataset_graph": "summarykit.collectors.dataset_graph:DatasetGraph",
    },
)
