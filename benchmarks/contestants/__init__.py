"""Who is compared: one file per library, the same class ``Writer`` in each, loaded in a process of its own.

What this file itself imports counts to every contestant's whole job: as little as can be.
"""

from __future__ import annotations

import os
import sys
from typing import NamedTuple

CHECKOUT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
ENVIRONMENTS = os.environ.get("SUMMARYKIT_ENVS", os.path.join(CHECKOUT, ".envs"))


class Contestant(NamedTuple):
    """One library, with the settings it is run with.

    Attributes:
        module: file in this folder.
        environment: folder in ``.envs`` with its interpreter; None for the interpreter that runs the benchmark.
    """

    module: str
    environment: str | None = None

    @property
    def ours(self) -> bool:
        """Whether it is this library."""
        return self.environment is None

    @property
    def python(self) -> str:
        """Its interpreter."""
        return sys.executable if self.environment is None else os.path.join(ENVIRONMENTS, self.environment, "bin", "python")


OURS = "summarykit"
ONE_FORMAT = "summarykit, one format"
ZLIB = "summarykit without isal"
CONTESTANTS = {
    OURS: Contestant("ours"),
    ONE_FORMAT: Contestant("ours_one_format"),
    ZLIB: Contestant("ours_zlib"),
    "torch": Contestant("torch_writer", "peers"),
    "tensorboardX": Contestant("tensorboardx_writer", "peers"),
    "MindSpore": Contestant("mindspore_record", "mindspore"),
    "EventAccumulator": Contestant("event_accumulator", "peers"),
    "tbparse": Contestant("tbparse_reader", "peers"),
    "TensorBoard's Rust server": Contestant("rust_server", "peers"),
}
WRITERS = (OURS, ONE_FORMAT, "torch", "tensorboardX", "MindSpore")
