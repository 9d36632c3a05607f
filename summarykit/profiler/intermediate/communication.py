"""``hccl_raw_<d>.csv``: what communication cost in each step, by link and by operator."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

import numpy as np

from summarykit.profiler.intermediate.target import Target, rows
from summarykit.profiler.recording import Recording

HEADER = ("step_num", "communication_cost", "wait_cost", "link_info", "communication_operator_cost")
Round = tuple[float, float, dict[str, Any]]


def write(recording: Recording, target: Target) -> None:
    """Write the file, where the recording has rounds of communication and steps to sort them by."""
    table, steps = recording.tables.get("communication"), recording.tables.get("steps")
    if table is None or steps is None:
        return
    place = np.clip(np.searchsorted(steps["start"], table["start"], side="right") - 1, 0, steps.rows - 1)
    numbers = steps["step"][place].tolist()
    by_step: dict[int, dict[str, list[Round]]] = defaultdict(lambda: defaultdict(list))
    for step, (operator, cost, wait, links) in zip(numbers, rows(table, "operator", "cost", "wait", "links"), strict=True):
        by_step[step][operator].append((cost, wait, links))
    told = {step: {name: _sum(rounds) for name, rounds in operators.items()} for step, operators in sorted(by_step.items())}
    totals = {step: _sum(list(operators.values())) for step, operators in told.items()}
    body = [_row(str(step), totals[step], told[step]) for step in told]
    names = dict.fromkeys(name for operators in told.values() for name in operators)
    means = {name: _mean([operators[name] for operators in told.values() if name in operators]) for name in names}
    target.csv("hccl_raw_{}.csv", HEADER, [*body, _row("-", _mean(list(totals.values())), means)])


def _row(step: str, total: Round, operators: dict[str, Round]) -> list[Any]:
    details = {name: [step, *values] for name, values in operators.items()}
    return [step, total[0], total[1], json.dumps(total[2]), json.dumps(details)]


def _sum(rounds: list[Round]) -> Round:
    return sum(each[0] for each in rounds), sum(each[1] for each in rounds), _links([each[2] for each in rounds], np.sum)


def _mean(rounds: list[Round]) -> Round:
    count = max(len(rounds), 1)
    return sum(each[0] for each in rounds) / count, sum(each[1] for each in rounds) / count, _links([each[2] for each in rounds], np.mean)


def _links(infos: list[dict[str, Any]], combine: Any) -> dict[str, Any]:
    """Each number of each link over the rounds that used it, the bandwidths too: as upstream adds and averages them."""
    gathered: dict[str, dict[str, list[list[float]]]] = defaultdict(lambda: defaultdict(list))
    for info in infos:
        for key, kinds in info.items():
            for link, values in kinds.items():
                gathered[key][link].append(values)
    return {key: {link: combine(values, axis=0).tolist() for link, values in kinds.items()} for key, kinds in gathered.items()}
