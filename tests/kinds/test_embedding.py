"""Embeddings: the projector's files, read as its page reads them."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from summarykit.errors import RefusedValueError
from summarykit.kinds.embedding import EMBEDDING

VECTORS = np.arange(12.0).reshape(4, 3)
CELLS = st.text(max_size=5) | st.integers() | st.none() | st.floats()


def files(value, **options):
    return EMBEDDING.reduce(EMBEDDING.snapshot(value, **options))


def rows(content):
    """As the page has it: lines end with a line feed, those of white space are none, and a tab in the first makes it a header."""
    lines = [line for line in content.decode().split("\n") if line.strip()]
    return [line.split("\t") for line in lines]


@given(hnp.arrays(np.float32, st.tuples(st.integers(2, 5), st.integers(2, 5)), elements=st.floats(width=32)))
def test_vectors_are_exact_float32(vectors):
    made = files(vectors)
    found = np.array([[float(cell) for cell in row] for row in rows(made.files["tensors.tsv"])], np.float32)
    np.testing.assert_array_equal(found, vectors)
    assert (made.shape, list(made.files)) == (vectors.shape, ["tensors.tsv"])


@given(st.lists(CELLS, min_size=4, max_size=4))
def test_one_label_a_vector(labels):
    """Also where it is empty, or holds tabs and line ends."""
    found = rows(files(VECTORS, metadata=labels).files["metadata.tsv"])
    assert [len(row) for row in found] == [1] * 4
    escaped = [str(label).replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r") for label in labels]
    assert [row[0] for row in found] == [text if text.strip() else '""' for text in escaped]


@given(st.lists(st.lists(CELLS, min_size=2, max_size=2), min_size=4, max_size=4))
def test_columns_have_a_header(table):
    found = rows(files(VECTORS, metadata=table, metadata_header=["a", "b"]).files["metadata.tsv"])
    assert found[0] == ["a", "b"]
    assert [len(row) for row in found] == [2] * 5
    assert rows(files(VECTORS, metadata=table).files["metadata.tsv"])[0] == ["column 1", "column 2"]


def test_a_header_of_one_column_would_be_a_label():
    table = [["a"], ["b"], ["c"], ["d"]]
    assert rows(files(VECTORS, metadata=table, metadata_header=["name"]).files["metadata.tsv"]) == table


def test_numbers_of_numpy_are_numbers():
    assert rows(files(VECTORS, metadata=np.arange(4)).files["metadata.tsv"]) == [["0"], ["1"], ["2"], ["3"]]


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_pictures_lie_in_a_square_by_rows(layout):
    pillow = pytest.importorskip("PIL.Image")
    pictures = np.random.default_rng(0).integers(0, 256, (7, 5, 6, 3), np.uint8)
    made = files(np.zeros((7, 2)), label_img=pictures if layout == "NHWC" else pictures.transpose(0, 3, 1, 2))
    sheet = np.asarray(pillow.open(io.BytesIO(made.files["sprite.png"])))
    assert (sheet.shape, made.thumbnail) == ((15, 18, 3), (6, 5))
    for place, picture in enumerate(pictures):
        top, left = place // 3 * 5, place % 3 * 6
        assert np.array_equal(sheet[top : top + 5, left : left + 6], picture)


@pytest.mark.parametrize(
    ("value", "options"),
    [
        (VECTORS[0], {}),
        (VECTORS[:1], {}),
        (VECTORS[:, :1], {}),
        (VECTORS, {"metadata": ["a", "b", "c"]}),
        (VECTORS, {"metadata": [["a", 1], ["b"], ["c", 2], ["d", 3]]}),
        (VECTORS, {"metadata": ["a", "b", "c", "d"], "metadata_header": ["x", "y"]}),
        (VECTORS, {"metadata_header": ["x"]}),
        (VECTORS, {"metadata": 5}),
        (VECTORS, {"label_img": np.zeros((3, 3, 4, 4))}),
        (VECTORS, {"label_img": np.zeros((3, 4, 4))}),
        (VECTORS, {"label_img": np.zeros((4, 3, 5000, 5), np.uint8)}),
    ],
)
def test_what_does_not_fit_is_refused(value, options):
    with pytest.raises(RefusedValueError, match=r"embedding|could not be read"):
        EMBEDDING.snapshot(value, **options)
