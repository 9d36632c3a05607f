"""The messages of ``.xplane.pb``, as far as they are read, in a pool of their own: JAX and TensorFlow bring the same names.

Source: ``xplane.proto`` of XLA's ``tsl/profiler/protobuf``. A file is an ``XSpace`` with planes (field 1), a plane has rows (field 3); both
are walked by hand so that only one row is in memory at a time.
"""

from __future__ import annotations

from functools import cache
from typing import Any

_PACKAGE = "summarykit.xplane"
_MESSAGES: dict[str, list[tuple[int, str, str]]] = {
    "Stat": [(1, "metadata_id", "int64"), (3, "uint64_value", "uint64"), (4, "int64_value", "int64"), (5, "str_value", "string"),
             (7, "ref_value", "uint64")],
    "Event": [(1, "metadata_id", "int64"), (2, "offset_ps", "int64"), (3, "duration_ps", "int64"), (4, "stats", "Stat")],
    "Line": [(1, "id", "int64"), (2, "name", "string"), (3, "timestamp_ns", "int64"), (4, "events", "Event"),
             (11, "display_name", "string")],
    "Metadata": [(1, "id", "int64"), (2, "name", "string"), (4, "display_name", "string")],
    "Entry": [(1, "key", "int64"), (2, "value", "Metadata")],
    "Plane": [(1, "id", "int64"), (2, "name", "string"), (4, "event_metadata", "Entry"), (5, "stat_metadata", "Entry")],
}  # fmt: skip
"""Fields by message: number, name, type; those of a message type are repeated, but for ``value``."""


@cache
def message(name: str) -> Any:
    """The class of one of the messages, such as ``"Line"``.

    Raises:
        KeyError: no such message.
    """
    from google.protobuf import message_factory

    descriptor = _pool().FindMessageTypeByName(f"{_PACKAGE}.{name}")
    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass(descriptor)
    return message_factory.MessageFactory(_pool()).GetPrototype(descriptor)    # type: ignore[attr-defined]  # protobuf 3


@cache
def _pool() -> Any:
    from google.protobuf import descriptor_pb2, descriptor_pool

    file = descriptor_pb2.FileDescriptorProto(name="summarykit/xplane.proto", package=_PACKAGE, syntax="proto3")
    for name, fields in _MESSAGES.items():
        kind = file.message_type.add(name=name)
        for number, field, of in fields:
            _add(kind, number, field, of)
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return pool


def _add(kind: Any, number: int, name: str, of: str) -> None:
    from google.protobuf.descriptor_pb2 import FieldDescriptorProto as Field

    repeated = of in _MESSAGES and name != "value"
    field = kind.field.add(name=name, number=number, label=Field.LABEL_REPEATED if repeated else Field.LABEL_OPTIONAL)
    if of in _MESSAGES:
        field.type, field.type_name = Field.TYPE_MESSAGE, f".{_PACKAGE}.{of}"
    else:
        field.type = Field.Type.Value(f"TYPE_{of.upper()}")
