"""Which parts are due at a step."""

from __future__ import annotations

from collections.abc import Iterable

from summarykit.collectors.part import Part
from summarykit.training.triggers import NEVER, Place, Trigger


class Schedule:
    """Asks every rule once a step, however many parts share it, and none before one may fire: most steps are nobody's."""

    def __init__(self, parts: Iterable[Part]) -> None:
        """Take the parts with the rules that they have now."""
        self._parts = list(parts)
        self._rules: list[tuple[Trigger, list[Part]]] = []
        for part in self._parts:
            self._sharing(part.trigger).append(part)
        self.wakes = 0
        """Before this step nothing is due, unless it is the last."""

    def due(self, now: Place, previous: Place | None, final: bool) -> list[Part]:
        """The parts that are due, in their order; see ``Trigger.fires`` for the arguments."""
        self.wakes = min((rule.sleeps_until(now.step) for rule, _ in self._rules), default=NEVER)
        fired = [parts for rule, parts in self._rules if rule.fires(now, previous, final)]
        if len(fired) < 2:
            return fired[0] if fired else []
        chosen = {part for parts in fired for part in parts}
        return [part for part in self._parts if part in chosen]

    def _sharing(self, rule: Trigger) -> list[Part]:
        for known, parts in self._rules:
            if known == rule:
                return parts
        self._rules.append((rule, []))
        return self._rules[-1][1]
