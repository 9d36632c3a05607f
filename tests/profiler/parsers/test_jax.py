"""JAX's two files say the same; both are read, damaged or not."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from summarykit.profiler.analysis import analyse
from summarykit.profiler.parsers import jax, read, xplane
from summarykit.profiler.parsers.xplane_messages import message
from summarykit.profiler.recording import Category

RECORD = """
import sys, jax, jax.numpy as jnp
work = jax.jit(lambda x: jnp.tanh(x @ x).sum())
x = jnp.ones((200, 200))
work(x).block_until_ready()
with jax.profiler.trace(sys.argv[1]):
    for number in range(4):
        with jax.profiler.StepTraceAnnotation("train", step_num=number):
            work(x).block_until_ready()
"""


@pytest.mark.shared
def test_steps_of_a_trace_have_the_numbers_of_the_training(shared: Path):
    recording = read(shared / "data/profiler/jax")[0]
    assert recording.source == "jax"
    assert recording.tables["steps"]["step"].tolist() == [0, 1, 2, 3]
    assert analyse(recording).profiles[0].step_times["max"] == pytest.approx(99.103117)
    assert not recording.skipped
    names = {recording.spans.names[name] for name in recording.spans.name[recording.spans.of(Category.HOST_OP)]}
    assert {"dot.2", "wrapped_tanh"} <= names


def test_both_files_of_a_run_say_the_same(tmp_path, run_script):
    pytest.importorskip("jax")
    run_script(RECORD, tmp_path, env={"JAX_PLATFORMS": "cpu"}).expect_success()
    packed, full = next(tmp_path.rglob("*.trace.json.gz")), next(tmp_path.rglob("*.xplane.pb"))
    assert [recording.path for recording in read(tmp_path)] == [full]
    first, second = jax.parse(packed)[0], xplane.parse(full)[0]
    for recording in (first, second):
        assert recording.tables["steps"]["step"].tolist() == [0, 1, 2, 3]
    assert first.tables["steps"]["start"].tolist() == second.tables["steps"]["start"].tolist()
    assert len(first.spans) == len(second.spans)


def space(*lines: tuple[str, str, list[tuple[str, int, int]]]) -> bytes:
    """A file from rows: plane, title, events (name, offset and duration in ps)."""
    content = b""
    for plane, title, events in lines:
        names = list(dict.fromkeys(name for name, _, _ in events))
        line = message("Line")(id=3, name=title, timestamp_ns=1000)
        for name, offset, duration in events:
            line.events.add(metadata_id=names.index(name), offset_ps=offset, duration_ps=duration)
        about = message("Plane")(name=plane)
        for number, name in enumerate(names):
            about.event_metadata.add(key=number).value.name = name
        body = about.SerializeToString() + field(3, line.SerializeToString())
        content += field(1, body)
    return content


def field(number: int, content: bytes) -> bytes:
    size, count = b"", len(content)
    while count > 127:
        size += bytes([count & 127 | 128])
        count >>= 7
    return bytes([number << 3 | 2]) + size + bytes([count]) + content


def test_rows_of_a_device_are_kernels_copies_and_notes(tmp_path):
    path = tmp_path / "h.xplane.pb"
    path.write_bytes(
        space(
            ("/device:GPU:1", "Stream #16(Compute)", [("fusion.1", 5_000, 2_000_000), ("MemcpyD2H", 0, 1000), ("all-reduce.3", 0, 1000)]),
            ("/device:GPU:1", "XLA Modules", [("jit_step", 0, 9_000_000)]),
        )
    )
    spans = xplane.parse(path)[0].spans
    assert [Category(each).name for each in spans.category] == ["KERNEL", "MEMCPY", "COMMUNICATION", "USER"]
    assert spans.start[0] == 1005
    assert spans.duration[0] == 2000
    assert [(lane.process, lane.device, lane.title) for lane in spans.lanes] == [
        (1, True, "Stream #16(Compute)"), (1, True, "XLA Modules")
    ]  # fmt: skip


@given(st.data())
@settings(max_examples=60)
def test_a_damaged_file_never_raises(tmp_path_factory, data):
    whole = space(("/host:CPU", "python", [("$a.py:1 f", 0, 10), ("b", 20, 10)]), ("/device:TPU:0", "XLA Ops", [("dot", 0, 5)]))
    content = bytearray(whole)
    for place in data.draw(st.lists(st.integers(0, len(content) - 1), max_size=5)):
        content[place] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.mktemp("jax") / "h.xplane.pb"
    path.write_bytes(content[: data.draw(st.integers(0, len(content)))])
    str(analyse(xplane.parse(path)))


@given(st.binary(max_size=60))
@settings(max_examples=40)
def test_noise_in_a_packed_trace_never_raises(tmp_path_factory, noise):
    path = tmp_path_factory.mktemp("jax") / "h.trace.json.gz"
    path.write_bytes(gzip.compress(b'{"traceEvents":[{"ph":"M","pid":1,"name":"process_name","args":{"name":"/host:CPU"}},' + noise))
    assert jax.sniff(path)
    str(analyse(jax.parse(path)))
