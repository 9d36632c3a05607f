"""The profiler: where the time of a step goes, and what to do about it."""
