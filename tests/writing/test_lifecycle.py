"""What lives is told of forks and of the end."""

from __future__ import annotations

import sys
import weakref

from summarykit.writing import lifecycle


class Living:
    pass


def test_whoever_comes_while_the_living_are_counted_does_not_disturb_that():
    """EX8. At every line on the way another one comes, as in a signal handler."""
    objects, old = weakref.WeakKeyDictionary(), [Living() for _ in range(5)]
    for each in old:
        objects[each] = None
    new = []

    def come(frame, event, _):
        sys.settrace(None)
        new.append(Living())
        objects[new[-1]] = None
        sys.settrace(come)
        return come

    before = sys.gettrace()
    sys.settrace(come)
    try:
        found = lifecycle.alive(objects)
    finally:
        sys.settrace(before)
    assert len(new) > 2
    assert set(old) <= set(found) <= {*old, *new}
    del each, old, found
    assert set(lifecycle.alive(objects)) == set(new)
