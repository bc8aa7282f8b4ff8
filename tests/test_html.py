"""The pages of `compare --html` and `check --html`: well formed, whole, without a network, and in a browser."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
import torch

import layer_impls
from harness.case import Case, Inputs
from harness.compare import Comparison, run_compare
from harness.html import check_page, comparison_page
from harness.html.bars import chart, steps
from harness.html.heat import heats
from harness.html.threads import programs
from harness.registry import parse
from harness.shape import PRESETS
from harness.targets import open_target
from harness.verdict import Part
from tests.test_cli import SMALL, run_main

SECTIONS = ("verdicts", "parts", "time", "error", "l1", "timeline")
VOID = {"meta", "link", "br", "img"}
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
QUIET = ("background-networking", "component-update", "sync", "quic", "gpu")
FLAGS = ["--headless", "--no-sandbox", "--no-first-run", "--enable-logging=stderr", "--dump-dom"]
FLAGS += [f"--disable-{name}" for name in QUIET]
WRONG = """
from layer_impls.op_graph import OpGraph
class Doubled(OpGraph):
    def layer_fn(self, i, x, k_cache, v_cache):
        out = super().layer_fn(i, x, k_cache, v_cache)
        return self.env.ttnn.add(out, out)
"""
# What a browser made of the page, as JSON in its title.
LOOK = """<script>addEventListener("load", () => { document.title = JSON.stringify({
  fetched: performance.getEntriesByType("resource").map(e => e.name).filter(n => !n.startsWith("data:")),
  broken: [...document.images].filter(i => !i.naturalWidth).length,
  images: document.images.length,
  flat: [...document.querySelectorAll("section, svg")].filter(e => e.getBoundingClientRect().height < 15).length,
  wide: document.documentElement.scrollWidth > innerWidth,
}) })</script>"""


@pytest.fixture(scope="module")
def comparison(tmp_path_factory) -> Comparison:
    """The op graph, three programs of kernels, and one that is wrong."""
    folder = tmp_path_factory.mktemp("impls")
    (folder / "doubled.py").write_text(WRONG)
    with pytest.MonkeyPatch.context() as patch, open_target("emulator") as target:
        patch.setattr(layer_impls, "__path__", [*layer_impls.__path__, str(folder)])
        specs = [parse(name) for name in ("op_graph", "fused_blocks", "doubled")]
        inputs = Inputs.random(Case(PRESETS["small"], S=100, Smax=256))
        return run_compare(target, specs, inputs, timeline=True)


@pytest.fixture(scope="module")
def text(comparison) -> str:
    return comparison_page(comparison, "emulated <Blackhole>")


@pytest.fixture(scope="module")
def checks(comparison) -> dict[str, str]:
    """A page for each implementation alone."""
    return {e.check.implementation: check_page(e.check, e.breakdown, "emulated") for e in comparison.entries}


@pytest.fixture(scope="module")
def pages(text, checks) -> dict[str, str]:
    return {"compare": text, **checks}


class Parsed(HTMLParser):
    """Tags balanced, ids once; what they hold and point at."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.ids += [given["id"]] if "id" in given else []
        self.links += [given[name] for name in ("href", "src") if name in given]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, f"</{tag}> at {self.getpos()}"

    def handle_data(self, data):
        self.words.append(data)


def words_of(text: str) -> str:
    return " ".join(" ".join(Parsed(text).words).split())


@pytest.mark.parametrize("name", ["compare", "fused_blocks", "doubled"])
def test_a_page_is_well_formed_and_needs_nothing_else(pages, name):
    parsed = Parsed(text := pages[name])
    assert len(set(parsed.ids)) == len(parsed.ids) and set(SECTIONS) <= set(parsed.ids)
    anchors = [link[1:] for link in parsed.links if link.startswith("#")]
    assert set(anchors) == set(SECTIONS)
    assert all(link.startswith(("#", "data:")) for link in parsed.links)
    assert not re.search(r"https?:|url\(|@import|<script", text)


def test_what_the_target_says_is_text(text):
    assert "emulated &lt;Blackhole&gt;" in text


def test_a_check_s_page_has_every_part_every_figure_and_every_limit(comparison, checks):
    for check in (e.check for e in comparison.entries):
        words = words_of(checks[check.implementation])
        for part in check.parts:
            mark = "PASS" if part.passed else "FAIL"
            of_tensor = f"{part.title}: {len(part.aspects)} figures and their limits"
            assert f"{mark} {of_tensor if part.aspects else part.text}" in words
            assert all(f"{a.name} {a.text}" in words for a in part.aspects)
    assert "All 35 parts passed." in words_of(checks["op_graph"]) and "6 of 35 parts failed." in words


def test_what_is_wrong_has_no_time_on_its_page_but_an_error(checks):
    right, wrong = words_of(checks["fused_blocks"]), words_of(checks["doubled"])
    assert "predicted, not measured on silicon" in right and "is not timed" not in right
    assert wrong.count("What is wrong is not timed.") == 2 and "None was kept" not in wrong
    assert "The 3 launches of fused_blocks" in right and "1 qkv_heads, core (0,0)" in right
    for tensor in ("output", "K rows", "V rows"):
        assert re.search(rf"{tensor} (first call|next layer|new contents): rms", wrong)


def test_the_page_says_what_was_found_and_what_is_predicted(text):
    words = words_of(text)
    for said in (
        "fused_blocks: FAST (predicted)",
        "doubled: no time: what is wrong is not timed",
        "predicted us (ttnn 0.81.1): predicted, not measured on silicon",
        "FAIL doubled",
        "PASS op_graph : nothing, of",
        "one in the middle",
        "the emulator's virtual time, not measured",
    ):
        assert said in words.replace("op_graph:", "op_graph :"), said


def test_bars_have_every_op_on_one_scale(comparison):
    found = chart([e.breakdown for e in comparison.entries if e.passed])
    assert found and [bar.name for bar in found.bars] == ["op_graph", "fused_blocks"]
    for bar, entry in zip(found.bars, comparison.entries, strict=False):
        assert len(bar.segments) == len(entry.breakdown.lines)
        assert bar.us == pytest.approx(entry.breakdown.predicted_us)
        assert bar.end == pytest.approx(sum(s.width for s in bar.segments))
    a, b = found.bars
    assert a.end / b.end == pytest.approx(a.us / b.us) and found.floor / a.end == pytest.approx(found.floor_us / a.us)


def changed(check, title: str, error: Callable[[torch.Tensor], torch.Tensor], **fields):
    """The check with another error in that part."""
    parts = [replace(p, error=error(p.error), **fields) if p.title == title else p for p in check.parts]
    return replace(check, parts=tuple(parts))


def test_the_wrong_one_shines_in_the_heat_map_and_nan_has_a_colour_of_its_own(comparison):
    checks = right, _, wrong = [e.check for e in comparison.entries]
    found = heats(checks)
    assert found and len({h.uri for h in found.pictures}) == 3
    for check, scales in ((right, (0.5, 10)), (wrong, (10, 1000))):
        part = check.worst("output")
        assert scales[0] < float(part.error.abs().max()) / part.bar / found.top < scales[1]
    assert found.pictures[2].text.startswith("next layer: "), "where it is worst beside the op graph's"

    def with_nan(error):
        return error.index_put((torch.tensor(3), torch.tensor(7)), torch.tensor(torch.nan, dtype=error.dtype))

    title = right.worst("output").title
    spoiled = heats([changed(right, title, with_nan)])
    assert spoiled and spoiled.pictures[0].uri != found.pictures[0].uri and spoiled.top < 100


def test_the_heat_map_is_of_the_worst_call_and_says_which(comparison):
    right = comparison.entries[0].check
    seen = {}
    for call in ("next layer", "new contents"):
        worse = changed(right, f"{call}: output", lambda error: 100 * error, passed=False)
        found = heats([right, worse])
        assert found and found.pictures[1].text.startswith(f"{call}: rms")
        seen[call] = found.pictures[1].uri
    assert len(set(seen.values())) == 2


def test_heads_lie_side_by_side_in_the_heat_map(comparison):
    shape = comparison.entries[0].check.case.shape
    found = heats([comparison.entries[0].check], ("output", "K rows"))
    assert found and [(h.tokens, h.channels) for h in found.pictures] == [
        (shape.tokens, shape.hidden),
        (shape.tokens, shape.n_kv_heads * shape.head_dim),
    ]


def test_timelines_are_of_the_program_s_length_and_bytes(comparison):
    fused = comparison.entries[1].breakdown
    found = programs(fused)
    assert [p.title.split(":")[0] for p in found] == [f"{n} {line.label}" for n, line in enumerate(fused.lines, 1)]
    for p in found:
        assert len(p.rows) == 10 and all(x + width <= 1000.01 for row in p.rows for x, width, *_ in row.phases)
        assert p.dram_top > 1 and all("nan" not in line for line in p.dram)
    assert not programs(comparison.entries[0].breakdown), "ttnn's ops have no threads"


def test_without_times_the_page_says_so(comparison):
    """As a simulator has it: ops and errors, nothing predicted, no programs that tell."""
    entries = []
    for e in comparison.entries:
        lines = tuple(replace(line, us=None, predicted=None, counts=None) for line in e.breakdown.lines)
        check, b = replace(e.check, target="simulator"), replace(e.breakdown, target="simulator", lines=lines)
        entries.append(replace(e, check=check, breakdown=b, timing=None, why="a functional simulator has no clock"))
    words = words_of(comparison_page(replace(comparison, entries=tuple(entries)), "ttsim"))
    assert "No time op by op on this target." in words and "None was kept" in words
    assert "op_graph: no time: a functional simulator has no clock" in words


def test_a_check_that_ended_in_an_exception_has_a_page_that_says_so(comparison):
    entry = comparison.entries[0]
    check = replace(entry.check, parts=(Part("runs", False, "RuntimeError: a <kernel> hangs"),), calls=(), counts=())
    words = words_of(check_page(check, replace(entry.breakdown, lines=()), "emulated"))
    assert "1 of 1 parts failed." in words and "RuntimeError: a <kernel> hangs" in words
    assert "No implementation got as far" in words and "What is wrong is not timed." in words


@pytest.mark.parametrize("longest", [0.7, 1, 9.8, 120, 449.5, 12345])
def test_ticks_are_few_and_reach_the_end(longest):
    ticks = list(steps(longest))
    assert len(ticks) <= 13 and ticks[0] == 0 and ticks[-1] <= longest


def test_a_path_that_cannot_be_written_is_told_before_the_work(tmp_path, monkeypatch, capsys):
    missing = tmp_path / "none" / "page.html"
    code, out, err = run_main(monkeypatch, capsys, "compare", "op_graph", "op_graph", "--html", str(missing))
    assert code == 2 and not out and err == f"layerbench: cannot write {missing}: there is no folder {missing.parent}\n"
    code, _, err = run_main(monkeypatch, capsys, "compare", "op_graph", "op_graph", "--html", str(tmp_path))
    assert code == 2 and "--html takes a file" in err


@pytest.mark.parametrize("command", [("compare", "op_graph", "op_graph:matmul=default"), ("check", "norm_residual")])
def test_the_command_writes_the_page(tmp_path, monkeypatch, capsys, command):
    path = tmp_path / "page.html"
    code, _, err = run_main(monkeypatch, capsys, *command, *SMALL, "--html", str(path))
    assert code == 0, err
    assert list(tmp_path.iterdir()) == [path] and set(SECTIONS) <= set(Parsed(path.read_text()).ids)
    if command[0] == "check":
        assert "one in the middle" in path.read_text(), "its timelines were kept"


@pytest.mark.skipif(not CHROMIUM, reason="no chromium to open the page in")
@pytest.mark.parametrize("name, width, images", [("compare", 1160, 4), ("compare", 480, 4), ("fused_blocks", 480, 4)])
def test_a_browser_shows_all_of_it_and_has_no_complaint(pages, tmp_path, name, width, images):
    path: Path = tmp_path / "page.html"
    path.write_text(pages[name].replace("</body>", LOOK + "</body>"))
    flags = [*FLAGS, f"--window-size={width},900", f"--user-data-dir={tmp_path / 'profile'}"]
    done = subprocess.run([CHROMIUM, *flags, path.as_uri()], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "CONSOLE" not in done.stderr
    seen = json.loads(re.search(r"<title>(.*?)</title>", done.stdout)[1])  # type: ignore[index]
    assert seen == {"fetched": [], "broken": 0, "images": images, "flat": 0, "wide": False}
