"""Hyperparameters: the settings of a run, of any type, and the metrics that they are to be compared by."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from summarykit.errors import RefusedValueError
from summarykit.formats.tensorboard import hparams
from summarykit.formats.tensorboard.hparams import STATUSES, Setting
from summarykit.kinds.arrays import described
from summarykit.kinds.flatten import flatten, members_of
from summarykit.kinds.kind import no_options
from summarykit.shapes import Group, Plugin

_LONGEST = 4096    # characters of a setting


@dataclass(frozen=True)
class Settings:
    """Plain settings by name; tags of metrics; the values that a setting may have, by name; group of the session and its status."""

    values: Mapping[str, Setting]
    metrics: tuple[str, ...]
    domains: Mapping[str, tuple[Setting, ...]]
    group: str
    status: str

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes, about."""
        return sum(len(name) + (len(value) if isinstance(value, str) else 8) for name, value in self.values.items())


class HParamsKind:
    """Settings, as a session of TensorBoard's HPARAMS page: a run is one session, whose first settings count.

    ===================================================================  ====================================================
    a setting                                                            is recorded as
    ===================================================================  ====================================================
    bool; int, float, and NumPy's; arrays and tensors of one element     bool; number
    int beyond 2**53, NaN and infinity                                   text (the page has no such numbers)
    str, path                                                            text
    dict, dataclass, named tuple, namespace                              its members, each under ``name/member``
    enum member                                                          its value
    class, function                                                      its qualified name
    None, list, larger array, anything else                              its text, up to 4096 characters
    ===================================================================  ====================================================
    """

    name = "hparams"
    light = True

    def snapshot(
        self,
        value: Any,
        *,
        metrics: Iterable[str] = (),
        domains: Mapping[str, Sequence[Any]] | None = None,
        group: str = "",
        status: str = "success",
        **options: Any,
    ) -> Settings:
        """Take the settings.

        Args:
            value: a mapping, dataclass or namespace.
            metrics: tags of scalars of the run to compare by. Where there are none, all of them, but with ``domains`` TensorBoard has none.
            domains: setting -> the values that it may have.
            group: sessions of one group count as repetitions of one experiment.
            status: of the session: ``"success"``, ``"failure"``, ``"running"`` or ``"unknown"``.
            **options: none other.

        Raises:
            RefusedValueError: not settings, domains or a status.
        """
        no_options(self.name, options)
        if members_of(value) is None:
            raise RefusedValueError(f"hparams takes a dict, dataclass or namespace of settings; got {described(value)}")
        if status not in STATUSES:
            raise RefusedValueError(f"hparams: status={status!r} must be one of {', '.join(STATUSES)}")
        values = {name: plain(setting) for name, setting in flatten(value).items() if name}
        allowed = {name: tuple(map(plain, choices)) for name, choices in _domains(domains).items()}
        return Settings(values, tuple(map(str, metrics)), allowed, str(group), status)

    def reduce(self, snapshot: Settings) -> Group:
        """Lay it out as TensorBoard's messages; without metrics or domains as two, from which it compares by every scalar of the runs."""
        contents = {
            "/session_start_info": hparams.session_start(snapshot.values, snapshot.group),
            "/session_end_info": hparams.session_end(snapshot.status),
        }
        if snapshot.metrics or snapshot.domains:    # an experiment without metrics would have no column of them in any run
            contents = {"/experiment": hparams.experiment(snapshot.values, snapshot.metrics, snapshot.domains), **contents}
        parts = ((ending, Plugin("hparams", np.empty(0, np.float32), content)) for ending, content in contents.items())
        return Group(tuple(parts), tag=hparams.TAG)


def plain(setting: Any) -> Setting:
    """A setting as bool, number or text."""
    if isinstance(setting, Enum):
        return plain(setting.value)
    if isinstance(setting, (bool, np.bool_)):
        return bool(setting)
    if not isinstance(setting, (int, float, str)):
        setting = _unwrapped(setting)
    if isinstance(setting, (int, float)) and not isinstance(setting, bool):
        return _number(setting)
    return setting if isinstance(setting, bool) else _text(setting)


def _number(setting: float) -> Setting:
    try:
        number = float(setting)
    except OverflowError:
        number = math.inf
    return number if math.isfinite(number) and number == setting else str(setting)


def _unwrapped(setting: Any) -> Any:
    """An array, tensor or NumPy number of one element as Python's."""
    try:
        found = setting.item() if hasattr(setting, "item") and math.prod(setting.shape) == 1 else setting
    except Exception:  # noqa: BLE001 - not what it looked like: its text will do
        return setting
    return found if isinstance(found, (bool, int, float, str)) else setting


def _text(setting: Any) -> str:
    try:
        text = str(setting.tolist() if isinstance(setting, np.ndarray) and setting.size <= _LONGEST else _spelled(setting))
    except Exception as error:  # noqa: BLE001 - a __str__ may raise anything: it costs this setting only
        text = f"<{type(setting).__name__}: {type(error).__name__}>"
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _spelled(setting: Any) -> Any:
    if isinstance(setting, (list, tuple)):
        return [plain(member) if not isinstance(member, (list, tuple, int)) else member for member in setting]
    if isinstance(setting, os.PathLike):
        return os.fspath(setting)
    if callable(setting) and hasattr(setting, "__qualname__"):
        return f"{setting.__module__}.{setting.__qualname__}".removeprefix("builtins.")
    return setting


def _domains(domains: Mapping[str, Sequence[Any]] | None) -> Mapping[str, Sequence[Any]]:
    found = {} if domains is None else domains
    if not isinstance(found, Mapping) or not all(isinstance(choices, (list, tuple, set, range)) for choices in found.values()):
        raise RefusedValueError(f"hparams: domains must map settings to lists of values; got {domains!r}")
    return found


HPARAMS = HParamsKind()
