"""What is shipped: the wheel holds all that is needed at run time, and its metadata tells the truth."""

from __future__ import annotations

import configparser
import email
import subprocess
import sys
import zipfile
from email.message import Message
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from testkit.source import PACKAGE

import summarykit

DATA = (".proto", ".binpb", ".html")


@pytest.fixture(scope="module")
def wheel(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """The wheel, built from a copy so that the checkout stays clean."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in ("pyproject.toml", "setup.cfg", "README.md", ".meta", "summarykit"):
        (source / name).symlink_to(checkout / name)
    copied = source.with_name("copied")
    subprocess.run(["cp", "-rL", str(source), str(copied)], check=True)
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--quiet", "-w", str(out), str(copied)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    (path,) = out.glob("*.whl")
    return zipfile.ZipFile(path)


def member(wheel: zipfile.ZipFile, ending: str) -> str:
    (name,) = (name for name in wheel.namelist() if name.endswith(ending))
    return wheel.read(name).decode()


@pytest.fixture(scope="module")
def metadata(wheel: zipfile.ZipFile) -> Message:
    return email.message_from_string(member(wheel, ".dist-info/METADATA"))


def test_the_wheel_holds_every_source_and_data_file(wheel):
    wanted = {
        str(path.relative_to(PACKAGE.parent)) for path in PACKAGE.rglob("*") if path.suffix in (".py", *DATA) or path.name == "py.typed"
    }
    assert wanted <= set(wheel.namelist())
    assert "summarykit/py.typed" in wanted


def test_the_wheel_holds_nothing_else(wheel):
    strangers = {name for name in wheel.namelist() if not name.startswith(("summarykit/", "summarykit-"))}
    assert strangers == set()
    assert not [name for name in wheel.namelist() if "test" in name or name.endswith(".pyc")]


def test_the_wheel_holds_descriptors_of_the_formats(wheel):
    for ending in (".proto", ".binpb"):
        assert [name for name in wheel.namelist() if name.startswith("summarykit/formats/") and name.endswith(ending)]


def test_the_licence_is_in_the_wheel(wheel, metadata):
    assert "Apache License" in member(wheel, "LICENSE")
    assert metadata["License-Expression"] == "Apache-2.0"


def test_the_version_is_one(metadata):
    assert metadata["Version"] == summarykit.__version__
    assert metadata["Name"] == "summarykit"


def test_the_console_script_leads_to_a_function(wheel):
    points = configparser.ConfigParser()
    points.read_string(member(wheel, ".dist-info/entry_points.txt"))
    assert points["console_scripts"]["summarykit"] == "summarykit.cli:main"
    from summarykit.cli import main

    assert callable(main)


def test_four_dependencies_with_wide_ranges(metadata):
    required = {Requirement(text).name: Requirement(text) for text in metadata.get_all("Requires-Dist") if "extra ==" not in text}
    assert required.keys() == {"numpy", "protobuf", "crc32c", "psutil"}
    assert {"1.26.0", "2.4.0"} <= set(required["numpy"].specifier.filter(["1.25.0", "1.26.0", "2.4.0"]))
    assert list(required["protobuf"].specifier.filter(["3.19.6", "3.20.0", "4.25.0", "7.36.2"])) == ["3.20.0", "4.25.0", "7.36.2"]
    assert all("<" not in str(requirement.specifier) for requirement in required.values())


def test_every_supported_python_is_named(metadata):
    named = {line.rpartition(" ")[2] for line in metadata.get_all("Classifier") if line.startswith("Programming Language :: Python :: 3.")}
    assert {"3.10", "3.11", "3.12", "3.13"} <= named
    assert metadata["Requires-Python"] == ">=3.10"
    assert all(SpecifierSet(metadata["Requires-Python"]).contains(version) for version in named)


def test_the_readme_is_the_long_description(metadata, checkout):
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert metadata.get_payload().strip() == (checkout / "README.md").read_text(encoding="utf-8").strip()
