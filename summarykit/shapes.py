"""The neutral shapes between kinds and formats.

A kind (scalar, histogram, image, tensor …) reduces what a user recorded to one of these;
a format lays these out on disk and gives them back. Neither knows the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from summarykit.immutable import Immutable

# NDArray, spelled out: to import numpy.typing takes half a millisecond.
Array = np.ndarray[Any, np.dtype[Any]]
Floats = np.ndarray[Any, np.dtype[np.float64]]
Ints = np.ndarray[Any, np.dtype[np.int64]]
Bytes = np.ndarray[Any, np.dtype[np.uint8]]


class Scalar(Immutable):
    """One number, kept as float64 (exact for every float and for integers up to 2**53)."""

    value: float


class Histogram(Immutable, eq=False):
    """Counts of finite values between edges (ours: of equal width); NaN and infinities are counted apart.

    Attributes:
        edges: float64, shape ``[bins + 1]``, ascending; empty where nothing finite came.
        counts: int64, shape ``[bins]``; the last bin is closed on the right.
        nan: number of NaN values.
        pos_inf: number of +Inf values.
        neg_inf: number of -Inf values.
        min: smallest finite value (0.0 where there is none).
        max: largest finite value (0.0 where there is none).
        sum: sum of the finite values, accumulated in float64.
        sum_squares: sum of their squares, accumulated in float64.
    """

    edges: Floats
    counts: Ints
    nan: int = 0
    pos_inf: int = 0
    neg_inf: int = 0
    min: float = 0.0
    max: float = 0.0
    sum: float = 0.0
    sum_squares: float = 0.0

    @property
    def finite(self) -> int:
        """Number of finite values."""
        return int(self.counts.sum())

    @property
    def count(self) -> int:
        """Number of all values, finite or not."""
        return self.finite + self.nan + self.pos_inf + self.neg_inf


class Image(Immutable):
    """One encoded picture.

    Attributes:
        height: pixels.
        width: pixels.
        channels: 1 grey, 2 grey + alpha, 3 RGB, 4 RGBA (TensorBoard calls it ``colorspace``).
        encoded: the bytes of a PNG (or, in files of others, JPEG or GIF) file.
    """

    height: int
    width: int
    channels: int
    encoded: bytes


class Tensor(Immutable, eq=False):
    """A whole array.

    Attributes:
        data: little-endian, C-contiguous array of a NumPy dtype (bool, int8 … uint64, float16, float32, float64);
            of an extension dtype (bfloat16, float8 …) the values, exactly, in the smallest such dtype.
        dtype: the name of the dtype that was recorded: ``"bfloat16"`` where ``data`` is float32.
    """

    data: Array
    dtype: str


class Plugin(Immutable, eq=False):
    """A value for one plugin of TensorBoard (text, audio, PR curve, mesh, hparams ...), in that plugin's own form.

    Attributes:
        plugin: the plugin's name, as TensorBoard has it: ``"text"``, ``"audio"``, ``"pr_curves"``, ``"mesh"``, ``"hparams"`` ...
        data: numbers (little-endian, C-contiguous, any shape) or, dtype object, bytes strings; see ``strings``.
        metadata: the plugin's own description of the tag, serialised.
        data_class: what TensorBoard is to keep: ``SCALAR_CLASS``, ``TENSOR_CLASS``, or ``BLOB_CLASS`` for strings that are files.
        display_name: title in place of the tag.
        description: Markdown beside the title.
    """

    plugin: str
    data: Array
    metadata: bytes = b""
    data_class: int = 2
    display_name: str = ""
    description: str = ""

    @property
    def nbytes(self) -> int:
        """Memory held by the data, in bytes."""
        return sum(map(len, self.data.flat)) if self.data.dtype == object else self.data.nbytes


SCALAR_CLASS, TENSOR_CLASS, BLOB_CLASS = 1, 2, 3


def strings(*values: bytes) -> Array:
    """Bytes strings as an array of shape ``[n]``; ``reshape`` gives it another."""
    found = np.empty(len(values), object)
    found[:] = values
    return found


class Group(Immutable, eq=False):
    """Values that belong together and are recorded as one, each under a tag of its own (the parts of a mesh).

    Attributes:
        parts: what follows the tag in each one's own, and its shape.
        tag_field: field of the parts' metadata that holds the tag of the whole; 0: none.
        tag: their tag in place of the user's, where the viewer knows one only.
    """

    parts: tuple[tuple[str, Plugin], ...]
    tag_field: int = 0
    tag: str = ""


class TensorType(Immutable):
    """What a node of a graph gives.

    Attributes:
        dtype: NumPy's name of its dtype (or the framework's, where NumPy has none); empty where it is not known.
        shape: lengths of its axes, -1 for one that is not fixed; None where it is not known.
    """

    dtype: str = ""
    shape: tuple[int, ...] | None = None


class Node(Immutable):
    """One operation, parameter, constant, input or output of a graph.

    Attributes:
        name: unique in the graph; ``/`` separates its scopes: ``"encoder/0/Conv2d"``.
        op: what it does (``"Conv2d"``); ``Node.PARAMETER``, ``Node.CONSTANT``, ``Node.INPUT`` and ``Node.OUTPUT`` are those.
        inputs: names of the nodes whose results it takes, in order.
        attributes: what else there is to say: numbers, text, or lists of these.
        outputs: what it gives.
    """

    PARAMETER = "Parameter"
    CONSTANT = "Const"
    INPUT = "Input"
    OUTPUT = "Output"

    name: str
    op: str
    inputs: tuple[str, ...] = ()
    attributes: Mapping[str, Any] = {}
    outputs: tuple[TensorType, ...] = ()

    @property
    def scope(self) -> str:
        """The scopes it is in: ``"encoder/0"``; empty where it is in none."""
        return self.name.rpartition("/")[0]


class Graph(Immutable):
    """What a model computes.

    Attributes:
        nodes: every node behind those it takes from, as far as there are no cycles.
        name: the model's.
        beside: True: one more graph, which viewers show beside the run's own, under its tag.
    """

    nodes: tuple[Node, ...]
    name: str = ""
    beside: bool = False


class Embedding(Immutable):
    """Vectors for TensorBoard's projector, which reads files beside the records.

    Attributes:
        files: name -> content: ``"tensors.tsv"``, and where they were given ``"metadata.tsv"`` and ``"sprite.png"``.
        shape: number of vectors, and of their components.
        thumbnail: width and height, in pixels, of one picture in the sprite; None where there is none.
    """

    files: Mapping[str, bytes]
    shape: tuple[int, int]
    thumbnail: tuple[int, int] | None = None


class LossPath(Immutable, eq=False):
    """The way that training took, in the plane of a landscape.

    Attributes:
        steps: int64, shape ``[n]``: the step or epoch of each checkpoint, ascending.
        x: float64, shape ``[n]``: where it lies in the plane.
        y: float64, shape ``[n]``.
        z: float64, shape ``[n]``: the loss there.
    """

    steps: Ints
    x: Floats
    y: Floats
    z: Floats


class LossLandscape(Immutable, eq=False):
    """The loss over a plane in the space of a model's parameters.

    Attributes:
        x: float64, shape ``[columns]``: multiples of the first direction.
        y: float64, shape ``[rows]``: multiples of the second one.
        z: float64, shape ``[rows, columns]``: the loss; NaN and infinities as they came.
        path: the checkpoints in that plane; None where it was laid around one of them.
        convergence: x, y and z of the point that training has reached; None where nobody told.
        decomposition: how the directions were found: ``"PCA"``, ``"Random"``, ``"Interpolation"``.
        unit: what checkpoints are counted in: ``"step"`` or ``"epoch"``.
        step_per_epoch: steps of an epoch.
        explained_variance: the share of the path's variance along x and y, in [0, 1]; empty where nobody told.
        metrics: what else was measured: name -> float64, shape ``[rows, columns]``.
        notes: how it was made: names with numbers, texts or None.
    """

    x: Floats
    y: Floats
    z: Floats
    path: LossPath | None = None
    convergence: tuple[float, float, float] | None = None
    decomposition: str = ""
    unit: str = "step"
    step_per_epoch: int = 1
    explained_variance: tuple[float, ...] = ()
    metrics: Mapping[str, Floats] = {}
    notes: Mapping[str, Any] = {}


class Lineage(Immutable, eq=False):
    """One part of what a run came from and what came of it, as it is known at one moment; of each part the latest counts.

    Attributes:
        part: ``Lineage.TRAIN``, ``EVALUATION``, ``DATASET`` or ``CUSTOM``, which are MindSpore's; ``RUN`` or ``CODE``, which are ours.
        values: by name: what JSON can say (texts, numbers, bools, None, lists and mappings of these). Of a ``DATASET``: the parameters of
            its last operation, and under ``"operations"``, ``"sampler"`` and ``"children"`` mappings of the same sort.
        shown: of a ``CUSTOM``: further names with numbers or texts, for the viewer's table alone.
    """

    TRAIN = "train_lineage"
    EVALUATION = "evaluation_lineage"
    DATASET = "dataset_graph"
    CUSTOM = "user_defined_info"
    RUN = "run"
    CODE = "code_version"

    part: str
    values: Mapping[str, Any]
    shown: Mapping[str, Any] = {}


class Blob(Immutable):
    """What no other shape covers: a message as a whole.

    Attributes:
        plugin: what it is (``"graph"``, ``"lineage"`` ...).
        content: its bytes.
        metadata: what its writer says of it.
    """

    plugin: str
    content: bytes
    metadata: bytes = b""


Shape = Scalar | Histogram | Image | Tensor | Plugin | Group | Graph | Embedding | LossLandscape | Lineage | Blob


class Point(Immutable):
    """One recorded value with its place.

    Attributes:
        kind: what it is (``"scalar"``, ``"histogram"``, ``"image"``, ``"tensor"``, ``"text"`` ...).
        tag: the name it was recorded under.
        step: optimizer updates completed, int64.
        wall_time: seconds since the epoch.
        value: its shape.
    """

    kind: str
    tag: str
    step: int
    wall_time: float
    value: Shape
