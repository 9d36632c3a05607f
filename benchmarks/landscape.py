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
    matrix = random.standard_normal((count, size), np.float32)
    np.cumsum(matrix, axis=0, out=matrix)
    begun = time.process_time()
    PCA(2).fit(matrix)
    theirs = time.process_time() - begun
    return {"scikit-learn CPU s": theirs, "summarykit CPU s": float(pca(scale, parameters, count)["CPU s"]), "parameters": float(size)}


def workers(scale: float) -> Figures:
    """What a second process brings, on LeNet-5: points a second of ours with one and with two, and of bare loops, which is the limit.

    CPU time a point tells, also on a busy machine, whether two processes do more than twice the work of one.
    """
    import torch

    size = max(3, round(16 * scale**0.5))
    torch.manual_seed(0)
    directory = trained(lenet(), size)
    found: dict[str, list[float]] = {}
    for _ in range(2):    # in turn, so that all see the same neighbours
        for count in (1, 2):
            word = f"{count} process{'es' if count > 1 else ''}"
            rate, spent = _surveyed(directory, count)
            found.setdefault(f"bare loop, {word}", []).append(_bare_processes(count, 4 * scale))
            found.setdefault(word, []).append(rate)
            found.setdefault(f"{word}, ms of CPU a point", []).append(spent)
    figures: Figures = {name: float(np.median(each)) for name, each in sorted(found.items())}
    for name in ("bare loop, ", ""):
        figures[f"{name}2 processes over 1"] = float(figures[f"{name}2 processes"]) / float(figures[f"{name}1 process"])
    return figures


def _surveyed(directory: str, count: int) -> tuple[float, float]:
    """Points a second, and ms of CPU of all processes for each, from the first tenth of the points on, when all are at work."""
    from summarykit import SummaryLandscape
    from summarykit.landscape.executors import LocalProcesses

    seen: list[tuple[int, float, float]] = []
    with LocalProcesses([0] * count) as executor:
        SummaryLandscape(directory).gen_landscapes_with_multi_process(
            _for_workers, executor=executor, report=lambda progress: seen.append((progress.done, time.monotonic(), _spent()))
        )  # fmt: skip
    begun = next(each for each in seen if each[0] >= seen[-1][0] / 10)
    points, wall, spent = (after - before for before, after in zip(begun, seen[-1], strict=True))
    return points / wall, 1e3 * spent / points


def _spent() -> float:
    """CPU seconds of this process and of those that it started."""
    import psutil

    times = [each.cpu_times() for each in (psutil.Process(), *psutil.Process().children())]
    return sum(each.user + each.system for each in times)


def _bare_processes(count: int, seconds: float) -> float:
    """Passes a second of independent processes that do nothing else."""
    import multiprocessing

    context = multiprocessing.get_context("spawn")
    ready = context.Barrier(count)
    with context.Pool(count, _share, (ready,)) as pool:
        return sum(pool.map(_bare_passes, [seconds] * count, chunksize=1))


def _share(ready: Any) -> None:
    _bare_passes.ready = ready    # type: ignore[attr-defined]


def _bare_passes(seconds: float) -> float:
    import torch

    net, _, batches, metrics = _for_workers()
    net.eval()
    loss, passes = metrics["Loss"], 0
    _bare_passes.ready.wait()    # type: ignore[attr-defined]
    begun = time.monotonic()
    with torch.no_grad():
        while time.monotonic() - begun < seconds or not passes:
            sum(loss(net(images), labels) for images, labels in batches).item()
            passes += 1
    return passes / (time.monotonic() - begun)


def _for_workers() -> Any:
    import torch

    torch.set_num_threads(1)
    net = lenet()
    return net, net, data((1, 32, 32)), {"Loss": torch.nn.CrossEntropyLoss()}


def collecting(scale: float) -> Figures:
    """What storing a checkpoint of 11.7 M parameters costs the training thread, fenced and not; a copy into warm memory beside."""
    import torch

    from summarykit import LandscapeCollector, Loop

    width = max(8, round(1710 * scale**0.5))
    found: Figures = {}
    for fence in (True, False):
        net = torch.nn.Sequential(*(torch.nn.Linear(width, width) for _ in range(4)))
        optimizer = torch.optim.SGD(net.parameters(), lr=0.001)
        callback = LandscapeCollector(tempfile.mkdtemp(prefix="benchmark-"), [list(range(5, 60, 5))], fence=fence)
        callback.on_train_step_end = stored = _Timed(callback.on_train_step_end)    # type: ignore[method-assign]
        warm = [(parameter.detach().numpy(), np.ones(parameter.shape, np.float32)) for parameter in net.parameters()]
        copied = _Timed(lambda warm=warm: [np.copyto(target, values) for values, target in warm])
        inputs = torch.randn(64, width)
        with Loop(net, optimizer, range(60), 1, callback) as loop:
            for step in loop.steps():
                optimizer.zero_grad()
                net(inputs).square().mean().backward()
                optimizer.step()
                if step % 5 == 1:    # at the steps between
                    copied()
        label = "fenced" if fence else "copied in the call"
        found[f"{label}, ms of CPU"], found[f"{label}, ms of wall"] = stored.median(slice(9, 60, 5))
        found[f"{label}: a bare copy, ms of CPU"], found[f"{label}: a bare copy, ms of wall"] = copied.median()
        found[f"stored, fence={fence}"] = float(callback.stats()["stored"])
    return found


class _Timed:
    """A function, and the milliseconds that each call took: of this thread's CPU, and of wall time."""

    def __init__(self, call: Callable[..., Any]) -> None:
        self._call, self._spent = call, []

    def __call__(self, *args: Any) -> None:
        begun, wall = time.thread_time(), time.perf_counter()
        self._call(*args)
        self._spent.append((1e3 * (time.thread_time() - begun), 1e3 * (time.perf_counter() - wall)))

    def median(self, which: slice = slice(None)) -> list[float]:
        return np.median(self._spent[which], axis=0).tolist()


def mindspore(scale: float) -> Figures:
    """Points a second on LeNet-5 in MindSpore's graph mode: its SummaryLandscape, ours, a bare loop; and ours on the same net in torch."""
    sys.path.insert(0, str(CHECKOUT / "examples"))
    import landscape_lenet_mindspore as example
    import mindspore as ms
    from mindspore.train import SummaryLandscape as Theirs

    from summarykit import SummaryLandscape
    from summarykit.landscape import MindSporeRecipe

    ms.set_context(mode=ms.GRAPH_MODE)
    ms.set_device("CPU")
    size = max(3, round(8 * scale**0.5))
    asked = {"landscape_size": size, "create_landscape": {"train": True, "result": False}, "num_samples": example.SAMPLES, "unit": "step"}
    directory = tempfile.mkdtemp(prefix="benchmark-")
    _train_mindspore(example, directory, asked)
    batches = list(example.dataset().create_tuple_iterator(num_epochs=1))
    points, bare = size * size + 3, example.model()[0].train_network
    bare(*batches[0])    # compiled
    rates = {
        "bare loop": _rates(lambda: [bare(*batch).asnumpy() for _ in range(8) for batch in batches], 8),
        "MindSpore": _rates(lambda: Theirs(directory).gen_landscapes_with_multi_process(example.model, device_ids=[0]), points),
        "summarykit": _rates(
            lambda: SummaryLandscape(directory).gen_landscapes_with_multi_process(example.model, recipe=MindSporeRecipe()), points
        ),
    }
    images, labels = (np.concatenate([each.asnumpy() for each in parts]) for parts in zip(*batches, strict=True))
    np.savez(Path(directory) / "samples.npz", images=images, labels=labels)
    found: Figures = {f"{who}, points a {second} s": rate for who, pair in rates.items() for second, rate in pair.items()}
    found["summarykit over MindSpore, CPU"] = rates["summarykit"]["CPU"] / rates["MindSpore"]["CPU"]
    found["summarykit over MindSpore, wall"] = rates["summarykit"]["wall"] / rates["MindSpore"]["wall"]
    return {**found, **_of_twin(directory)}


def _rates(work: Callable[[], Any], count: int) -> dict[str, float]:
    """How many a second of CPU and of wall time."""
    begun, wall = time.process_time(), time.monotonic()
    work()
    return {"CPU": count / (time.process_time() - begun), "wall": count / (time.monotonic() - wall)}


def _of_twin(directory: str) -> Figures:
    """What `twin` finds, in the environment that has torch."""
    python = ENVIRONMENTS / "dev/bin/python"
    done = subprocess.run([python, __file__, "--twin", directory], capture_output=True, text=True, check=True)
    found: Figures = json.loads(done.stdout.splitlines()[-1])
    return found


def twin(directory: str) -> Figures:
    """The same landscape by the same net in torch: MindSpore's checkpoints, samples and grid."""
    import torch

    from summarykit import Run, SummaryLandscape
    from summarykit.landscape import MindSporeRecipe

    torch.set_num_threads(1)
    net = torch.nn.Module()
    net.layers = lenet()    # the parameters' names are then those in MindSpore, whose convolutions have no bias
    net.layers[0].bias = net.layers[3].bias = None
    net.forward = net.layers.forward    # type: ignore[method-assign]
    samples = np.load(Path(directory) / "samples.npz")
    batches = list(zip(*(torch.from_numpy(samples[name]).split(32) for name in ("images", "labels")), strict=True))
    metrics = {"Loss": lambda scores, labels: torch.nn.functional.cross_entropy(scores, labels.long())}
    known, surfaces = Run(directory).landscapes()[0], []

    def work() -> None:
        run = SummaryLandscape(directory)
        surfaces.extend(run.gen_landscapes_with_multi_process(lambda: (net, net, batches, metrics), recipe=MindSporeRecipe()))

    rates = _rates(work, known.z.size + 3)
    apart = float(np.max(np.abs(surfaces[0].z / known.z - 1)))
    found: Figures = {f"the same net in torch, points a {second} s": rate for second, rate in rates.items()}
    return {**found, "the same net in torch, relative difference": f"{apart:.1e}"}


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
    "mindspore": ("mindspore", mindspore),
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
    parser.add_argument("--twin", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.twin:
        print(json.dumps(twin(given.twin)))
        return
    if given.case:
        print(json.dumps(CASES[given.case][1](given.scale)))
        return
    for line in table(given.only, given.scale):
        print(line, flush=True)


if __name__ == "__main__":
    main()
