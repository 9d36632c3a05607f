"""The stages of a data pipeline, in the form in which MindSpore's data sets tell theirs.

A stage is a mapping: ``"op_type"``, its parameters by name, where it has them ``"operations"`` (on samples, each a mapping with
``"tensor_op_name"``) and ``"sampler"`` (a mapping), and in ``"children"`` the stages that it takes from.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any

from summarykit.kinds import secrets

_DEEPEST = 20    # stages, one within the other
_MOST = 24    # parameters of one stage
_LONGEST = 200    # characters of a text
_SEVERAL = "datasets"
_INNER = ("dataset", "base_dataloader", "dataloader", "loader", "iterable", "source")
_TRANSFORMS = ("transform", "transforms", "target_transform")
_LOADER = ("batch_size", "drop_last", "num_workers", "prefetch_factor", "persistent_workers", "pin_memory", "timeout")
_OWN = ("op_type", "operations", "sampler", "children")    # what a stage says of itself

Stage = dict[str, Any]


def pipeline(dataset: Any) -> Stage:
    """Describe what gives the batches: a PyTorch ``DataLoader`` and its relatives, a data set of MindSpore, any iterable.

    Nothing is drawn from it, and nothing of it changes. Of objects that wrap others, those are looked for under the usual names. Of what
    looks like a secret only the name is told.
    """
    serialised = _of_mindspore(dataset)
    return secrets.settings(_stage(dataset, 0) if serialised is None else serialised)


def _of_mindspore(dataset: Any) -> Stage | None:
    module = sys.modules.get("mindspore.dataset")
    if module is None or not hasattr(dataset, "create_dict_iterator"):
        return None
    try:
        found = module.serialize(dataset)
    except (TypeError, OSError):    # an operation of the user's own that it cannot serialise
        return None
    return dict(found) if isinstance(found, Mapping) else None


def _stage(found: Any, depth: int) -> Stage:
    stage: Stage = {"op_type": type(found).__name__, **_parameters(found)}
    operations = [operation for name in _TRANSFORMS for operation in _operations(getattr(found, name, None))]
    sampler = getattr(getattr(found, "batch_sampler", None), "sampler", getattr(found, "sampler", None))
    if operations:
        stage["operations"] = operations
    if sampler is not None:
        stage["sampler"] = {"sampler_type": type(sampler).__name__, **_told(sampler)}
    stage["children"] = [_stage(child, depth + 1) for child in _children(found)] if depth < _DEEPEST else []
    return stage


def _parameters(found: Any) -> Stage:
    """Of a loader what it was made with; of others what their attributes say. The length, where there is one."""
    batches = getattr(found, "batch_sampler", None)
    told = _told(found) if batches is None else {name: getattr(found, name) for name in _LOADER if hasattr(found, name)}
    if told.get("batch_size", 0) is None:    # it was given a sampler of batches
        told["batch_size"] = getattr(batches, "batch_size", None)
    collate = getattr(found, "collate_fn", None)
    functions = {} if collate is None else {"collate_fn": getattr(collate, "__name__", type(collate).__name__)}
    return {name: value for name, value in told.items() if _is_plain(value)} | functions | _length(found)


def _length(found: Any) -> Stage:
    try:
        return {"dataset_size": len(found)}
    except Exception:  # noqa: BLE001 - of anybody's class: many have none, and say so in their own way
        return {}


def _told(found: Any) -> Stage:
    """Public attributes that are numbers, texts or bools."""
    attributes = getattr(found, "__dict__", {})
    plain = [(name, value) for name, value in attributes.items() if _is_plain(value) and not name.startswith("_") and name not in _OWN]
    return dict(plain[:_MOST])


def _is_plain(value: Any) -> bool:
    return isinstance(value, (bool, int, float)) or (isinstance(value, str) and len(value) <= _LONGEST)


def _operations(transform: Any) -> Iterator[Stage]:
    """What is done to each sample: a function, or those that a composition holds."""
    if transform is None:
        return
    parts = getattr(transform, "transforms", transform)
    if isinstance(parts, (list, tuple)):
        for part in parts:
            yield from _operations(part)
    else:
        yield {"tensor_op_name": getattr(transform, "__name__", type(transform).__name__), **_told(transform)}


def _children(found: Any) -> Iterator[Any]:
    """What it takes from: several data sets, or the first of the usual names that gives something."""
    several = getattr(found, _SEVERAL, None)
    inner = several if isinstance(several, (list, tuple)) else [getattr(found, name, None) for name in _INNER]
    sources = [each for each in inner if not isinstance(each, (str, bytes)) and (hasattr(each, "__iter__") or hasattr(each, "__getitem__"))]
    yield from sources if inner is several else sources[:1]
