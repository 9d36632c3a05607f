"""What a recording says of the program, the process and the machine."""

from __future__ import annotations

import os
import platform
import sys
from typing import Any

from summarykit.clock import Process
from summarykit.profiler.anchors import anchor

FRAMEWORKS = ("torch", "jax", "mindspore", "tensorflow", "numpy")


def facts() -> dict[str, Any]:
    """Of the calling process, now."""
    from summarykit import __version__

    process = Process.current()
    loaded = [name for name in FRAMEWORKS if name in sys.modules]
    return {
        "library": f"summarykit {__version__}",
        "python": platform.python_version(),
        "frameworks": {name: str(getattr(sys.modules[name], "__version__", "")) for name in loaded},
        "host": process.host,
        "pid": process.pid,
        "process_start": process.start,
        "boot": process.boot,
        "program": os.path.basename(sys.argv[0]) if sys.argv else "",
        "started": anchor(),
    }
