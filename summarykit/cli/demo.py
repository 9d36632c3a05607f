"""Train a small network on handwritten digits, record it, and tell how to look at it."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path

from summarykit.cli import table
from summarykit.cli.demo_digits import Digits, TorchNetwork, network, train
from summarykit.collectors import SummaryCollector
from summarykit.reading import Run


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("directory", nargs="?", default="./summary", help="where the files go (default: %(default)s)")
    parser.add_argument("--epochs", type=int, default=20, help="epochs to train (default: %(default)s)")


def run(args: argparse.Namespace) -> int:
    """Train, record and tell; gives the exit code."""
    digits, net = Digits(), network()
    kind = "PyTorch" if isinstance(net, TorchNetwork) else "NumPy"
    print(f"Training a network of two layers ({kind}) on {len(digits.training) * 64:,} handwritten digits, {args.epochs} epochs ...")
    begun = time.monotonic()
    loop = train(net, digits, [SummaryCollector(args.directory, collect_freq=10)], args.epochs)
    print(f"{loop.step} steps in {time.monotonic() - begun:.1f} s.\n")
    tell(args.directory)
    return 0


def tell(directory: str) -> None:
    """Print where the files are, what they hold and how to open them."""
    where = Path(directory).resolve()
    print(f"The files are in {where}:")
    for file in sorted(where.iterdir()):
        print(f"  {file.stat().st_size:>9,} bytes  {file.name}")
    print("\nThey hold:")
    table.show(("<kind", "<tag", ">points", ">steps"), _rows(Run(str(where))), indent=2)
    print(f"""
Open them with
  tensorboard --logdir {where}
  mindinsight start --summary-base-dir {where}
  python -c "import summarykit; print(summarykit.Run('{where}').to_pandas())"
""")


def _rows(recorded: Run) -> Iterator[tuple[str, str, str, str]]:
    for kind, tags in recorded.tags().items():
        for tag in tags:
            steps = recorded.points(kind, tag).step
            yield kind, tag, str(len(steps)), f"{steps[0]} … {steps[-1]}"
