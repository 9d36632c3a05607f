"""Triggers: what they promise over any sequence of calls, and how they combine."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from summarykit.training.triggers import Doubling, Place, Trigger, at, between, every, first, last

# How training may advance between two calls: some steps at once, seldom a new epoch, some time.
advances = st.lists(st.tuples(st.integers(1, 30), st.integers(0, 2), st.floats(0, 100)), min_size=1, max_size=40)
rules = st.sampled_from([first(), last(), every(steps=7), every(epochs=2), every(seconds=30), at(steps=[3, 50]), between(steps=(5, 90))])


def walk(advance, start=0):
    """The places of a run, each with the one before."""
    step, epoch, seconds, previous = start, 1, 0.0, None
    for index, (steps, epochs, time) in enumerate(advance):
        step, epoch, seconds = step + steps, epoch + epochs, seconds + time
        now = Place(step, epoch, seconds)
        yield now, previous, index == len(advance) - 1
        previous = now


def behind(now, previous):
    """The steps since the preceding call."""
    return range(previous.step + 1 if previous else now.step, now.step + 1)


def fired(rule: Trigger, places) -> list[int]:
    return [now.step for now, previous, final in places if rule.fires(now, previous, final)]


@given(advances, st.integers(1, 50))
def test_every_fires_where_a_multiple_was_passed_and_nowhere_else(advance, n):
    expected = [now.step for now, previous, _ in walk(advance) if any(k % n == 0 for k in behind(now, previous))]
    assert fired(every(steps=n), walk(advance)) == expected


@given(st.integers(1, 500), st.integers(1, 50))
def test_every_over_single_steps_is_the_multiples(total, n):
    assert fired(every(steps=n), walk([(1, 0, 0.0)] * total)) == list(range(n, total + 1, n))


@given(advances, st.integers(1, 60))
def test_every_seconds_fires_at_most_once_a_span(advance, n):
    places = [now for now, previous, final in walk(advance) if every(seconds=n).fires(now, previous, final)]
    spans = [now.seconds // n for now in places]
    assert len(set(spans)) == len(spans)


@given(advances, st.sets(st.integers(1, 300), max_size=5))
def test_at_fires_once_for_each_number_that_is_reached(advance, numbers):
    expected = [now.step for now, previous, _ in walk(advance) if numbers & set(behind(now, previous))]
    assert fired(at(steps=numbers), walk(advance)) == expected


@given(advances, st.integers(1, 200), st.integers(0, 200))
def test_between_fires_where_the_steps_since_the_last_call_meet_the_window(advance, start, width):
    expected = []
    for now, previous, _ in walk(advance):
        if set(behind(now, previous)) & set(range(start, start + width + 1)):
            expected.append(now.step)
    assert fired(between(steps=(start, start + width)), walk(advance)) == expected


@given(advances, st.integers(0, 10**6))
def test_first_and_last_fire_once_wherever_a_run_begins(advance, start):
    places = list(walk(advance, start))
    assert fired(first(), places) == [places[0][0].step]
    assert fired(last(), places) == [places[-1][0].step]


@given(advances, rules, rules, rules)
def test_rules_combine_as_sets_do(advance, a, b, c):
    places = list(walk(advance))
    sets = [set(fired(rule, places)) for rule in (a, b, c)]
    assert set(fired(a | b, places)) == sets[0] | sets[1]
    assert set(fired(a & b, places)) == sets[0] & sets[1]
    assert set(fired((a | b) & c, places)) == (sets[0] | sets[1]) & sets[2]


@given(st.integers(1, 20), st.integers(1, 3000))
def test_doubling_fires_at_n_times_the_powers_of_two(n, total):
    expected = [n * 2**k for k in range(12) if n * 2**k <= total]
    assert fired(Doubling(n), walk([(1, 0, 0.0)] * total)) == expected


@given(advances, st.integers(0, 100), rules, rules)
def test_nothing_is_missed_where_nobody_asks_while_a_rule_sleeps(advance, start, a, b):
    rule, found, wakes, previous = (a | b) | (a & b), [], 0, None
    for now, _, final in walk(advance, start):
        if now.step >= wakes or final:
            found += [now.step] * rule.fires(now, previous, final)
            wakes, previous = rule.sleeps_until(now.step), now
    assert found == fired(rule, walk(advance, start))


@given(st.integers(1, 20), st.integers(1, 300))
def test_rules_sleep_until_they_fire(n, total):
    for rule in (every(steps=n), Doubling(n), at(steps=[n])):
        woken = [now.step for now, _, _ in walk([(1, 0, 0.0)] * total) if rule.sleeps_until(now.step - 1) <= now.step]
        assert woken == fired(rule, walk([(1, 0, 0.0)] * total))


@given(advances, rules)
def test_rules_are_pure(advance, rule):
    places = list(walk(advance))
    assert fired(rule, places) == fired(rule, places)


def test_a_single_question():
    assert every(steps=10)(step=20)
    assert not every(steps=10)(step=21)
    assert every(steps=10)(step=21, previous=Place(19))
    assert every(epochs=2)(step=500, epoch=2)
    assert at(steps=5)(step=5)
    assert not at(steps=5)(step=6)
    assert between(epochs=(2, 3))(step=1, epoch=3)
    assert not between(seconds=(10.0, 20.0))(step=1, seconds=25.0, previous=Place(0, 1, 21.0))
    assert last()(step=9, final=True)
    assert not last()(step=9)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: every(), TypeError, "every: exactly one of steps, epochs, seconds is needed, got 0"),
        (lambda: every(steps=1, epochs=1), TypeError, "exactly one"),
        (lambda: every(steps=0), ValueError, "every: a number above 0 is needed, got 0"),
        (lambda: every(seconds=-1.5), ValueError, "above 0"),
        (lambda: every(seconds=float("nan")), ValueError, "above 0"),
        (lambda: every(steps=True), TypeError, "an integer is needed, got True"),
        (lambda: every(steps=2.5), TypeError, "an integer is needed, got 2.5"),
        (lambda: at(steps=[1, "2"]), TypeError, "an integer is needed, got '2'"),
        (lambda: between(steps=(5, 2)), ValueError, "start 5 is above stop 2"),
        (lambda: first() | 3, TypeError, "unsupported operand"),
        (lambda: last() & None, TypeError, "unsupported operand"),
    ],
)
def test_bad_arguments_are_told(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_a_rule_of_ones_own():
    class Odd(Trigger):
        def fires(self, now, previous, final):
            return now.step % 2 == 1

    assert fired(Odd() & every(steps=3), walk([(1, 0, 0.0)] * 12)) == [3, 9]
