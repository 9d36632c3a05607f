"""The tests' own tools must be able to fail: what judges others is judged here."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from testkit import scripts, skips
from testkit.records import BadRecord, check_directory, crc32c, frame, payloads, walk


def test_crc32c_of_the_standard_vector():
    assert crc32c(b"123456789") == 0xE3069283
    assert crc32c(bytes(32)) == 0x8A9136AA


@given(st.lists(st.binary(max_size=40), max_size=5))
def test_walk_gives_back_what_frame_wrote(parts):
    assert [payload for _, payload in walk(b"".join(map(frame, parts)))] == parts


@given(st.binary(min_size=1, max_size=40), st.data())
def test_walk_notices_any_cut_and_any_flipped_bit(payload, data):
    whole = frame(payload)
    cut = data.draw(st.integers(1, len(whole) - 1))
    with pytest.raises(BadRecord):
        list(walk(whole[:cut]))
    place, bit = data.draw(st.integers(0, len(whole) - 1)), data.draw(st.integers(0, 7))
    flipped = bytearray(whole)
    flipped[place] ^= 1 << bit
    with pytest.raises(BadRecord):
        list(walk(bytes(flipped)))


def test_check_directory_names_the_bad_file(tmp_path):
    (tmp_path / "good.out.tfevents.1").write_bytes(frame(b"x") + frame(b""))
    assert check_directory(tmp_path) == {"good.out.tfevents.1": 2}
    (tmp_path / "bad.summary.2").write_bytes(frame(b"x")[:-1])
    with pytest.raises(BadRecord, match=r"bad\.summary\.2"):
        payloads(tmp_path / "bad.summary.2")


def test_run_script_gives_code_output_and_leftovers(run_script):
    done = run_script("import summarykit, sys; print(summarykit.__version__, sys.argv[1]); sys.exit(3)", "arg")
    assert (done.returncode, done.stdout.split()[1]) == (3, "arg")
    done.expect_nothing_left()


def test_a_process_in_its_own_session_is_found(run_script):
    done = run_script("import subprocess; subprocess.Popen(['sleep', '30'], start_new_session=True)")
    with pytest.raises(AssertionError, match="left behind"):
        done.expect_nothing_left(seconds=0.3)


def test_a_script_that_hangs_is_ended(run_script):
    with pytest.raises(AssertionError, match="did not end within"):
        run_script("import time; time.sleep(60)", timeout=0.5)


def test_no_leftovers_counts_files(no_leftovers, tmp_path):
    with open(tmp_path / "open", "w") as stream:
        assert "files" in no_leftovers.new()
        stream.write("x")
    no_leftovers.expect()


def test_what_stays_the_same_is_left_and_what_changes_is_at_work(tmp_path):
    baseline = scripts.Baseline()
    with open(tmp_path / "open", "w"), pytest.raises(AssertionError, match=r"the same for 0\.2 s: .*open"):
        baseline.expect(seconds=0.2)
    busy = Busy()
    busy.expect(seconds=0.2)
    assert busy.looks == 20


class Busy(scripts.Baseline):
    """Something that ends after a second."""

    looks = 0

    def new(self):
        self.looks += 1
        return {"files": {self.looks}} if self.looks < 20 else {}


GPU, SHARED = "import pytest; pytest.skip('no GPU')", "import pytest; pytest.skip('shared: no folder')"
EXTRA = "from summarykit.lazy import optional; optional('no_such', extra='pandas', purpose='It')"
ERROR = "raise ImportError('No module named no_such')"


@pytest.mark.parametrize(
    ("body", "mode", "outcome"),
    [
        (GPU, "1", "skipped"), (SHARED, "1", "failed"), (SHARED, "", "skipped"),
        (EXTRA, "1", "failed"), (EXTRA, "core", "skipped"), (ERROR, "core", "failed"),
    ],
)  # fmt: skip
def test_in_ci_only_listed_skips_pass(run_script, checkout, tmp_path, body, mode, outcome):
    (tmp_path / "test_skip.py").write_text(f"def test_it():\n    {body}\n")
    (tmp_path / "conftest.py").write_text((checkout / "tests/conftest.py").read_text())
    code = "import pytest, sys; sys.path.insert(0, sys.argv[2]); pytest.main([sys.argv[1], '-q', '-p', 'no:cacheprovider'])"
    done = run_script(code, tmp_path, checkout / "tests", env={"SUMMARYKIT_CI": mode})
    assert f"1 {outcome}" in done.stdout, done.stdout


def test_every_allowed_skip_says_why():
    assert all({**skips.ALLOWED, **skips.EXTRAS}.values())


@pytest.mark.parametrize(
    ("reason", "modes"),
    [
        ("no accelerator of any kind", ("", "core", "1")),
        ("mindspore not installed: no /x/bin/python", ("", "core")),
        ("could not import 'torch': No module named 'torch'", ("", "core")),
        ("Run.to_pandas() needs pandas: pip install 'summarykit[pandas]'", ("", "core")),
        ("viewers: no /x/bin/python", ("",)),
    ],
)
def test_which_skip_may_stand_where(reason, modes):
    assert tuple(mode for mode in ("", "core", "1") if skips.allowed(reason, mode)) == modes
