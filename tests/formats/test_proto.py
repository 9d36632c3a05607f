"""The committed descriptors are those of the sources, and live in a pool of their own."""

from __future__ import annotations

import subprocess
import sys

import pytest

from summarykit.formats.proto.messages import DESCRIPTORS, message

EVENTS = ["mindspore.irpb.Event", "mindspore.irpb.LineageEvent", "tensorboard.Event", "summarykit.Opening"]


def test_descriptors_are_built_from_the_sources(tmp_path):
    pytest.importorskip("grpc_tools", reason="grpcio-tools is not installed")
    folder, built = DESCRIPTORS.parent, tmp_path / "built.binpb"
    sources = sorted(path.name for path in folder.glob("*.proto"))
    command = [sys.executable, "-m", "grpc_tools.protoc", "-I.", f"--descriptor_set_out={built}", *sources]
    subprocess.run(command, cwd=folder, check=True)
    assert built.read_bytes() == DESCRIPTORS.read_bytes(), "run the command in summarykit/formats/proto/__init__.py"


@pytest.mark.parametrize("name", EVENTS)
def test_messages_go_there_and_back(name):
    event = message(name)(wall_time=1.5)
    assert message(name).FromString(event.SerializeToString()).wall_time == 1.5


def test_an_unknown_message_is_refused():
    with pytest.raises(KeyError):
        message("mindspore.irpb.Nothing")


def test_the_default_pool_stays_free_for_the_real_libraries():
    from google.protobuf import descriptor_pool

    message("tensorboard.Event")
    with pytest.raises(KeyError):
        descriptor_pool.Default().FindMessageTypeByName("mindspore.irpb.Event")


def test_a_record_that_lacks_required_fields_is_read():
    """MindSpore's own schema demands wall_time and tag; a reader that does loses the record."""
    event = message("mindspore.irpb.Event").FromString(b"\x2a\x00")
    assert event.HasField("summary")
    assert event.wall_time == 0
