"""Where the batches come from: the steps of the data pipeline."""

from __future__ import annotations

from summarykit.collectors.part import Part, Sink
from summarykit.kinds.data_pipeline import pipeline
from summarykit.training.context import CallbackParams


class DatasetGraph(Part):
    """The lineage's ``dataset_graph``, told when training begins."""

    key = "collect_dataset_graph"

    def begin(self, params: CallbackParams, sink: Sink) -> None:
        """Describe the training's data set, if it is known."""
        dataset = params.get("train_dataset")
        if dataset is not None:
            sink.add("dataset_graph", "train_dataset", pipeline(dataset))
