"""Audio: a sound, mono or stereo, as a WAV file of 16 bits."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any

import numpy as np

from summarykit.errors import RefusedValueError
from summarykit.formats import wire
from summarykit.kinds import wav
from summarykit.kinds.arrays import Frozen, freeze
from summarykit.kinds.dtypes import name_of
from summarykit.kinds.kind import no_options
from summarykit.notices import Notices
from summarykit.shapes import BLOB_CLASS, Array, Plugin, strings

NOTICES = Notices()

_WAV = 11  # in TensorBoard's AudioPluginData
METADATA = wire.integer(2, _WAV)

_FULL_SCALE = 32767
_SHIFTS = {"int8": -8, "uint8": -8, "int16": 0, "int32": 16}  # bits to the right that make 16 of them
_FASTEST = 2**30 - 1    # bytes a second have 32 bits in the file


@dataclass(frozen=True, eq=False)
class Sound:
    """Frozen samples, the place of their channels' axis (None: there is none) and their speed."""

    samples: Frozen
    channels: int | None
    sample_rate: int

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        return self.samples.nbytes


class AudioKind:
    """A sound of one or two channels.

    =======================================  ======================================================================
    shape                                    taken as
    =======================================  ======================================================================
    ``[samples]``                            mono
    ``[1, samples]``, ``[samples, 1]``       mono
    ``[samples, 2]``, ``[2, samples]``       stereo (``[2, 2]``: the first of these)
    else                                     refused
    =======================================  ======================================================================

    ==================  ===========================================================================================
    dtype               a sample
    ==================  ===========================================================================================
    floats              -1.0 to 1.0; beyond that clipped, with one warning; NaN is silence, with one warning
    int16               as it is
    int32               its upper 16 bits
    int8, uint8         scaled to 16 bits; silence is 0 and 128
    else                refused
    ==================  ===========================================================================================
    """

    name = "audio"

    def snapshot(self, value: Any, *, sample_rate: int = 44100, **options: Any) -> Sound:
        """Copy the array once, or keep it on its device.

        Args:
            value: array or tensor of one or two axes.
            sample_rate: samples a second.
            **options: none other.

        Raises:
            RefusedValueError: not an array of real numbers, not a sound's shape, or ``sample_rate`` out of range.
        """
        no_options(self.name, options)
        samples = freeze(value)
        return Sound(samples, _channels_axis(samples.shape), _checked(sample_rate))

    def reduce(self, snapshot: Sound) -> Plugin:
        """Scale and encode it.

        Raises:
            RefusedValueError: a device value that could not be fetched, or integers of another width.
        """
        samples = _to_16_bits(snapshot.samples.get().data)
        columns = samples[:, None] if snapshot.channels is None else np.moveaxis(samples, snapshot.channels, 1)
        return Plugin("audio", strings(wav.encode(columns, snapshot.sample_rate)), METADATA, BLOB_CLASS)


def _channels_axis(shape: tuple[int, ...]) -> int | None:
    if 0 in shape:
        raise RefusedValueError(f"audio: shape {shape} holds no sample")
    if len(shape) == 1:
        return None
    if len(shape) == 2 and shape[0] == 1:
        return 0
    if len(shape) == 2 and shape[1] in (1, 2):
        return 1
    if len(shape) == 2 and shape[0] == 2:
        return 0
    raise RefusedValueError(f"audio: shape {shape} is none of [samples], [samples, channels], [channels, samples] with 1 or 2 channels")


def _checked(sample_rate: Any) -> int:
    try:
        rate = operator.index(int(sample_rate) if isinstance(sample_rate, float) and sample_rate.is_integer() else sample_rate)
    except TypeError:
        rate = 0
    if not 0 < rate <= _FASTEST:
        raise RefusedValueError(f"audio: sample_rate={sample_rate!r} must be a whole number of samples a second, above 0")
    return rate


def _to_16_bits(samples: Array) -> Array:
    if samples.dtype.kind == "f":
        return _from_floats(samples)
    name = name_of(samples.dtype)
    if name not in _SHIFTS:
        raise RefusedValueError(f"audio of dtype {name} has no known full scale; allowed: floats, {', '.join(_SHIFTS)}")
    wide = samples.astype(np.int32) - (128 if name == "uint8" else 0)
    shift = _SHIFTS[name]
    return (wide >> shift if shift > 0 else wide << -shift).astype(np.int16)


def _from_floats(samples: Array) -> Array:
    values = samples.astype(np.float32)
    holes = np.isnan(values)
    if holes.any():
        NOTICES.once("nan", "a sound holds NaN samples: taken as silence")
        values[holes] = 0
    if np.abs(values).max() > 1:
        NOTICES.once("range", "a sound holds samples beyond -1 to 1: clipped")
        np.clip(values, -1, 1, out=values)
    return np.rint(values * np.float32(_FULL_SCALE)).astype(np.int16)


AUDIO = AudioKind()
