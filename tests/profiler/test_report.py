"""The report for people and for programs: everything of it there, nothing that could break out of it."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from testkit.recordings import DEVICE, HOST, recording

from summarykit.profiler.advice import RULES, Advice
from summarykit.profiler.analysis import Profile, analyse
from summarykit.profiler.recording import Category, Table
from summarykit.profiler.sheet import bar, cut, number, sheet, size, wrapped

EVIL = "<script>alert(1)</script>\x1b[31m\n\"'&\u202e"


@pytest.fixture(scope="module")
def report():
    spans = []
    for step in range(6):
        spans += [
            (f"ProfilerStep#{step}", Category.STEP, 0, step * 100, 100),
            ("data wait", Category.PHASE, 0, step * 100, 40),
            ("forward", Category.PHASE, 0, step * 100 + 40, 30),
            (EVIL, Category.HOST_OP, 0, step * 100 + 41, 10),
            ("volta_sgemm", Category.KERNEL, 1, step * 100 + 50, 20),
            ("load (data.py:7)", Category.PYTHON, 0, step * 100, 39),
        ]
    counters = Table(time=np.array([1, 2]), counter=np.array(["queue/dataloader"] * 2, object), value=np.array([0.0, 3.0]))
    memory = Table(time=np.array([5]), device=np.array([0]), address=np.zeros(1), bytes=np.array([7e8]), allocated=np.array([7e8]))
    costs = {"system": {"calls": 100, "ns": 2_500_000, "start_ns": 1_000_000, "stop_ns": 0}}
    steps, tables = [(step, step * 100, step * 100 + 100) for step in range(6)], {"counters": counters, "memory": memory}
    found = recording(spans, steps, lanes=(HOST, DEVICE), tables=tables, meta={"costs": costs})
    found.skipped["garbled events"] = 3
    return analyse(found)


def test_the_text_has_every_part_and_cannot_steer_the_terminal(report):
    text = str(report)
    for part in ("6 steps (0 to 5)", "data wait", "40.0%", "input: bottleneck", "volta_sgemm", "data.py:7", "queue/dataloader", "700 MB",
                 "input", "system", "2.50", "3 garbled events"):  # fmt: skip
        assert part in text, part
    for advice in report.advice:
        assert advice.title in text
        assert f"to check: {advice.check}"[:60] in " ".join(text.split())
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert max(map(len, text.splitlines())) <= 140


def test_json_has_every_table_and_nothing_that_json_has_not(report):
    found = json.loads(report.to_json(), parse_constant=lambda word: pytest.fail(word))
    rank = found["ranks"][0]
    assert set(Profile.TABLES) <= set(rank)
    assert rank["input"]["share"] == pytest.approx(0.4)
    assert rank["steps"]["step"] == list(range(6))
    assert "data_wait" in [advice["rule"] for advice in found["advice"]]
    assert found["costs"]["collector"] == ["system"]
    assert found["skipped"] == {"garbled events": 3}
    assert rank["devices"]["overlapped"] == [None]


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs


def test_the_page_is_one_file_that_loads_and_runs_nothing(report):
    page = report.to_html()
    page.encode("ascii")
    tags = Tags()
    tags.feed(page)
    assert {"svg", "rect", "table", "ol"} <= set(tags.tags)
    assert not {"script", "link", "img", "iframe", "object", "foreignobject"} & set(tags.tags)
    assert not [name for name, _ in tags.attributes if name.startswith("on") or name in ("src", "href")]
    assert "url(" not in page
    assert "@" not in re.sub(r"@media", "", page)


def test_a_picture_has_at_most_a_box_a_pixel():
    spans = [("op", Category.HOST_OP, 0, place * 0.01, 0.009) for place in range(50_000)]
    page = analyse(recording(spans)).to_html()
    assert page.count("<rect") <= 1100


def test_ranks_are_beside_each_other_in_the_text_and_on_the_page():
    def one(rank: int, late: float):
        spans, steps, reached = [], [], []
        for step in range(20):
            begin = step * 100.0
            spans.append(("data wait", Category.PHASE, 0, begin, 10 + late))
            steps.append((step, begin, begin + 100))
            reached.append((step, begin + 50 + late))
        sequence, start = zip(*reached, strict=True)
        ns = (np.array(start) * 1e6).astype(np.int64)
        end = ((np.array(sequence) * 100 + 95) * 1e6).astype(np.int64)
        told = Table(
            sequence=np.array(sequence), group=np.zeros(20, np.int64), operation=np.array(["all_reduce"] * 20, object), start=ns, end=end,
        )  # fmt: skip
        found = recording(spans, steps, tables={"collectives": told})
        found.rank, found.world_size = rank, 2
        return found

    report = analyse([one(0, 0.0), one(1, 30.0)])
    assert re.search(r"\n     1   100       40.0 +0 +100.0%     30.0  <- the others wait for it\n", str(report))
    page = report.to_html().partition("Ranks")[2].partition("</table>")[0]
    cells = re.findall("<td>([^<]*)", page.rpartition("<tr>")[2])
    assert cells == ["1", "100", "40.0", "0", "100.0%", "30.0", "&lt;- the others wait for it"]


def test_figures_have_units_and_sums_have_no_mean():
    counters = {"process/cpu": (40.0, 60.0), "process/memory": (2e6, 4e6), "process/threads": (3.0, 5.0), "process/written": (1e3, 9e3)}
    counters["process/switches_voluntary"] = (7.0, 1234.0)
    rows = [(time, name, value) for name, values in counters.items() for time, value in enumerate(values)]
    time, name, value = (np.array(column) for column in zip(*rows, strict=True))
    report = analyse(recording(tables={"counters": Table(time=time, counter=name.astype(object), value=value)}))
    text = str(report)
    told = {line.split()[0]: line.split()[1:] for line in text.splitlines() if line.startswith("  process/")}
    assert told["process/cpu"][::5] == ["50.0%", "60.0%"]
    assert told["process/memory"][:2] == ["3.0", "MB"]
    assert told["process/threads"][0] == "4"
    assert told["process/written"] == ["9.0", "kB"]
    assert told["process/switches_voluntary"] == ["1,234"]
    page = report.to_html().partition("Meanwhile")[2]
    (written,) = re.findall("process/written(.*?)</tr>", page)
    assert re.findall("<td[^>]*>([^<]*)", written) == ["2", "", "", "", "", "", "9.0 kB"]


def test_of_many_changes_the_largest_are_told():
    lengths = [100] * 20 + [200] * 20 + [100] * 20 + [400] * 20 + [100] * 20 + [120] * 20
    ends = np.cumsum(lengths)
    report = analyse(recording([], [(step, end - length, end) for step, (end, length) in enumerate(zip(ends, lengths, strict=True))]))
    told = [line for line in str(report).splitlines() if line.startswith("  from step")]
    assert report.profiles[0].changes.rows > len(told) == 3
    assert [line.split()[2] for line in told][1:] == ["60", "80"]
    assert "smaller changes" in str(report)


def test_a_device_whose_log_ends_before_the_training_is_said():
    spans = [("kernel", Category.KERNEL, 1, step * 10, 4) for step in range(3)]
    report = analyse(recording(spans, [(step, step * 10, step * 10 + 10) for step in range(8)], lanes=(HOST, DEVICE)))
    assert "only 3 of 8 steps have something recorded of a device" in str(report)
    assert "Only 3 of 8 steps have something recorded of a device" in report.to_html()
    assert report.to_html().partition("Timeline")[2].partition("</svg>")[0].count(">kernel: ") == 3    # the steps that have some are drawn
    whole = analyse(recording(spans, [(step, step * 10, step * 10 + 10) for step in range(3)], lanes=(HOST, DEVICE)))
    assert "have something recorded" not in str(whole) + whole.to_html()


def test_steps_that_are_drawn_follow_each_other():
    """Of logs that some steps have and others not, the longest stretch without a hole is shown."""
    spans = [("kernel", Category.KERNEL, 1, step * 10, 4) for step in (0, 1, 5, 6, 7, 9)]
    report = analyse(recording(spans, [(step, step * 10, step * 10 + 10) for step in range(10)], lanes=(HOST, DEVICE)))
    assert "30.000 ms" in report.to_html().partition("Timeline")[2]


def test_steps_that_differ_a_hundredfold_are_spread_in_times():
    ends = np.cumsum([1, 1, 1000, 1000, 1, 1]) * 1.0
    lengths = np.diff(ends, prepend=0.0)
    found = analyse(recording([], [(step, end - length, end) for step, (end, length) in enumerate(zip(ends, lengths, strict=True))]))
    assert str(found).splitlines()[4].split()[-1].endswith("x")


def test_of_stages_nobody_counted_no_count_is_told():
    stages = Table(
        op_id=np.array([0, 1]), parent=np.array([-1, 0]), op_type=np.array(["Batch", "Map"], object), num_workers=np.array([1, 2]),
        capacity=np.array([0, 8]), sizes=np.array([None, [0, 4]], object), children=np.array([[1], []], object),
    )  # fmt: skip
    lines = str(analyse(recording([], [(1, 0, 10)], tables={"pipeline": stages}))).splitlines()
    row = next(line for line in lines if line.startswith("  1 Map"))
    assert row.split() == ["1", "Map", "2", "2.00", "8", "50.0%", "<-", "the", "slowest"]


def test_what_is_not_known_is_left_out_of_the_page():
    memory = Table(time=np.array([5]), device=np.array([0]), address=np.zeros(1), bytes=np.array([7e8]), allocated=np.array([7e8]))
    page = analyse(recording(tables={"memory": memory})).to_html().partition("Memory, bytes")[2].partition("</table>")[0]
    assert "700 MB" in page
    assert "-1" not in page    # in no step


def test_short_times_are_no_markup():
    page = analyse(recording([("quick", Category.HOST_OP, 0, 1, 0.0001)], [(1, 0, 10), (2, 10, 20)])).to_html()
    assert "<0" not in page
    assert "&lt;0.001" in page


def test_small_and_negative_figures_are_on_the_right_too():
    values = Table(time=np.array([1, 2]), counter=np.array(["one/rate", "two/rate"], object), value=np.array([0.0001, -3.5]))
    page = analyse(recording(tables={"counters": values})).to_html().partition("Meanwhile")[2]
    assert "<th>mean" in page
    assert "<td>&lt;0.001" in page
    assert "<td>-3.50" in page


def test_costs_are_in_line_with_what_is_above_them(report):
    lines = str(report).splitlines()
    place = next(number for number, line in enumerate(lines) if line.startswith("what the profiler itself took"))
    assert [line[:3].isspace() for line in lines[place + 1 : place + 3]] == [True, False]
    assert lines[place + 2].startswith("  system ")


def test_nothing_recorded_is_said():
    empty = analyse([])
    assert "nothing was recorded" in empty.to_html()
    assert json.loads(empty.to_json())["ranks"] == []


def test_every_rule_gives_whole_advice_or_none(report):
    for name in RULES:
        for advice in RULES.get(name).check(report):
            assert isinstance(advice, Advice)
            assert advice.title
            assert advice.change
            assert advice.check
            assert advice.confidence in ("high", "medium", "low")
        assert list(RULES.get(name).check(analyse([]))) == []


def test_healthy_steps_have_nothing_to_gain():
    spans = [("forward", Category.PHASE, 0, step * 10, 9.9) for step in range(20)]
    report = analyse(recording(spans, [(step, step * 10, step * 10 + 10) for step in range(20)]))
    assert report.advice == []
    assert "nothing to gain" in str(report)
    assert "Nothing to gain" in report.to_html()


@pytest.mark.parametrize(
    ("value", "told"),
    [
        *[(0, "0"), (1234.5, "1,234"), (69.42, "69.4"), (1.254, "1.25"), (0.0312, "0.031"), (0.00096, "0.001"), (-1234, "-1,234")],
        *[(0.00002, "<0.001"), (-0.00002, ">-0.001"), (float("nan"), "")],
    ],
)
def test_numbers_are_short(value, told):
    assert number(value) == told


def test_texts_are_aligned_and_cut():
    assert sheet(["<name", "ms"], [["a", "1"], ["long one", "22"]], indent=1) == [" name      ms", " a          1", " long one  22"]
    assert sheet(["<", ""], [["a", "1"]]) == ["  a  1"]
    assert sheet(["<name"], []) == ["  name"]
    assert sheet(["<name", "empty", "ms"], [["a", "", "1"], ["b", "", ""]]) == ["  name  ms", "  a      1", "  b"]
    assert cut("x" * 100, 11) == "xxxxx…xxxxx"
    assert cut("a\nb", 11) == "a\\nb"
    assert [bar(share, 4) for share in (0, 0.001, 0.5, 1, 7, float("nan"))] == ["", "▏", "██", "████", "████", ""]
    assert [size(value) for value in (0, 999, 1500, 2.5e9, -3e6)] == ["0 B", "999 B", "1.5 kB", "2.5 GB", "-3.0 MB"]
    assert wrapped("one two three", "- ", 2, 8) == ["- one", "  two", "  three"]


def test_of_several_windows_the_last_is_shown_and_the_others_are_named():
    windows = [recording([("forward", Category.PHASE, 0, 0, 5)], [(1, 0, 5.0 + place)]) for place in range(3)]
    for place, each in enumerate(windows):
        each.path = each.path / f"window_{place}"
    report = analyse(windows)
    assert [profile.recording.path.name for profile in report.last] == ["window_2"]
    text = str(report)
    assert text.startswith("test/window_2")
    assert "test/window_0" in text
    assert "ranks" not in text
    assert report.stragglers.rows == 0
