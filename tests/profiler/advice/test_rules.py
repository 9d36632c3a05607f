"""Each rule on a recording in which it applies, and on one in which it does not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from testkit.recordings import DEVICE, HOST, recording
from testkit.simulated import Training

from summarykit.profiler.advice import Advice
from summarykit.profiler.analysis import Profile, analyse
from summarykit.profiler.recording import Category, Lane, Recording, Table

STEPS = [(step, step * 100, step * 100 + 100) for step in range(10)]
GPU = {"id": 0, "name": "V100", "computeMajor": 7, "computeMinor": 0, "totalGlobalMem": 32e9}


def each_step(*spans: tuple) -> list[tuple]:
    """These spans in every step: name, category, lane, start in the step, duration."""
    return [(name, kind, lane, step * 100 + start, time) for step in range(10) for name, kind, lane, start, time in spans]


def advice_on(*recordings: Recording) -> dict[str, Advice]:
    return {advice.rule: advice for advice in analyse(list(recordings) if len(recordings) > 1 else recordings[0]).advice}


def test_a_host_that_waits_for_its_device_every_step():
    spans = each_step(
        ("aten::conv2d", Category.HOST_OP, 0, 0, 40),
        ("cudaStreamSynchronize", Category.RUNTIME, 0, 40, 50),
        ("aten::copy_", Category.HOST_OP, 0, 90, 9),
        ("gemm", Category.KERNEL, 1, 30, 60),
    )
    found = advice_on(recording(spans, STEPS))["sync"]
    assert found.gain_ms == pytest.approx(40)    # the device idles for 40 ms of each step; the host waits for 50
    assert "cudaStreamSynchronize" in found.evidence
    assert "1 calls a step" in found.evidence


def test_a_host_that_waits_at_the_end_only_is_not_told():
    spans = [*each_step(("gemm", Category.KERNEL, 1, 0, 98)), ("cudaDeviceSynchronize", Category.RUNTIME, 0, 990, 9)]
    assert "sync" not in advice_on(recording(spans, STEPS))


def test_more_workers_where_there_are_some():
    found = advice_on(Training(load=60.0, workers=2).recorded())
    assert "more workers than num_workers=2" in found["data_wait"].change
    assert "single_threaded" not in found


def test_long_first_steps():
    ends = np.cumsum([3000, 1500, *[100] * 38])
    steps = [(number, end - length, end) for number, (end, length) in enumerate(zip(ends, [3000, 1500, *[100] * 38], strict=True))]
    found = advice_on(recording(steps=steps))["first_steps"]
    assert found.gain_ms == pytest.approx(4300 / 40)
    assert found.title.startswith("the first 2 of 40 steps")
    assert "first_steps" not in advice_on(recording(steps=steps[2:]))


def test_steps_that_compile_again():
    spans = each_step(("PjitFunction(train)", Category.HOST_OP, 0, 0, 90), ("XlaCompile", Category.HOST_OP, 0, 5, 30))
    found = advice_on(recording(spans, STEPS))["compilation"]
    assert found.gain_ms == pytest.approx(30)


def test_compilers_are_seen_by_samples_too():
    compiler = "_compile (/x/site-packages/torch/_dynamo/convert_frame.py:9)"
    stacks = Table(parent=np.array([-1, 0]), frame=np.array(["train (t.py:3)", compiler], object))
    time = np.arange(0, 1000, 10) * 1_000_000
    samples = Table(time=time, lane=np.zeros(100, int), stack=(np.arange(100) % 10 < 4).astype(int))
    found = advice_on(recording(steps=STEPS, tables={"samples": samples, "stacks": stacks}))["compilation"]
    assert found.gain_ms == pytest.approx(40)
    assert "train (t.py:3)" in found.evidence


def test_host_and_device_are_idle_together():
    spans = each_step(("aten::mm", Category.HOST_OP, 0, 0, 20), ("gemm", Category.KERNEL, 1, 5, 40))
    found = advice_on(recording(spans, STEPS))["both_idle"]
    assert found.gain_ms == pytest.approx(55)
    busy = each_step(("aten::mm", Category.HOST_OP, 0, 0, 20), ("gemm", Category.KERNEL, 1, 5, 90))
    assert "both_idle" not in advice_on(recording(busy, STEPS))


def launched_late(rank: int, busy: float) -> Recording:
    """A device that computes for so many ms of 100, since its kernels are launched late."""
    spans = each_step(("cudaLaunchKernel", Category.RUNTIME, 0, 90 - busy, 1), ("gemm", Category.KERNEL, 1, 92 - busy, busy))
    found = recording(spans, STEPS, correlation=[place // 2 for place in range(len(spans))])
    found.rank, found.world_size = rank, 3
    return found


def test_of_devices_that_wait_for_their_hosts_the_idlest_speaks_for_all():
    (alone,) = [advice for advice in analyse(launched_late(0, 20)).advice if advice.rule == "gpu_utilization"]
    assert alone.title == "device 0 is busy 20.0% of the time"
    assert "more like it" not in alone.evidence
    report = analyse([launched_late(rank, busy) for rank, busy in enumerate((30, 10, 80))])
    (told,) = [advice for advice in report.advice if advice.rule == "gpu_utilization"]
    assert told.title == "device 0 of rank 1 is busy 10.0% of the time"
    assert told.gain == pytest.approx(0.4)
    assert told.evidence.endswith("; 1 more like it, busy up to 30.0%")


def test_steps_whose_operators_are_not_known_may_be_slower():
    """PyTorch's trace ends early; when other programs come later, that makes no batch too small."""
    later = [(step, 1000 + (step - 10) * 300, 1300 + (step - 10) * 300) for step in range(10, 30)]
    found = advice_on(recording(each_step(("aten::conv2d", Category.HOST_OP, 0, 0, 90)), [*STEPS, *later]))
    assert "tiny_batches" not in found


def test_float64_on_a_device():
    spans = each_step(("void gemmk1_kernel<double, 256>", Category.KERNEL, 1, 0, 60), ("relu<float>", Category.KERNEL, 1, 60, 35))
    assert advice_on(recording(spans, STEPS))["float64"].gain_ms == pytest.approx(30)


def test_float64_on_the_host():
    found = advice_on(Training().recorded(torch={"parameters": {"torch.float64": 1000}}))
    assert 0.3 < found["float64"].gain < 0.5
    assert "float64" not in advice_on(Training().recorded(torch={"parameters": {"torch.float32": 1000}}))


@pytest.mark.parametrize(
    ("kernel", "major", "told"),
    [
        ("volta_sgemm_128x64_nn", 7, True),
        ("volta_sgemm_128x64_nn", 6, False),
        ("volta_fp16_s884gemm_fp16_128x128_nn", 7, False),
        ("ampere_bf16_s16816gemm_bf16_128x64", 8, False),
        ("vectorized_elementwise_kernel", 7, False),
    ],
)
def test_tensor_cores_that_nothing_uses(kernel, major, told):
    meta = {"deviceProperties": [{**GPU, "computeMajor": major}]}
    found = advice_on(recording(each_step((kernel, Category.KERNEL, 1, 0, 90)), STEPS, meta=meta))
    assert ("amp" in found) is told


def counters(**values: float) -> Table:
    names = {name.replace("_", "/"): value for name, value in values.items()}
    return Table(time=np.zeros(len(names), int), counter=np.array(list(names), object), value=np.array(list(names.values())))


@pytest.mark.parametrize(("own", "told"), [(380.0, "fewer threads"), (40.0, "train where nothing else runs")])
def test_processors_that_are_all_busy(own, told):
    meta = {"collected": {"system": {"cores": 4, "cores_allowed": 4}}}
    found = advice_on(recording(steps=STEPS, tables={"counters": counters(system_cpu=97.0, process_cpu=own)}, meta=meta))
    assert told in found["host_saturated"].change
    assert "host_saturated" not in advice_on(recording(steps=STEPS, tables={"counters": counters(system_cpu=60.0)}, meta=meta))


@pytest.mark.parametrize(("reserved", "told"), [(9e9, True), (4.2e9, False), (np.nan, False)])
def test_memory_in_pieces(reserved, told):
    sizes = {"bytes": np.full(2, 1e9), "allocated": np.array([3e9, 4e9]), "reserved": np.full(2, reserved)}
    table = Table(time=np.array([0, 1]), device=np.zeros(2, int), address=np.zeros(2), **sizes)
    found = advice_on(recording(steps=STEPS, tables={"memory": table}))
    assert ("fragmentation" in found) is told


def test_one_process_for_all_devices():
    spans = each_step(("DataParallel.forward", Category.USER, 0, 0, 50), ("k", Category.KERNEL, 1, 0, 90), ("k", Category.KERNEL, 2, 0, 90))
    lanes = (HOST, DEVICE, Lane(1, 7, "stream 7", device=True))
    assert "data_parallel" in advice_on(recording(spans, STEPS, lanes=lanes))


@pytest.mark.parametrize(("backend", "told"), [("gloo", True), ("nccl", False)])
def test_gradients_that_go_through_the_host(backend, told):
    spans = each_step(("DistributedDataParallel.forward", Category.USER, 0, 0, 50), ("k", Category.KERNEL, 1, 0, 90))
    meta = {"deviceProperties": [GPU], "distributedInfo": {"backend": backend}}
    assert ("nccl" in advice_on(recording(spans, STEPS, meta=meta))) is told


@pytest.mark.parametrize(
    "meta", [{"deviceProperties": 3, "distributedInfo": [], "collected": 7}, {"collected": {"input": {"loaders": 1}, "torch": []}}]
)
def test_what_others_wrote_into_a_recording_does_no_harm(meta):
    spans = each_step(("data wait", Category.PHASE, 0, 0, 50), ("k", Category.KERNEL, 1, 0, 30), ("aten::mm", Category.HOST_OP, 0, 50, 5))
    assert "data_wait" in advice_on(recording(spans, STEPS, meta=meta))


@pytest.mark.shared
def test_the_promise_for_two_public_recordings_is_possible(shared: Path):
    """The step became 36.5 ms shorter on average, and the wait for data 58.1 ms: more cannot have been gained by the advice."""
    folder = shared / "data/profiler/kineto"
    before, after = (Profile(analyse(folder / name).recordings[0]) for name in ("tb_resnet50_nw0", "tb_resnet50_nw4"))
    (advice,) = [each for each in analyse(folder / "tb_resnet50_nw0").advice if each.rule == "data_wait"]
    possible = float(before.split["data"].mean() - after.split["data"].mean())
    assert before.step_times["mean"] - after.step_times["mean"] <= advice.gain_ms <= possible
    again = {each.rule for each in analyse(folder / "tb_resnet50_nw4").advice}
    assert "data_wait" not in again
    assert "amp" in again    # as torch-tb-profiler says of both
