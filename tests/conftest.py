"""Fixtures for all tests: the shared facts, the real viewers, fresh processes, and what must not be left behind."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from testkit import clients, scripts, skips

CHECKOUT = Path(__file__).resolve().parents[1]
ENVIRONMENTS = Path(os.environ.get("SUMMARYKIT_ENVS", CHECKOUT / ".envs"))

# Examples must not fail because a neighbour took the processor; a run can be repeated by its printed blob.
settings.register_profile("house", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
# The gate judges a change, so it draws the same examples each time; new ones are drawn where people work.
settings.register_profile("gate", settings.get_profile("house"), derandomize=True, database=None)
settings.load_profile("gate" if os.environ.get("SUMMARYKIT_CI") else "house")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call() -> Iterator[None]:
    outcome = yield
    skips.where_an_extra_is_absent(outcome.excinfo)


# A shell lets what it starts in the background ignore Ctrl-C, and so do its children: then no test could send it to them.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport() -> Iterator[None]:
    outcome = yield
    skips.refuse(outcome.get_result())


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report() -> Iterator[None]:
    outcome = yield
    skips.refuse(outcome.get_result())


@pytest.fixture(scope="session")
def checkout() -> Path:
    """The folder that holds the package and its metadata."""
    return CHECKOUT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with sample files of other libraries and the viewers' clients, beside the checkout or at SUMMARYKIT_SHARED."""
    folder = Path(os.environ.get("SUMMARYKIT_SHARED", CHECKOUT.parent / "shared"))
    if not folder.is_dir():
        pytest.skip(f"shared: no folder {folder}; set SUMMARYKIT_SHARED to where it is")
    return folder


def viewer_python(name: str) -> Path:
    """The interpreter of a viewer's environment; skips the test where it was not built."""
    python = ENVIRONMENTS / name / "bin" / "python"
    if not python.exists():
        pytest.skip(f"viewers: no {python}; `bash .ci/run` builds it, SUMMARYKIT_ENVS names another place")
    return python


@pytest.fixture(scope="session")
def mindinsight_client(shared: Path) -> Callable[..., clients.Verdict]:
    """``mindinsight_client(directory, *options)``: what MindInsight sees there; ``"--rest"`` asks its HTTP server."""
    python = viewer_python("mindinsight")
    return lambda directory, *options: clients.mindinsight(python, shared / "clients/read_with_mindinsight.py", directory, *options)


@pytest.fixture(scope="session")
def tensorboard_client(shared: Path) -> Callable[..., clients.Verdict]:
    """``tensorboard_client(directory, access="python", *options)``: what TensorBoard sees there; also "rust" and "http"."""
    python = viewer_python("tensorboard")
    script = shared / "clients/read_with_tensorboard.py"
    return lambda directory, access="python", *options: clients.ask(python, script, directory, "--access", access, *options)


@pytest.fixture(scope="session")
def mindinsight_python() -> Path:
    """The interpreter that has MindInsight."""
    return viewer_python("mindinsight")


@pytest.fixture(scope="session")
def tensorboard_python() -> Path:
    """The interpreter that has TensorBoard."""
    return viewer_python("tensorboard")


@pytest.fixture(scope="session")
def peers_python() -> Path:
    """The interpreter that has PyTorch's and tensorboardX's writers."""
    return viewer_python("peers")


@pytest.fixture(scope="session")
def mindspore_python() -> Path:
    """The interpreter that has MindSpore, whose wheel does not go with the development environment's packages."""
    python = ENVIRONMENTS / "mindspore/bin/python"
    if not python.exists():
        pytest.skip(f"mindspore not installed: no {python}; `bash .ci/run` builds it, SUMMARYKIT_ENVS names another place")
    return python


@pytest.fixture
def leave(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Path]:
    """``leave()``: the program, at home in ``tmp_path`` before, goes to an empty directory, which is its home from now on."""

    def move(place: Path) -> Path:
        place.mkdir(exist_ok=True)
        monkeypatch.chdir(place)
        monkeypatch.setenv("HOME", str(place))
        return place

    move(tmp_path)
    return lambda: move(tmp_path / "elsewhere")


@pytest.fixture
def run_script() -> Iterator[Callable[..., scripts.Finished]]:
    """``run_script(code, *args, env={}, python=sys.executable)``: a fresh process; nothing of it outlives the test."""
    started: list[scripts.Script] = []

    def run(
        code: str | Path, *args: object, timeout: float = 600, env: dict[str, str] | None = None, python: object = sys.executable,
        **popen: object,
    ) -> scripts.Finished:  # fmt: skip
        script = scripts.Script(code, tuple(map(str, args)), env or {}, str(python))
        started.append(script)
        return script.run(timeout, **popen)

    yield run
    for script in started:
        script.kill()


@pytest.fixture
def start_script() -> Iterator[Callable[..., tuple[scripts.Script, object]]]:
    """``start_script(code, *args, env={})``: a running process ``(script, popen)``; it is killed at the test's end."""
    started = []

    def start(
        code: str | Path, *args: object, env: dict[str, str] | None = None, python: object = sys.executable, **popen: object
    ) -> tuple[scripts.Script, object]:
        script = scripts.Script(code, tuple(map(str, args)), env or {}, str(python))
        process = script.start(**popen)
        started.append((script, process))
        return script, process

    yield start
    for script, process in started:
        script.kill()
        process.communicate()


@pytest.fixture
def no_leftovers() -> Iterator[scripts.Baseline]:
    """Fails a test after which more threads, child processes or open files are there than before it."""
    baseline = scripts.Baseline()
    yield baseline
    baseline.expect()
