"""What optimizer, model and data tell of themselves, of whatever framework they are; none is imported, and nothing is computed."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from summarykit.collectors.learning_rate import rates
from summarykit.collectors.network import named_parameters
from summarykit.kinds import secrets
from summarykit.ranks import detect
from summarykit.training.context import CallbackParams

_WRAPPERS = {"module", "_orig_mod"}    # torch: data-parallel, compiled
_PATHS = ("root", "dataset_dir", "dataset_files", "dataset_file", "data_dir")
_DEEPEST = 16    # data sets behind each other
_FURTHER = (
    "momentum", "nesterov", "dampening", "weight_decay", "betas", "beta_1", "beta_2", "eps", "epsilon", "rho", "amsgrad", "clipnorm",
)  # fmt: skip


def of_training(params: CallbackParams) -> dict[str, Any]:
    """Hyper-parameters, data, model: what is known of them at this moment, under the names of MindSpore's lineage where that has one."""
    optimizer = params.get("optimizer")
    batch = _safely(batch_size, params.get("train_dataset"), params.get("train_dataset_element"))
    found = {
        "optimizer": _safely(_optimizer, optimizer),
        "learning_rate": _safely(_rate, optimizer, params.get("cur_step_num", 0)),
        **(_safely(_further, optimizer) or {}),
        "loss_function": _safely(name_of, params.get("loss_fn")),
        "loss_kind": params.get("loss_kind"),
        "epoch": params.get("epoch_num"),
        "batch_size": batch,
        **_devices(params),
        "network": _safely(_network, params.get("network")),
        "train_dataset_path": _safely(path_of, params.get("train_dataset")),
        "train_dataset_size": _safely(samples_of, params.get("train_dataset"), batch),
        **(_safely(_size, params.get("network")) or {}),
        **(_safely(_checkpoint, params.get("latest_ckpt_file")) or {}),
    }
    return {name: value for name, value in found.items() if value is not None}


def _devices(params: CallbackParams) -> dict[str, Any]:
    """How many devices, and how they share the work; where many processes train, which the loop does not know of, only how many."""
    processes = detect()
    if processes.certain and processes.world_size > (params.get("device_number") or 1):
        return {"device_num": processes.world_size}
    return {"parallel_mode": params.get("parallel_mode"), "device_num": params.get("device_number")}


def of_validation(params: CallbackParams) -> dict[str, Any]:
    """The same for the data of an evaluation."""
    dataset = params.get("valid_dataset")
    batch = _safely(batch_size, dataset, params.get("eval_dataset_element"))
    found = {"valid_dataset_path": _safely(path_of, dataset), "valid_dataset_size": _safely(samples_of, dataset, batch)}
    return {name: value for name, value in found.items() if value is not None}


def number(value: Any) -> float | None:
    """A number or one-element array as float; None where it is none."""
    if isinstance(value, str):
        return None
    return _safely(lambda: float(value.detach() if hasattr(value, "detach") else value))


def name_of(thing: Any) -> str | None:
    """A class's or function's own name, or that of a thing's class; a text stands for itself; None of None and of plain mappings.

    What stands in for something that has no name of its own says so: its ``__name__`` is empty.
    """
    if thing is None or isinstance(thing, Mapping):
        return None
    if isinstance(thing, str):
        return thing
    return str(getattr(thing, "__name__", type(thing).__name__)) or None


def _network(network: Any) -> str | None:
    """The name of the user's model inside what data-parallel and compiled models wrap around it."""
    for _ in range(4):
        inside = getattr(network, "_modules", None) or {}
        if len(inside) != 1 or not inside.keys() & _WRAPPERS:
            break
        (network,) = inside.values()
    return name_of(network)


def batch_size(dataset: Any, element: Any) -> int | None:
    """What the data set says, else the first axis of a batch's first array."""
    told = getattr(dataset, "batch_size", None)
    if told is None and callable(ask := getattr(dataset, "get_batch_size", None)):
        told = ask()
    if isinstance(told, int) and not isinstance(told, bool):
        return told
    return next((int(array.shape[0]) for array in _arrays(element) if len(array.shape)), None)


def samples_of(dataset: Any, batch: int | None) -> int | None:
    """Number of samples: those of a loader's data set, else of its batches."""
    inner: Any = getattr(dataset, "dataset", None)
    if hasattr(inner, "__len__"):
        return len(inner)
    count = dataset.get_dataset_size() if callable(getattr(dataset, "get_dataset_size", None)) else len(dataset)
    return None if batch is None else int(count) * batch


def path_of(dataset: Any) -> str | None:
    """Where a data set, or what it takes from, says that its files are: a folder, or an address."""
    for _ in range(_DEEPEST):
        found = next((found for name in _PATHS if (found := _first(getattr(dataset, name, None)))), "")
        if "://" in found:
            return secrets.without_secrets(found)
        if found:
            path = os.path.abspath(found)
            return os.path.dirname(path) if os.path.isfile(path) else path
        dataset = next(iter(getattr(dataset, "children", None) or ()), getattr(dataset, "dataset", None))
    return None


def _first(paths: Any) -> str:
    """A path, or the first of several; nothing of anything else."""
    first = next(iter(paths), None) if isinstance(paths, (list, tuple)) else paths
    return os.fspath(first) if isinstance(first, (str, os.PathLike)) else ""


def _arrays(element: Any) -> Iterable[Any]:
    if isinstance(element, Mapping):
        element = list(element.values())
    if isinstance(element, (list, tuple)):
        return (array for each in element for array in _arrays(each))
    return [element] if hasattr(element, "shape") else []


def _optimizer(optimizer: Any) -> str | None:
    several = list(optimizer.values()) if isinstance(optimizer, Mapping) else optimizer
    if isinstance(several, (list, tuple)):
        names = [name_of(each) for each in several if not isinstance(each, (int, float))]
        return ", ".join(dict.fromkeys(name for name in names if name)) or None
    inner = getattr(optimizer, "optimizer", None)    # of one that Accelerate prepared
    return name_of(inner if hasattr(inner, "param_groups") else optimizer)


def _rate(optimizer: Any, updates: int) -> float | None:
    return next((number(rate) for _, rate in rates(optimizer, max(0, updates - 1))), None)


def _further(optimizer: Any) -> dict[str, Any]:
    """Further settings of an optimizer: those that change what it learns."""
    config = getattr(optimizer, "defaults", None)
    if not isinstance(config, Mapping):
        config = optimizer.get_config() if callable(getattr(optimizer, "get_config", None)) else {}
    return {name: config[name] for name in _FURTHER if config.get(name) not in (None, False)}


def _size(network: Any) -> dict[str, Any]:
    """Number of parameters, and their bytes (where a checkpoint is known, its size takes their place)."""
    parameters = [value for _, value in named_parameters(network) if hasattr(value, "shape")]
    if not parameters:
        return {}
    count = sum(math.prod(map(int, value.shape)) for value in parameters)
    return {"model_parameters": count, "model_size": sum(int(getattr(value, "nbytes", 0)) for value in parameters)}


def _checkpoint(path: Any) -> dict[str, Any]:
    if not isinstance(path, (str, os.PathLike)):
        return {}
    return {"model_path": os.path.abspath(os.fspath(path)), "model_size": os.path.getsize(path)}


def _safely(ask: Callable[..., Any], *about: Any) -> Any:
    """What is found; None where the things are not what they looked like: they may be anybody's."""
    try:
        return ask(*about)
    except Exception:  # noqa: BLE001
        return None
