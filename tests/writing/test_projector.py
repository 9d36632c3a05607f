"""The projector's files: a folder an embedding, a list that others may append to."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from summarykit.shapes import Embedding, Point
from summarykit.writing.projector import CONFIG, Projector

FILES = {"tensors.tsv": b"1\t2\n3\t4\n", "metadata.tsv": b"a\nb\n", "sprite.png": b"\x89PNG"}


def embedding(files=FILES, thumbnail=(8, 9)):
    return Embedding(files, (2, 2), thumbnail)


def place(projector, tag="words", step=5, shape=None):
    point = projector.place(Point("embedding", tag, step, 1.0, shape or embedding()))
    return point.value.data[0].decode()


def names(directory):
    return re.findall(r'tensor_name: "(.*)"', (directory / CONFIG).read_text())


def test_an_embedding_with_everything(tmp_path):
    folder = place(Projector(tmp_path))
    assert {path.name: path.read_bytes() for path in (tmp_path / folder).iterdir()} == FILES
    assert (tmp_path / CONFIG).read_text() == (
        "embeddings {\n"
        '  tensor_name: "words:00005"\n'
        f'  tensor_path: "{folder}/tensors.tsv"\n'
        "  tensor_shape: 2\n  tensor_shape: 2\n"
        f'  metadata_path: "{folder}/metadata.tsv"\n'
        f'  sprite {{ image_path: "{folder}/sprite.png" single_image_dim: 8 single_image_dim: 9 }}\n'
        "}\n"
    )


def test_vectors_alone(tmp_path):
    place(Projector(tmp_path), shape=embedding({"tensors.tsv": b""}, None))
    assert "metadata" not in (tmp_path / CONFIG).read_text()
    assert "sprite" not in (tmp_path / CONFIG).read_text()


def test_several_have_folders_of_their_own(tmp_path):
    first, second = Projector(tmp_path), Projector(tmp_path)
    folders = [place(projector, tag) for projector in (first, second, first) for tag in ("a", "b")]
    assert len(set(folders)) == 6


def test_the_same_tag_and_step_again_gets_a_name_that_is_shown(tmp_path):
    """The page shows the first of one name only: after a restart that would be the old one."""
    for _ in range(3):
        place(Projector(tmp_path))
    assert names(tmp_path) == ["words:00005", "words:00005 (2)", "words:00005 (3)"]


def test_what_others_listed_stays(tmp_path):
    (tmp_path / CONFIG).write_text('embeddings {\ntensor_name: "words:00005"\n}')
    place(Projector(tmp_path))
    text = (tmp_path / CONFIG).read_text()
    assert text.startswith('embeddings {\ntensor_name: "words:00005"\n}\nembeddings {\n')
    assert names(tmp_path) == ["words:00005", "words:00005 (2)"]


@pytest.mark.parametrize("tag", ['quo"te', "back\\slash", "line\nend", "../../up", "词/向量", "con", "a:b"])
def test_g8_any_tag_is_a_name_and_no_path(tmp_path, tag):
    folder = place(Projector(tmp_path / "run"), tag)
    assert re.fullmatch(r"embeddings/\d{5}", folder)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run"]
    (name,) = names(tmp_path / "run")
    octal = re.sub(rb"\\(\d{3})", lambda found: bytes([int(found[1], 8)]), name.encode("ascii"))
    assert octal.decode() == f"{tag}:00005"


def test_many_writers_at_a_time_lose_nothing(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: place(Projector(tmp_path), f"t{number}"), range(40)))
    assert sorted(names(tmp_path)) == sorted(f"t{number}:00005" for number in range(40))
    assert len(list((tmp_path / "embeddings").iterdir())) == 40


def test_half_an_embedding_is_none(tmp_path, monkeypatch):
    def full(path, content):
        if path.name == "metadata.tsv":
            raise OSError(28, "No space left on device")
        path.touch()

    monkeypatch.setattr("pathlib.Path.write_bytes", full)
    with pytest.raises(OSError, match="space"):
        place(Projector(tmp_path))
    assert list((tmp_path / "embeddings").iterdir()) == []
    assert not (tmp_path / CONFIG).exists()


def test_a_record_holds_the_folder(tmp_path):
    from summarykit import Run, SummaryRecord

    for formats in (("mindspore", "tensorboard"), ("mindspore",), ("tensorboard",)):
        directory = tmp_path / "-".join(formats)
        with SummaryRecord(directory, formats=formats) as record:
            record.add_value("embedding", "words", np.eye(4), metadata=list("abcd"))
            record.record(3)
        (point,) = Run(directory).points("embedding", "words")
        assert (point.step, point.value.data.tolist()) == (3, [b"embeddings/00000"])
        assert (directory / "embeddings/00000/metadata.tsv").read_text() == "a\nb\nc\nd\n"


def test_half_an_entry_of_the_list_is_none(tmp_path, run_script):
    """A file may be of so many bytes only: the system takes a part of the entry, and says so by a number."""
    code = """
import resource, sys
from pathlib import Path
from summarykit.shapes import Embedding, Point
from summarykit.writing.projector import CONFIG, Projector
projector, listed = Projector(sys.argv[1]), Path(sys.argv[1], CONFIG)
point = Point("embedding", "words", 1, 1.0, Embedding({"tensors.tsv": b"1"}, (1, 1), None))
projector.place(point)
before = listed.read_text()
resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 20, resource.RLIM_INFINITY))
try:
    projector.place(point)
except OSError as error:
    print(error.strerror)
assert listed.read_text() == before
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
projector.place(point)
assert listed.read_text().count("}") == 2
"""
    assert run_script(code, tmp_path).expect_success().stdout == "No space left on device\n"
