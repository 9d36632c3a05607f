"""Values on their way to the pump."""

from __future__ import annotations

from summarykit.writing.job import batch


class Unmeasured:
    """What a kind of a third party may freeze."""

    @property
    def nbytes(self):
        raise ValueError("it depends")


def test_values_whose_size_cannot_be_asked_are_batched_all_the_same():
    """Raised while a step is recorded it would cost that step's other values, too."""
    values = {"a": Unmeasured(), "b": object()}
    found = batch(None, values, 1, 2.0)
    assert (found.tags, found.snapshots, found.sizes) == (["a", "b"], [*values.values()], [0, 0])
    assert [task.job.nbytes for task in found.tasks()] == [0, 0]
