"""The adapter that examples/landscape_ray.py shows for Ray, which is too large to install for a test: what it calls is stood in for."""

from __future__ import annotations

import os

from summarykit import Run

RAY = """
from concurrent.futures import ThreadPoolExecutor
class _Reference:
    def __init__(self, future):
        self._future = future
    def future(self):    # ray.ObjectRef.future() gives one of concurrent.futures
        return self._future
class _Remote:
    def __init__(self, function):
        self._function = function
    def remote(self, *args):
        return _Reference(_pool.submit(self._function, *args))
def init(num_cpus):
    global _pool
    _pool = ThreadPoolExecutor(num_cpus)
def shutdown():
    _pool.shutdown()
remote = _Remote
"""


def test_the_example_runs(checkout, tmp_path, run_script):
    (tmp_path / "ray.py").write_text(RAY)
    found = os.pathsep.join([str(tmp_path), str(checkout)])
    run_script(checkout / "examples/landscape_ray.py", ".", "5", cwd=tmp_path, env={"PYTHONPATH": found}).expect_success()
    path, result = Run(tmp_path).landscapes()
    assert path.path.steps.tolist() == [10, 20, 30, 40]
    assert path.path.z[-1] < path.path.z[0]
    assert path.path.z[-1] == result.convergence[2]
