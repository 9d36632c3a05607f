"""What other systems have not is looked for before it is used: all but the worker processes works without it."""

from __future__ import annotations

CODE = """
import concurrent.futures, importlib, multiprocessing, os, pkgutil, select, signal, sys
import google.protobuf.descriptor_pool, numpy as np, psutil

# Of those that macOS, Windows or both have not the ones that are used anywhere here; what NumPy and the like need is loaded already.
ABSENT = {
    os: "EFD_CLOEXEC EFD_NONBLOCK POSIX_SPAWN_DUP2 eventfd eventfd_read eventfd_write fork memfd_create pidfd_open posix_fallocate "
        "posix_spawn register_at_fork sched_getaffinity setsid uname WIFSIGNALED WTERMSIG",
    signal: "SIGALRM SIGBUS SIGHUP SIGKILL SIGQUIT SIGUSR1 SIGUSR2 alarm pidfd_send_signal setitimer",
    select: "epoll poll",
}
for module, names in ABSENT.items():
    for name in names.split():
        if hasattr(module, name):
            delattr(module, name)
for name in ("fcntl", "resource", "pwd", "grp", "termios"):
    sys.modules[name] = None

import summarykit
for module in pkgutil.walk_packages(summarykit.__path__, "summarykit."):
    if not module.name.startswith("summarykit.integrations.") and not module.name.endswith("__main__"):
        importlib.import_module(module.name)

from summarykit import Loop, ProfileOnDemand, Profiler, Run, SummaryRecord, SummaryWriter, verify
with SummaryRecord(sys.argv[1]) as record:
    for step in range(3):
        record.add_value("scalar", "loss", float(step))
        record.add_value("histogram", "weights", np.zeros(100_000, np.float32))
        record.add_value("image", "picture", np.zeros((1, 8, 8, 3), np.uint8))
        assert record.record(step)
    assert record.flush(sync=True)
    assert not record.stats()["dropped"]
with SummaryWriter(sys.argv[1], resume=2) as writer:
    writer.add_scalar("loss", 9.0, 2)
assert Run(sys.argv[1]).scalars("loss").value.tolist() == [0.0, 1.0, 9.0]
assert verify(sys.argv[1]).ok
profiler = Profiler(sys.argv[1] + "/profiler", start_profile=False, collectors=[])
with Loop(train_dataset=range(4), callbacks=[ProfileOnDemand(2, profiler)]) as loop:
    for _ in loop.steps():
        loop.report(loss=1.0)
from summarykit.landscape.executors import LocalProcesses
assert LocalProcesses([0, 1])._threads >= 1
"""


def test_all_but_the_workers_does_without_what_other_systems_have_not(run_script, tmp_path):
    run_script(CODE, tmp_path).expect_success()
