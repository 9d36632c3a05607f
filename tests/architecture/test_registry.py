"""The registry's contract: names, lazy loading, what an unknown name is told, and third parties' entry points."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from summarykit.registry import Registry

OURS = {"number": "math:pi", "table": "string:digits"}


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An installed distribution that registers ``molecule`` (and tries to take the name ``number``)."""
    (tmp_path / "molecules.py").write_text("KIND = object()\nloaded = True\n")
    info = tmp_path / "molecules-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: molecules\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[summarykit.things]\nmolecule = molecules:KIND\nnumber = molecules:KIND\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "molecules", raising=False)
    return "molecule"


def test_names_are_known_without_an_import():
    registry: Registry[object] = Registry("things", {"broken": "no_such_module:X", **OURS})
    assert registry.names() == ["broken", "number", "table"]
    assert "broken" in registry
    assert "absent" not in registry
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        registry.get("broken")


def test_an_object_is_loaded_once():
    registry: Registry[object] = Registry("things", OURS)
    assert registry.get("table") == "0123456789"
    assert registry.get("number") is registry.get("number")


@pytest.mark.parametrize("name", ["numbr", "", "summarykit"])
def test_an_unknown_name_is_told_what_is_allowed(name):
    with pytest.raises(ValueError, match=rf"things: '{name}' is not known; allowed: number, table"):
        Registry("things", OURS).get(name)


def test_a_third_party_adds_a_name(plugin):
    registry: Registry[object] = Registry("things", OURS)
    assert registry.names() == ["number", "table", plugin]
    assert plugin in registry
    assert "molecules" not in sys.modules
    assert registry.get(plugin) is sys.modules["molecules"].KIND
    assert plugin not in Registry("others", OURS)


def test_a_third_party_cannot_replace_ours(plugin):
    assert Registry("things", OURS).get("number") == pytest.approx(3.14159, abs=1e-4)


FORK = """
import os, sys, threading, time
from summarykit.registry import imported
import logging

sys.path.insert(0, sys.argv[1])
thread = threading.Thread(target=imported, args=("asks_for_a_logger",))
thread.start()
while "asks_for_a_logger" not in sys.modules:
    time.sleep(0.001)
pid = os.fork()
if not pid:
    imported("asks_for_a_logger")
    os._exit(0)
thread.join()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""


def test_a_fork_beside_an_import_that_asks_for_a_logger(run_script, tmp_path):
    """Both wait for the locks of imports and of logging: whoever took them in another order would wait for ever."""
    (tmp_path / "asks_for_a_logger.py").write_text("import logging, time\ntime.sleep(0.3)\nlogging.getLogger('of.its.own')\n")
    run_script(FORK, tmp_path).expect_success()
