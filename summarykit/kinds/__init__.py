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
        "image_with_boxes": "summarykit.kinds.boxes:IMAGE_WITH_BOXES",
        "figure": "summarykit.kinds.figure:FIGURE",
        "video": "summarykit.kinds.video:VIDEO",
        "audio": "summarykit.kinds.audio:AUDIO",
        "pr_curve": "summarykit.kinds.pr_curve:PR_CURVE",
        "pr_curve_raw": "summarykit.kinds.pr_curve:PR_CURVE_RAW",
        "mesh": "summarykit.kinds.mesh:MESH",
        "embedding": "summarykit.kinds.embedding:EMBEDDING",
        "graph": "summarykit.kinds.graph:GRAPH",
        "landscape": "summarykit.kinds.landscape:LANDSCAPE",
        "train_lineage": "summarykit.kinds.lineage:TRAIN_LINEAGE",
        "eval_lineage": "summarykit.kinds.lineage:EVAL_LINEAGE",
        "dataset_graph": "summarykit.kinds.lineage:DATASET_GRAPH",
        "custom_lineage_data": "summarykit.kinds.lineage:CUSTOM_LINEAGE_DATA",
        "run_status": "summarykit.kinds.lineage:RUN_STATUS",
        "code_version": "summarykit.kinds.lineage:CODE_VERSION",
        "hparams_session": "summarykit.kinds.lineage_session:HPARAMS_SESSION",
    },
)

__all__ = ["KINDS", "Kind"]
