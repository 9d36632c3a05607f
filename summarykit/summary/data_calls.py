"""SummaryWriter's methods for text, tensors and histograms."""

from __future__ import annotations

from typing import Any

import numpy as np

from summarykit.errors import RefusedValueError
from summarykit.kinds.arrays import typed
from summarykit.kinds.tensor import TENSOR
from summarykit.shapes import TENSOR_CLASS, Histogram, Plugin, strings
from summarykit.summary.direct import DirectRecorder


class DataCalls(DirectRecorder):
    """What is read rather than looked at."""

    def add_text(self, tag: str, text_string: Any, global_step: int | None = None, walltime: float | None = None) -> None:
        """Record text, which TensorBoard shows as Markdown.

        Args:
            tag: its name. (The peers append ``/text_summary``; here it stays as it is.)
            text_string: a str, or a table: a list, or a list of lists of one length.
            global_step: optimizer updates completed; None: 0.
            walltime: seconds since the epoch; None: now.
        """
        self._record("text", tag, text_string, global_step, walltime)

    def add_tensor(self, tag: str, tensor: Any, global_step: int | None = None, walltime: float | None = None) -> None:
        """Record a whole array, every value exact.

        Args:
            tag: its name.
            tensor: array or tensor of any real dtype.
            global_step: optimizer updates completed; None: 0.
            walltime: seconds since the epoch; None: now.
        """
        self._record("tensor", tag, tensor, global_step, walltime)

    def add_plugin(self, tag: str, value: Any, metadata: Any, global_step: int | None = None, walltime: float | None = None) -> None:
        """Record a value for a plugin of TensorBoard that has no method here, in that plugin's own form.

        Args:
            tag: its name.
            value: numbers (any array or tensor), or bytes strings: one, or an array of them with dtype object.
            metadata: TensorBoard's ``SummaryMetadata``, which names the plugin.
            global_step: optimizer updates completed; None: 0.
            walltime: seconds since the epoch; None: now.
        """
        try:
            shape = _plugin(value, metadata)
        except RefusedValueError as error:
            self._refuse("plugin", tag, error)
        else:
            self._record_shape(shape.plugin, tag, shape, global_step, walltime)

    def add_histogram(
        self,
        tag: str,
        values: Any,
        global_step: int | None = None,
        bins: Any = "tensorflow",
        walltime: float | None = None,
        max_bins: int | None = None,
    ) -> None:
        """Record how values are spread. NaN and infinities are counted apart.

        Args:
            tag: its name.
            values: array or tensor of any size.
            global_step: optimizer updates completed; None: 0.
            bins: ``"tensorflow"``: up to 90 buckets of equal width; else what ``numpy.histogram`` takes: a number, edges or a rule's name.
            walltime: seconds since the epoch; None: now.
            max_bins: most buckets; neighbours are put together.
        """
        options = {} if isinstance(bins, str) and bins == "tensorflow" else {"bins": bins}
        self._record("histogram", tag, values, global_step, walltime, **options, **({} if max_bins is None else {"max_bins": max_bins}))

    def add_histogram_raw(
        self,
        tag: str,
        min: float,    # noqa: A002 - the peers' names
        max: float,    # noqa: A002
        num: int,
        sum: float,    # noqa: A002
        sum_squares: float,
        bucket_limits: Any,
        bucket_counts: Any,
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Record a histogram that was computed elsewhere.

        Args:
            tag: its name.
            min: the smallest value.
            max: the largest value.
            num: accepted for the peers' sake: the counts tell it.
            sum: of the values.
            sum_squares: of the values.
            bucket_limits: right edges, ascending.
            bucket_counts: values in each bucket, as many.
            global_step: optimizer updates completed; None: 0.
            walltime: seconds since the epoch; None: now.
        """
        try:
            shape = _histogram(min, max, sum, sum_squares, bucket_limits, bucket_counts)
        except (RefusedValueError, TypeError, ValueError) as error:
            self._refuse("histogram", tag, RefusedValueError(str(error)))
        else:
            self._record_shape("histogram", tag, shape, global_step, walltime)


def _plugin(value: Any, metadata: Any) -> Plugin:
    told = getattr(metadata, "plugin_data", None)
    if told is None or not told.plugin_name:
        raise RefusedValueError(f"plugin: metadata must be a SummaryMetadata that names a plugin, got {metadata!r}")
    if isinstance(value, bytes):
        data = strings(value).reshape(())
    elif isinstance(value, np.ndarray) and value.dtype == object and all(isinstance(each, bytes) for each in value.flat):
        data = value.copy()
    else:
        data = TENSOR.reduce(TENSOR.snapshot(value)).data
    data_class = metadata.data_class or TENSOR_CLASS
    return Plugin(told.plugin_name, data, told.content, data_class, metadata.display_name, metadata.summary_description)


def _histogram(smallest: float, largest: float, total: float, squares: float, limits: Any, counts: Any) -> Histogram:
    """A histogram by right edges; the first left one is the smallest value, or the first limit where that lies below."""
    rights, numbers = (np.asarray(typed(part).data, np.float64).reshape(-1) for part in (limits, counts))
    if len(rights) != len(numbers):
        raise RefusedValueError(f"histogram: {len(rights)} bucket_limits for {len(numbers)} bucket_counts: there must be as many")
    if not (np.diff(rights) >= 0).all() or not np.isfinite(numbers).all() or (numbers < 0).any():
        raise RefusedValueError("histogram: bucket_limits must ascend, and bucket_counts be 0 or more")
    edges = np.concatenate([[min(float(smallest), *rights[:1].tolist())], rights]) if len(rights) else np.empty(0)
    counted = np.rint(numbers).astype(np.int64)
    return Histogram(edges, counted, min=float(smallest), max=float(largest), sum=float(total), sum_squares=float(squares))
