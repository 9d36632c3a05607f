"""TensorBoard's messages about hyperparameters (``tensorboard/plugins/hparams/{api,plugin_data}.proto``), by hand."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from summarykit.formats import wire

TAG = "_hparams_"
"""What its tags begin with: it is fixed."""

STATUSES = ("unknown", "success", "failure", "running")

Setting = bool | float | str

_EXPERIMENT, _START, _END = 2, 3, 4    # fields of HParamsPluginData
_NUMBER, _STRING, _BOOL = 2, 3, 4    # fields of google.protobuf.Value
_TYPES = {_STRING: 1, _BOOL: 2, _NUMBER: 3}


def experiment(settings: Mapping[str, Setting], metrics: Iterable[str], domains: Mapping[str, Sequence[Setting]]) -> bytes:
    """What is compared: names and types of settings, and tags of metrics."""
    infos = [wire.data(4, _info(name, setting, domains.get(name))) for name, setting in settings.items()]
    names = [wire.data(5, wire.data(1, wire.any_text(2, tag))) for tag in metrics]
    return wire.data(_EXPERIMENT, b"".join(infos + names))


def session_start(settings: Mapping[str, Setting], group: str) -> bytes:
    """The settings of one run."""
    entries = [wire.data(1, wire.any_text(1, name) + wire.data(2, _value(setting))) for name, setting in settings.items()]
    return wire.data(_START, b"".join(entries) + (wire.any_text(4, group) if group else b""))


def session_end(status: str) -> bytes:
    """How it ended."""
    return wire.data(_END, wire.integer(1, STATUSES.index(status)))


def settings(content: bytes) -> dict[str, Setting]:
    """The settings in the plugin's content of a session's start; none in that of anything else, and in garbage."""
    try:
        starts = [found for field, found in wire.fields(content) if field == _START]
        entries = [dict(wire.fields(entry)) for start in starts for field, entry in wire.fields(start) if field == 1]
        return {str(entry.get(1, b""), "utf-8", "backslashreplace"): _setting(dict(wire.fields(entry.get(2, b"")))) for entry in entries}
    except (TypeError, ValueError, struct.error):
        return {}


def _info(name: str, setting: Setting, domain: Sequence[Setting] | None) -> bytes:
    told = wire.any_text(1, name) + wire.integer(4, _TYPES[_field(setting)])
    return told if domain is None else told + wire.data(5, b"".join(wire.data(1, _value(choice)) for choice in domain))


def _field(setting: Setting) -> int:
    return _BOOL if isinstance(setting, bool) else _STRING if isinstance(setting, str) else _NUMBER


def _value(setting: Setting) -> bytes:
    if isinstance(setting, bool):
        return wire.integer(_BOOL, setting)
    return wire.any_text(_STRING, setting) if isinstance(setting, str) else wire.double(_NUMBER, setting)


def _setting(value: Mapping[int, Any]) -> Setting:
    if _NUMBER in value:
        return float(struct.unpack("<d", value[_NUMBER])[0])
    return bool(value[_BOOL]) if _BOOL in value else str(value.get(_STRING, b""), "utf-8", "backslashreplace")
