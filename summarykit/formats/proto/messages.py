"""Message classes from the committed descriptor set, in a pool of their own.

The default pool may hold MindSpore's or TensorBoard's own messages of the same names; two definitions of one name in one pool are an error.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

DESCRIPTORS = Path(__file__).with_name("descriptors.binpb")


@cache
def message(name: str) -> Any:
    """The class of a message, such as ``"mindspore.irpb.Event"`` or ``"tensorboard.Event"``.

    Raises:
        KeyError: no such message.
    """
    return _class_of(_pool().FindMessageTypeByName(name))


@cache
def _pool() -> Any:
    from google.protobuf import descriptor_pb2, descriptor_pool

    files = descriptor_pb2.FileDescriptorSet.FromString(DESCRIPTORS.read_bytes()).file
    pool = descriptor_pool.DescriptorPool()
    for file in _dependencies_first(files):
        pool.AddSerializedFile(file.SerializeToString())
    return pool


def _dependencies_first(files: Any) -> list[Any]:
    return sorted(files, key=lambda file: len(file.dependency))


def _class_of(descriptor: Any) -> Any:
    from google.protobuf import message_factory

    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass(descriptor)
    return message_factory.MessageFactory(descriptor.file.pool).GetPrototype(descriptor)  # type: ignore[attr-defined]
