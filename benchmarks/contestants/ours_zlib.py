"""summarykit as it is without the isal package, for images."""

from __future__ import annotations

import sys

from contestants.ours import IMPORT, Writer

__all__ = ["IMPORT", "Writer"]

sys.modules["isal"] = None    # type: ignore[assignment]  # from here on `import isal` fails
