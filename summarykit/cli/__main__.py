"""``python -m summarykit.cli``: the same as the command ``summarykit``."""

import sys

from summarykit.cli import main

if __name__ == "__main__":
    sys.exit(main())
