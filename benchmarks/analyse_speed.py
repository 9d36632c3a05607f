"""Analysing a trace of torch.profiler: this library and HolisticTraceAnalysis 0.5.0 on the same file, each in a fresh process.

The trace is made here, in the layout in which Kineto writes (an event over several lines), with the mix of events of a ResNet-50 training:
operators with shapes and call stacks, calls into the driver, kernels, allocations, arrows. Ours reads it and makes every table and the
report; HTA loads it and makes its temporal breakdown, kernel breakdown, idle time and queue length. Beside them stands what Python's own
JSON decoder takes for the same text in pieces of which nothing is kept: who reads with the standard library cannot be faster.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median

CHECKOUT = Path(__file__).resolve().parents[1]
HTA = Path(os.environ.get("SUMMARYKIT_ENVS", CHECKOUT / ".envs")) / "hta/bin/python"

_METER = """
import json, resource, sys, time
from pathlib import Path
folder = sys.argv[1]
begun, wall = time.process_time(), time.perf_counter()
{work}
print(json.dumps(dict(cpu=time.process_time() - begun, wall=time.perf_counter() - wall,
                      rss=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)))
"""
_OURS = """
from summarykit.profiler.analysis import Profile, analyse
report = analyse(folder)
assert report.profiles[0].steps.rows and report.profiles[0].devices.rows
str(report)
for name in Profile.TABLES:
    report.table(name)
"""
_THEIRS = """
from hta.trace_analysis import TraceAnalysis
found = TraceAnalysis(trace_dir=folder)
found.get_temporal_breakdown(visualize=False)
found.get_gpu_kernel_breakdown(visualize=False)
found.get_idle_time_breakdown(visualize=False)
found.get_queue_length_summary()
"""
_JSON = """
decode, end = json.JSONDecoder().decode, b"\\n  },"
with open(Path(folder, "rank0.json"), "rb") as file:
    rest = file.read(1 << 18).partition(b'"traceEvents": [')[2]
    while piece := file.read(1 << 18):
        text, _, rest = (rest + piece).rpartition(end)
        decode(f"[{text.decode()}}}]")
"""
_STEP_NS, _OPERATORS = 1_000_000, 1000
_STACK = ";".join(f"/home/user/site-packages/torch/nn/modules/module.py({line}): _call_impl" for line in (727, 889, 1015))
_HEAD = """
{
  "schemaVersion": 1,
  "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 1},
  "deviceProperties": [
    {
      "id": 0, "name": "Tesla V100-DGXS-32GB", "totalGlobalMem": 34084028416
    }
  ],
  "traceEvents": ["""


def write(path: Path, size: float) -> int:
    """Write a trace of about that many bytes; gives how many there are."""
    with open(path, "w", encoding="ascii") as file:
        file.write(_HEAD)
        step = 0
        while file.tell() < size or step < 3:
            file.write("".join(("," if step or place else "") + event for place, event in enumerate(_step(step))))
            step += 1
        file.write("]}\n")
    return path.stat().st_size


def _step(step: int) -> Iterator[str]:
    begun = 1_623_142_623_460_172 + step * _STEP_NS
    yield _event("cpu_op", f"ProfilerStep#{step}", 100, 100, begun, _STEP_NS - 20, {"External id": step * _OPERATORS})
    yield _event("cpu_op", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 100, 100, begun, 200_000, {})
    for place in range(_OPERATORS):
        number, time = step * _OPERATORS + place, begun + 210_000 + place * 700
        yield from _operator(number, time, place)


def _operator(number: int, time: int, place: int) -> Iterator[str]:
    about = {"External id": number, "Input Dims": [[32, 256, 14, 14], [256, 256, 3, 3], []], "Call stack": _STACK}
    yield _event("cpu_op", f"aten::convolution_{place % 60}", 100, 100, time, 300 + place % 97, about)
    yield _event("cpu_op", f"aten::cudnn_{place % 60}", 100, 100, time + 20, 200 + place % 97, about)
    yield _event("cuda_runtime", "cudaLaunchKernel", 100, 100, time + 60, 12, {"cbid": 211, "correlation": number, "External id": number})
    kernel = {
        "queued": 0, "device": 0, "context": 1, "stream": 7, "correlation": number, "External id": number, "registers per thread": 38,
        "blocks per SM": 0.625, "warps per SM": 5.0, "grid": [50, 1, 1], "block": [256, 1, 1], "est. achieved occupancy %": 8,
    }  # fmt: skip
    yield _event("kernel", f"void cudnn::convolve_sgemm_{place % 40}<float, int>", 0, 7, time + 400, 250 + place % 89, kernel)
    yield f"""
  {{
    "ph": "s", "id": {number}, "pid": 100, "tid": 100, "ts": {time + 60},
    "cat": "ac2g", "name": "ac2g"
  }},
  {{
    "ph": "f", "id": {number}, "pid": 0, "tid": 7, "ts": {time + 400},
    "cat": "ac2g", "name": "ac2g", "bp": "e"
  }},
  {{
    "ph": "i", "s": "t", "name": "[memory]",
    "pid": 100, "tid": 100,
    "ts": {time + 30},
    "args": {{
      "Device Type": 1, "Device Id": 0, "Bytes": {512 * (place % 50 + 1) * (-1) ** place}
    }}
  }}"""


def _event(category: str, name: str, process: int, thread: int, time: int, length: int, about: dict[str, object]) -> str:
    lines = ",\n      ".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in about.items())
    return f"""
  {{
    "ph": "X", "cat": "{category}",
    "name": {json.dumps(name)}, "pid": {process}, "tid": {thread},
    "ts": {time}, "dur": {length},
    "args": {{
      {lines}
    }}
  }}"""


def measure(python: str, work: str, folder: str) -> dict[str, float]:
    """Run one contestant in a fresh process.

    Raises:
        RuntimeError: it failed; the message has what it said.
    """
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run([python, "-c", _METER.format(work=work), folder], env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{python}: exit {done.returncode}\n{done.stderr[-2000:]}")
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--megabytes", type=float, default=350, help="size of the trace")
    parser.add_argument("--rounds", type=int, default=3, help="how often each is run, in turn; the median counts")
    parser.add_argument("--alone", action="store_true", help="this library only")
    options = parser.parse_args()
    contestants = {"summarykit": (sys.executable, _OURS), "json, decoded only": (sys.executable, _JSON)}
    if HTA.exists() and not options.alone:
        contestants["HTA 0.5.0"] = (str(HTA), _THEIRS)
    elif not options.alone:
        print(f"HTA is left out: no {HTA} (benchmarks/setup_peers.sh makes it)", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        size = write(Path(folder, "rank0.json"), options.megabytes * 1e6)
        runs = [{name: measure(*contestant, folder) for name, contestant in contestants.items()} for _ in range(options.rounds)]
    print(f"{size / 1e6:.0f} MB\n\n| | CPU s | MB a CPU second | wall s | peak memory, MiB |\n|---|---:|---:|---:|---:|")
    for name in contestants:
        cpu, wall, rss = (median(run[name][key] for run in runs) for key in ("cpu", "wall", "rss"))
        print(f"| {name} | {cpu:.2f} | {size / 1e6 / cpu:.0f} | {wall:.2f} | {rss:,.0f} |")


if __name__ == "__main__":
    main()
