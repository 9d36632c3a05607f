"""Which of a distributed run's processes this one is."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

LAUNCHERS = (
    ("RANK", "WORLD_SIZE", "LOCAL_RANK"),    # torchrun, accelerate, deepspeed, Lightning
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"),
    ("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"),    # MPICH, Intel MPI
    ("SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"),
    ("RANK_ID", "RANK_SIZE", "LOCAL_RANK"),    # MindSpore
)
"""Environment variables of one launcher each: rank, number of processes, rank on this machine."""


@dataclass(frozen=True)
class Rank:
    """A process's place in a run.

    Attributes:
        rank: its number, from 0 on.
        world_size: how many processes there are.
        local_rank: its number on its machine; None where nobody says.
        source: who says so: ``"torch.distributed"``, ``"jax.distributed"``, ``"mindspore.communication"``, the names of environment
            variables, or empty for a process that is on its own.
    """

    rank: int = 0
    world_size: int = 1
    local_rank: int | None = None
    source: str = ""

    @property
    def certain(self) -> bool:
        """False where only environment variables say so."""
        return not self.source or "." in self.source


def detect(environ: Mapping[str, str] = os.environ) -> Rank:
    """Find out, without importing, initialising or asking anything over the network.

    A framework whose process group is up knows, so it is believed, also where it says that it is alone: a process that rank 2
    started inherits that one's variables. Where none is up, variables are believed only as a whole: the rank **and** the number of
    processes, of the same launcher, consistent, and more than one process. A lone ``RANK`` or ``SLURM_PROCID=3`` in a job of one
    task, as clusters and containers leave behind, is no distributed run; but a loop that ``torchrun`` started four times is one,
    though it may set up its process group later than its callbacks, or never.

    Args:
        environ: environment variables.
    """
    for source, ask in _FRAMEWORKS.items():
        if found := _answer(ask):
            return Rank(*found, _local(environ, found[0]), source)
    return next(filter(None, (_launched(environ, names) for names in LAUNCHERS)), Rank())


def _answer(ask: Callable[[], tuple[int, int] | None]) -> tuple[int, int] | None:
    try:
        return ask()
    except Exception:  # noqa: BLE001 - a framework that is half imported, or of another version: then it is as if it were not there
        return None


def _torch() -> tuple[int, int] | None:
    distributed = _loaded("torch.distributed")
    if distributed is None or not (distributed.is_available() and distributed.is_initialized()):
        return None
    return distributed.get_rank(), distributed.get_world_size()


def _jax() -> tuple[int, int] | None:
    jax = _loaded("jax")    # whose process_index() would start the devices, unless they are up for sure
    return (jax.process_index(), jax.process_count()) if jax is not None and jax.distributed.is_initialized() else None


def _mindspore() -> tuple[int, int] | None:
    communication = _loaded("mindspore.communication")
    if communication is None or not communication.GlobalComm.INITED:
        return None
    return communication.get_rank(), communication.get_group_size()


_FRAMEWORKS: dict[str, Callable[[], tuple[int, int] | None]] = {
    "torch.distributed": _torch,
    "jax.distributed": _jax,
    "mindspore.communication": _mindspore,
}


def _loaded(module: str) -> Any:
    return sys.modules.get(module)


def _launched(environ: Mapping[str, str], names: tuple[str, str, str]) -> Rank | None:
    rank, size, local = (_number(environ.get(name)) for name in names)
    if rank is None or size is None or not rank < size > 1:
        return None
    return Rank(rank, size, local, ", ".join(names[:2]))


def _local(environ: Mapping[str, str], rank: int) -> int | None:
    """The rank on this machine, from the launcher whose variables agree with the framework."""
    found = (_launched(environ, names) for names in LAUNCHERS)
    return next((one.local_rank for one in found if one is not None and one.rank == rank), None)


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() else None
