"""Models that cannot be traced: what is heard is one notice, and what the model itself says."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

MODELS = """
import logging, sys, warnings, torch
from summarykit.kinds.graph import GRAPH

class Base(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = torch.nn.LSTM(4, 4)

    def forward(self, x):
        print("model prints", file=sys.stderr)
        warnings.warn("model warns")
        logging.getLogger("model").warning("model logs")
        self.last = self.rnn(x)[0]
        return self.last if self.asks(x) else x

class Exported(Base):
    def asks(self, x):
        return x.shape[0] > 1

class Unreadable(Base):
    def asks(self, x):
        return float(x.sum()) > 0

for kind in (Exported, Unreadable):
    GRAPH.snapshot(kind(), example_input=torch.ones(3, 2, 4))
"""


def test_what_pytorch_says_is_not_heard_and_what_the_model_says_is(run_script):
    heard = run_script(MODELS).expect_success().stderr.splitlines()
    lines = [line for line in heard if "model " not in line and "warnings.warn" not in line]
    assert [line for line in heard if "model prints" in line]
    assert [line for line in heard if "model warns" in line]
    assert [line for line in heard if "model logs" in line]
    (notice,) = lines
    assert notice.startswith("Unreadable cannot be traced")


THREADS = """
import sys, threading, torch
from summarykit.kinds.graphs.torch_quiet import quiet

class Unreadable(torch.nn.Module):
    def forward(self, x):
        return x + 1 if float(x.sum()) > 0 else x

def export():
    try:
        torch.export.export(Unreadable(), (torch.ones(2),))
    except Exception:
        print("cannot", file=sys.stderr)

export()
with quiet():
    export()
    other = threading.Thread(target=export)
    other.start()
    other.join()
export()
"""


def test_what_others_export_meanwhile_and_later_is_heard(run_script):
    heard = run_script(THREADS).expect_success().stderr.split("cannot")
    assert [("def forward" in part, "Unable to find user code" in part) for part in heard[:4]] == [(told, told) for told in (1, 0, 1, 1)]
