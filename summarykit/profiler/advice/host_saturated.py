"""The processors of the machine are all busy: nothing that is put beside the training will help."""

from __future__ import annotations

from collections.abc import Iterator

from summarykit.profiler.advice.advice import Advice
from summarykit.profiler.advice.evidence import collected
from summarykit.profiler.analysis.profile import Profile
from summarykit.profiler.analysis.report import Report

_MOST = 90.0
_OWN = 0.5


def check(report: Report) -> Iterator[Advice]:
    """Say so for the first rank."""
    for profile in report.last[:1]:
        busy, cores = _counter(profile, "system/cpu"), collected(profile, "system").get("cores")
        if busy < _MOST or not isinstance(cores, int) or cores < 1:
            continue
        own = (_counter(profile, "process/cpu") + _counter(profile, "workers/cpu")) / cores
        others = own < _OWN * busy
        yield Advice(
            rule="host_saturated",
            title=f"the processors are {busy:.0f} % busy" + (", most of that with other programs" if others else ""),
            evidence=f"this program and its workers take {own:.0f} % of {cores} cores",
            change="train where nothing else runs: all times here are longer than they need be"
            if others
            else "fewer threads (OMP_NUM_THREADS, torch.set_num_threads) or workers than cores; decode less, on the device, or once",
            check="processors below 90 %",
            confidence="medium" if others else "high",
        )


def _counter(profile: Profile, name: str) -> float:
    """Its mean; 0 where it was not sampled."""
    found = profile.counters
    return float(found["mean"][found["counter"] == name].sum()) if found.rows else 0.0
