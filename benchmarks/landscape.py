"""Loss landscapes: points a second, PCA, workers, and what collecting costs the training thread.

    python benchmarks/landscape.py [--only CASE ...] [--scale 0.01]

Each case runs in a fresh process with one thread, and CPU seconds are compared, so that neighbours on the machine matter little; only what
is about waiting (workers, collecting) is wall time. ``mindspore`` and ``peer`` need .envs/mindspore and .envs/peers, which
setup_peers.sh makes.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

CHECKOUT = Path(__file__).resolve().parents[1]
ENVIRONMENTS = Path(os.environ.get("SUMMARYKIT_ENVS", CHECKOUT / ".envs"))
SAMPLES = 512
Figures = dict[str, float | str]


def lenet() -> Any:
    """LeNet-5 in torch."""
    from torch import nn

    return nn.Sequential(
        nn.Conv2d(1, 6, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10),
    )  # fmt: skip


def perceptron() -> Any:
    """Two dense layers in torch."""
    from torch import nn

    return nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))


NETWORKS: dict[str, tuple[Callable[[], Any], tuple[int, ...]]] = {
    "LeNet-5": (lenet, (1, 32, 32)),
    "two dense layers": (perceptron, (1, 8, 8)),
}


def data(shape: tuple[int, ...], size: int = 32) -> list[Any]:
    """Random batches of images and labels."""
    import torch

    torch.manual_seed(0)
    return [(torch.randn(size, *shape), torch.randint(0, 10, (size,))) for _ in range(SAMPLES // size)]


def trained(net: Any, points: int, train: bool = False) -> str:
    """A run with checkpoints of a network that wandered about."""
    import torch

    from summarykit import LandscapeCollector, Loop

    directory = tempfile.mkdtemp(prefix="benchmark-")
    create = {"train": train, "result": not train}
    with Loop(net, None, range(4), 1, LandscapeCollector(directory, [[1, 2, 3, 4]], landscape_size=points, num_samples=SAMPLES,
                                                         create_landscape=create)) as loop:  # fmt: skip
        for _ in loop.steps():
            with torch.no_grad():
                for parameter in net.parameters():
                    parameter.add_(torch.randn_like(parameter), alpha=0.01)
    return directory


def points(name: str, scale: float) -> Figures:
    """Points a CPU second, and what a bare loop over the same batches does."""
    import torch

    from summarykit import SummaryLandscape

    torch.set_num_threads(1)
    make, shape = NETWORKS[name]
    net, batches, loss = make(), data(shape), torch.nn.CrossEntropyLoss()
    size = max(3, round((24 if name == "LeNet-5" else 60) * scale**0.5))
    directory = trained(net, size)

    def ours() -> int:
        SummaryLandscape(directory).gen_landscapes_with_multi_process(lambda: (net, net, batches, {"Loss": loss}))
        return size * size

    def bare() -> int:
        net.eval()
        with torch.no_grad():
            for _ in range(size * size):
                sum(loss(net(images), labels) for images, labels in batches).item()
        return size * size

    rates = {"summarykit": [], "bare loop": []}
    for _ in range(3):    # in turn, so that both see the same neighbours
        for label, work in (("bare loop", bare), ("summarykit", ours)):
            begun = time.process_time()
            count = work()
            rates[label].append(count / (time.process_time() - begun))
    return {label: float(np.median(each)) for label, each in rates.items()}


def peer(scale: float) -> Figures:
    """Points a CPU second of the package loss-landscapes, on LeNet-5; it wants all samples in one batch."""
    import loss_landscapes
    import loss_landscapes.metrics
    import torch

    torch.set_num_threads(1)
    net, size = lenet(), max(3, round(24 * scale**0.5))
    images, labels = (torch.cat(parts) for parts in zip(*data((1, 32, 32)), strict=True))
    metric = loss_landscapes.metrics.Loss(torch.nn.CrossEntropyLoss(), images, labels)
    begun = time.process_time()
    loss_landscapes.random_plane(net, metric, distance=1, steps=size, normalization="filter", deepcopy_model=True)
    return {"loss-landscapes": size * size / (time.process_time() - begun)}


def pca(scale: float, parameters: int = 25_000_000, count: int = 40) -> Figures:
    """Seconds and memory of directions and coordinates of 40 checkpoints, from files to the plane's file."""
    from summarykit.landscape import Recipe, weights
    from summarykit.landscape.directions import along_path
    from summarykit.landscape.trajectory import Trajectory

    directory, size = Path(tempfile.mkdtemp(prefix="benchmark-")), max(1000, round(parameters * scale))
    files, random = [], np.random.default_rng(0)
    values = random.standard_normal(size, np.float32)
    for number in range(count):
        values += random.standard_normal(size, np.float32) * np.float32(0.01)
        files.append(directory / f"Net_{number}_step.safetensors")
        weights.save(files[-1], {"weight": values.reshape(-1, 100)[: size // 100]}, {"parameters": ["weight"]})
    del values
    before = _anonymous()
    watch = _Peak()
    begun, wall = time.process_time(), time.monotonic()
    along_path(Trajectory(range(count), files), Recipe(), directory / "plane")
    spent = {"CPU s": time.process_time() - begun, "wall s": time.monotonic() - wall}
    peak = watch.stop()
    subprocess.run(["rm", "-r", str(directory)], check=True)
    return {**spent, "MB above the program": peak - before}


def sklearn(scale: float, parameters: int = 5_000_000, count: int = 40) -> Figures:
    """The same of scikit-learn, the checkpoints in memory already; fewer parameters, since it holds several copies of all."""
    from sklearn.decomposition import PCA

    size = max(1000, round(parameters * scale))
    random = np.random.default_rng(0)
    matrix = np.cumsum(random.standard_normal((count, size), np.float32), axis=0)
    begun = time.process_time()
    PCA(2).fit(matrix)
    theirs = time.process_time() - begun
    return {"scikit-learn CPU s": theirs, "summarykit CPU s": float(pca(scale, parameters, count)["CPU s"]), "parameters": float(size)}


def workers(scale: float) -> Figures:
    """Points a second with one process and with two, on LeNet-5, from the first tenth of the points to the last one."""
    import torch

    from summarykit import SummaryLandscape
    from summarykit.landscape.executors import LocalProcesses

    size = max(3, round(24 * scale**0.5))
    torch.manual_seed(0)
    directory = trained(lenet(), size)
    rates: Figures = {}
    for count in (1, 2):
        seen: list[tuple[int, float]] = []
        with LocalProcesses([0] * count) as executor:
            SummaryLandscape(directory).gen_landscapes_with_multi_process(
                _for_workers, executor=executor, report=lambda progress, seen=seen: seen.append((progress.done, time.monotonic()))
            )  # fmt: skip
        first = next(each for each in seen if each[0] >= size * size / 10)
        rates[f"{count} processes" if count > 1 else "1 process"] = (seen[-1][0] - first[0]) / (seen[-1][1] - first[1])
    return rates


def _for_workers() -> Any:
    import torch

    torch.set_num_threads(1)
    net = lenet()
    return net, net, data((1, 32, 32)), {"Loss": torch.nn.CrossEntropyLoss()}


def collecting(scale: float) -> Figures:
    """What storing a checkpoint of 11.7 M parameters costs the training thread: wall ms in the hook, with and without the fence."""
    import torch

    from summarykit import LandscapeCollector, Loop

    width = max(8, round(1700 * scale**0.5))
    found: Figures = {}
    for fence in (True, False):
        net = torch.nn.Sequential(*(torch.nn.Linear(width, width) for _ in range(4)))
        optimizer = torch.optim.SGD(net.parameters(), lr=0.001)
        callback = LandscapeCollector(tempfile.mkdtemp(prefix="benchmark-"), [list(range(5, 60, 5))], fence=fence)
        inner, spent = callback.on_train_step_end, []

        def timed(context: Any, inner: Any = inner, spent: list[float] = spent) -> None:
            begun = time.perf_counter()
            inner(context)
            spent.append(time.perf_counter() - begun)

        callback.on_train_step_end = timed    # type: ignore[method-assign]
        inputs = torch.randn(64, width)
        with Loop(net, optimizer, range(60), 1, callback) as loop:
            for _ in loop.steps():
                optimizer.zero_grad()
                net(inputs).square().mean().backward()
                optimizer.step()
        stored = [spent[step - 1] for step in range(10, 60, 5)]
        found[f"{'fenced' if fence else 'copied in the call'}, ms"] = 1e3 * float(np.median(stored))
        found[f"stored, fence={fence}"] = float(callback.stats()["stored"])
    return found


def mindspore(who: str, scale: float) -> Figures:
    """Points a CPU second of MindSpore's SummaryLandscape or of ours, on LeNet-5 in graph mode."""
    sys.path.insert(0, str(CHECKOUT / "examples"))
    import landscape_lenet_mindspore as example
    import mindspore as ms

    ms.set_context(mode=ms.GRAPH_MODE)
    ms.set_device("CPU")
    size = max(3, round(12 * scale**0.5))
    asked = {"landscape_size": size, "create_landscape": {"train": True, "result": False}, "num_samples": 320, "unit": "step"}
    directory = tempfile.mkdtemp(prefix="benchmark-")
    _train_mindspore(example, directory, asked)
    begun, count = time.process_time(), size * size + 3
    if who == "summarykit":
        from summarykit import SummaryLandscape
        from summarykit.landscape import MindSporeRecipe

        SummaryLandscape(directory).gen_landscapes_with_multi_process(example.model, recipe=MindSporeRecipe())
    else:
        from mindspore.train import SummaryLandscape as Theirs

        Theirs(directory).gen_landscapes_with_multi_process(example.model, device_ids=[0])
    return {who: count / (time.process_time() - begun)}


def _train_mindspore(example: Any, directory: str, asked: dict[str, Any]) -> None:
    from mindspore import nn
    from mindspore.train import Loss, Model, SummaryCollector

    network = example.LeNet5()
    optimizer = nn.Momentum(network.trainable_params(), 0.02, 0.9)
    model = Model(network, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"), optimizer, metrics={"Loss": Loss()})
    collect = {"collect_landscape": {**asked, "intervals": [[1, 2, 3]]}}
    collector = SummaryCollector(directory, collect_specified_data=collect, keep_default_action=False)
    model.train(1, example.dataset(), callbacks=[collector], dataset_sink_mode=False)


class _Peak:
    """The most anonymous memory of this process, in MB, looked at every 10 ms by a thread."""

    def __init__(self) -> None:
        import threading

        self._most, self._ended = 0.0, threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()

    def _look(self) -> None:
        while not self._ended.wait(0.01):
            self._most = max(self._most, _anonymous())

    def stop(self) -> float:
        self._ended.set()
        self._thread.join()
        return max(self._most, _anonymous())


def _anonymous() -> float:
    """Memory that is no file's, in MB: what is mapped from files the system takes back when it needs room."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1]) / 1e3
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


CASES: dict[str, tuple[str, Callable[[float], Figures]]] = {
    "lenet": ("dev", lambda scale: points("LeNet-5", scale)),
    "dense": ("dev", lambda scale: points("two dense layers", scale)),
    "peer": ("peers", peer),
    "pca": ("dev", pca),
    "sklearn": ("dev", sklearn),
    "workers": ("dev", workers),
    "collecting": ("dev", collecting),
    "mindspore": ("mindspore", lambda scale: mindspore("MindSpore", scale)),
    "mindspore-ours": ("mindspore", lambda scale: mindspore("summarykit", scale)),
}


def measured(case: str, scale: float) -> Figures | None:
    """The figures of a case, from a fresh process; None where its environment is absent."""
    python = sys.executable if CASES[case][0] == "dev" else str(ENVIRONMENTS / CASES[case][0] / "bin/python")
    if not Path(python).exists():
        return None
    threads = {} if case == "collecting" else {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT), **threads}
    command = [python, __file__, "--case", case, "--scale", str(scale)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{case} failed: {done.stderr[-800:]}", file=sys.stderr)
        return None
    found: Figures = json.loads(done.stdout.splitlines()[-1])
    return found


def table(cases: list[str], scale: float) -> Iterator[str]:
    """The figures as a table of Markdown, line by line."""
    yield from ("| case | what | figure |", "|---|---|---:|")
    for case in cases:
        for what, figure in (measured(case, scale) or {}).items():
            yield f"| {case} | {what} | {figure:,.2f} |" if isinstance(figure, float) else f"| {case} | {what} | {figure} |"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=CASES, default=list(CASES))
    parser.add_argument("--scale", type=float, default=1.0, help="factor on every size")
    parser.add_argument("--case", choices=CASES, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.case:
        print(json.dumps(CASES[given.case][1](given.scale)))
        return
    for line in table(given.only, given.scale):
        print(line, flush=True)


if __name__ == "__main__":
    main()
