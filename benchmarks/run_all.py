"""All benchmarks as one table of Markdown, with machine, versions and commands; on demand written into the README."""

from __future__ import annotations

import importlib
import os
import platform
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from contestants import CHECKOUT, CONTESTANTS
from harness import Options, chosen, markdown, parser

WORKLOADS = (
    "scalars", "short", "start", "idle", "memory", "histograms", "images", "tensors", "mixed_step", "fenced", "collector", "pauses",
    "writer", "reading",
)  # fmt: skip
PACKAGES = ("summarykit", "numpy", "protobuf", "torch", "tensorboard", "tensorboardX", "tbparse", "mindspore")
# Rows that can be read alone; the others go into a fold.
HEADLINES = re.compile(
    r"a scalar, one call each: |1 M scalars, one call each, |10 scalars, |a whole job|import over NumPy|an idle writer"
    r"|10 histograms|image 512|4 tensors|62 histograms|a step of a ResNet-18|one that records|… what it and the next|read scalars"
)
MARKER = "<!-- benchmarks -->"


def report(options: Options, command: str) -> str:
    """Run everything; the tables, one for writers and one for readers, and what must be known about them."""
    writers, readers, notes = [], [], []
    for name in WORKLOADS:
        rows, said = importlib.import_module(name).rows(options)
        (readers if name == "reading" else writers).extend(rows)
        notes += [note for note in said if note not in notes]
    details = "\n\n".join([markdown(writers), markdown(readers), "\n".join(f"- {note}" for note in notes)])
    headlines = [markdown([row for row in rows if HEADLINES.match(row.what)]) for rows in (writers, readers)]
    whole = f"<details><summary>All rows, and the settings of each contestant</summary>\n\n{details}\n\n</details>"
    return "\n\n".join([_introduction(options, command), *headlines, whole])


def _introduction(options: Options, command: str) -> str:
    return (
        f"`{command}`, {time.strftime('%Y-%m-%d')}: {_machine()}. {'; '.join(_versions(options))}. Medians of {options.rounds} rounds, "
        "each contestant in turn and in a fresh process, all with default arguments; in brackets how many times better summarykit is, "
        "with both formats / with one. CPU is compared; wall time hangs on what else the machine does."
    )


def _machine() -> str:
    model = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    cores = len(os.sched_getaffinity(0))
    return f"{model[1] if model else platform.machine()}, {cores} cores, {platform.system()} {platform.release()}"


def _versions(options: Options) -> Iterator[str]:
    """What is installed, for each environment in use."""
    code = (
        "import importlib.metadata as m, platform\n"
        f"found = {{d.metadata['Name']: d.version for d in m.distributions() if d.metadata['Name'] in {PACKAGES}}}\n"
        "print(f'Python {platform.python_version()},', ', '.join(f'{n} {v}' for n, v in sorted(found.items())))"
    )
    pythons = {each.python: None for name, each in CONTESTANTS.items() if not options.only or name in options.only}
    for python in filter(os.path.exists, pythons):
        yield subprocess.run([python, "-c", code], capture_output=True, text=True, check=True, cwd=CHECKOUT).stdout.strip()


def update(readme: Path, text: str) -> None:
    """Put the text between the two markers; where there is but one, a second is added."""
    before, _, rest = readme.read_text(encoding="utf-8").partition(MARKER)
    old, second, after = rest.partition(MARKER)
    readme.write_text(f"{before}{MARKER}\n{text}\n{MARKER}{after if second else old}", encoding="utf-8")


def main() -> None:
    """Run, print, and write."""
    options = parser(__doc__ or "")
    options.add_argument("--update-readme", action="store_true", help=f"write the tables between the {MARKER} markers of README.md")
    arguments = options.parse_args()
    flags = "".join(
        [" --quick" if arguments.quick else ""]
        + [f" --{name} {value:g}" for name in ("rounds", "scale") if (value := getattr(arguments, name)) is not None]
    )
    text = report(chosen(arguments), f"python benchmarks/run_all.py{flags}")
    print(text)
    if arguments.update_readme:
        update(Path(CHECKOUT, "README.md"), text)


if __name__ == "__main__":
    main()
