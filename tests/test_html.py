"""The page of `compare --html`: well formed, whole, without a network, and as a browser shows it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
import torch

import layer_impls
from harness.case import Case, Inputs
from harness.compare import Comparison, run_compare
from harness.html import page
from harness.html.bars import chart, steps
from harness.html.heat import heats
from harness.html.threads import programs
from harness.registry import parse
from harness.shape import PRESETS
from harness.targets import open_target
from tests.test_cli import SMALL, run_main

SECTIONS = ("verdicts", "failed", "time", "error", "l1", "timeline")
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
    return page(comparison, "emulated <Blackhole>")


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


def test_the_page_is_well_formed_and_needs_nothing_else(text):
    parsed = Parsed(text)
    assert len(set(parsed.ids)) == len(parsed.ids) and set(SECTIONS) <= set(parsed.ids)
    anchors = [link[1:] for link in parsed.links if link.startswith("#")]
    assert set(anchors) == set(SECTIONS)
    assert all(link.startswith(("#", "data:")) for link in parsed.links)
    assert not re.search(r"https?:|url\(|@import|<script", text)
    assert "emulated &lt;Blackhole&gt;" in text


def test_the_page_says_what_was_found_and_what_is_predicted(text):
    words = " ".join(" ".join(Parsed(text).words).split())
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
    found = chart(comparison)
    assert found and [bar.name for bar in found.bars] == ["op_graph", "fused_blocks"]
    for bar, entry in zip(found.bars, comparison.entries, strict=False):
        assert len(bar.segments) == len(entry.breakdown.lines)
        assert bar.us == pytest.approx(entry.breakdown.predicted_us)
        assert bar.end == pytest.approx(sum(s.width for s in bar.segments))
    a, b = found.bars
    assert a.end / b.end == pytest.approx(a.us / b.us) and found.floor / a.end == pytest.approx(found.floor_us / a.us)


def test_the_wrong_one_shines_in_the_heat_map_and_nan_has_a_colour_of_its_own(comparison):
    found = heats(comparison)
    right, _, wrong = comparison.entries
    assert found and [h.passed for h in found.pictures] == [True, True, False]
    assert found.top < float(right.check.part("output").error.abs().max()) < found.top * 10
    assert float(wrong.check.part("output").error.abs().max()) > found.top
    assert len({h.uri for h in found.pictures}) == 3

    def with_nan(part):
        error = part.error.clone()
        error[3, 7] = torch.nan
        return replace(part, error=error)

    parts = tuple(with_nan(p) if p.title == "output" else p for p in right.check.parts)
    changed = replace(comparison, entries=(replace(right, check=replace(right.check, parts=parts)),))
    spoiled = heats(changed)
    assert spoiled and spoiled.pictures[0].uri != found.pictures[0].uri and spoiled.top < 1


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
    words = " ".join(Parsed(page(replace(comparison, entries=tuple(entries)), "ttsim")).words)
    assert "No time op by op on this target." in words and "None was kept" in words
    assert "op_graph: no time: a functional simulator has no clock" in words


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


def test_compare_writes_the_page(tmp_path, monkeypatch, capsys):
    path = tmp_path / "page.html"
    two = ("op_graph", "op_graph:matmul=default")
    code, _, err = run_main(monkeypatch, capsys, "compare", *two, *SMALL, "--html", str(path))
    assert code == 0, err
    assert list(tmp_path.iterdir()) == [path] and set(SECTIONS) <= set(Parsed(path.read_text()).ids)


@pytest.mark.skipif(not CHROMIUM, reason="no chromium to open the page in")
@pytest.mark.parametrize("width", [1160, 480])
def test_a_browser_shows_all_of_it_and_has_no_complaint(text, tmp_path, width):
    path: Path = tmp_path / "page.html"
    path.write_text(text.replace("</body>", LOOK + "</body>"))
    flags = [*FLAGS, f"--window-size={width},900", f"--user-data-dir={tmp_path / 'profile'}"]
    done = subprocess.run([CHROMIUM, *flags, path.as_uri()], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "CONSOLE" not in done.stderr
    seen = json.loads(re.search(r"<title>(.*?)</title>", done.stdout)[1])  # type: ignore[index]
    assert seen == {"fetched": [], "broken": 0, "images": 4, "flat": 0, "wide": False}
