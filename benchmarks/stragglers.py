"""Whether the profiler names the rank that the others wait for: distributed runs on CPU (gloo) with one that is slow in its step.

    PYTHONPATH=. python benchmarks/stragglers.py [--ranks 8] [--runs 20] [--steps 30]

In each run one rank, drawn at random, sleeps 20 to 50 ms a step in input, forward, backward or optimizer; as many runs have no such rank.
"""

from __future__ import annotations

import argparse
import importlib
import os
import random
import tempfile
import time
from pathlib import Path
from typing import Any

PLACES = ("input", "forward", "backward", "optimizer")
FEATURES = 32


def train(rank: int, ranks: int, directory: str, place: str, late: int, seconds: float, steps: int) -> None:
    """One rank: a small network, its gradients reduced by DistributedDataParallel, the profiler on from the third step."""
    import torch
    from torch import distributed

    from summarykit import Loop, Profiler, StopAtStep

    torch.set_num_threads(1)
    distributed.init_process_group("gloo", init_method=f"file://{directory}/meeting", rank=rank, world_size=ranks)
    slow = {name: rank == late and name == place for name in PLACES}
    network = torch.nn.Sequential(torch.nn.Linear(FEATURES, 64), _slow_layer(seconds, slow), torch.nn.Linear(64, 4))
    model = torch.nn.parallel.DistributedDataParallel(network)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    optimizer.register_step_pre_hook(lambda *_: time.sleep(seconds if slow["optimizer"] else 0.0))
    profiler = Profiler(f"{directory}/profile", start_profile=False, collectors=["input", "torch", "communication"])
    batches = _batches(steps, seconds if slow["input"] else 0.0)
    with Loop(train_dataset=batches, callbacks=[StopAtStep(3, steps, profiler=profiler)]) as loop:
        for batch, target in loop.steps():
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(batch), target).backward()
            optimizer.step()
    distributed.barrier()
    distributed.destroy_process_group()


def _batches(steps: int, seconds: float) -> Any:
    import torch

    for _ in range(steps):
        time.sleep(seconds)
        yield torch.randn(16, FEATURES), torch.zeros(16, dtype=torch.long)


def _slow_layer(seconds: float, slow: dict[str, bool]) -> Any:
    """A layer that sleeps on its way forward or backward."""
    import torch

    class Function(torch.autograd.Function):
        @staticmethod
        def forward(_: Any, data: Any) -> Any:
            time.sleep(seconds if slow["forward"] else 0.0)
            return data.clone()

        @staticmethod
        def backward(_: Any, gradient: Any) -> Any:
            time.sleep(seconds if slow["backward"] else 0.0)
            return gradient

    class Layer(torch.nn.Module):
        def forward(self, data: Any) -> Any:
            return Function.apply(data)

    return Layer()


def named(ranks: int, place: str, late: int, seconds: float, steps: int) -> list[int]:
    """Train, and which ranks the report names."""
    from torch import multiprocessing

    from summarykit import Profiler

    importlib.import_module("torch._dynamo")    # every rank would import it for itself
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    with tempfile.TemporaryDirectory() as directory:
        multiprocessing.start_processes(train, (ranks, directory, place, late, seconds, steps), ranks, start_method="fork")
        found = Profiler.offline(Path(directory, "profile")).stragglers
    return [int(rank) for rank in found["rank"][found["straggler"]]] if found.rows else []


def main() -> None:
    """Print one line a run, and how many were right."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, default=8)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--place", choices=(*PLACES, "nowhere"), help="one run only, with a rank that is slow there")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if options.place:
        late = -1 if options.place == "nowhere" else options.seed % options.ranks
        print(named(options.ranks, options.place, late, 0.05, options.steps))
        return
    draw, right = random.Random(options.seed), {"slow": 0, "clean": 0}
    print("| run | slow in | ms | slow rank | named |")
    print("|---:|---|---:|---:|---|")
    for run in range(options.runs):
        place, late, seconds = PLACES[run % len(PLACES)], draw.randrange(options.ranks), draw.uniform(0.02, 0.05)
        for kind, rank in (("slow", late), ("clean", -1)):
            found = named(options.ranks, place, rank, seconds, options.steps)
            right[kind] += found == ([rank] if rank >= 0 else [])
            told = (place, f"{seconds * 1000:.0f}", rank) if rank >= 0 else ("nothing", "", "")
            print(f"| {run + 1} | {told[0]} | {told[1]} | {told[2]} | {', '.join(map(str, found)) or 'nobody'} |", flush=True)
    print(f"\nnamed in {right['slow']} of {options.runs} runs with a slow rank; nobody in {right['clean']} of {options.runs} clean runs")


if __name__ == "__main__":
    main()
