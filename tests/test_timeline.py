"""The trace file: what Perfetto's importer of Chrome's JSON needs, and the layer in order."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import pytest

from harness.breakdown import Breakdown, run_breakdown
from harness.case import Case, Inputs
from harness.emulator.programs import Location, Phase, ThreadSpans, Wait
from harness.registry import parse
from harness.shape import PRESETS
from harness.targets import open_target
from harness.timeline import OPS, slices, trace
from tests.conftest import run_cli
from tests.test_cli import SMALL, run_main

CASE = Case(PRESETS["small"], S=100, Smax=256)


@pytest.fixture(scope="module")
def layer() -> Breakdown:
    with open_target("emulator") as target:
        return run_breakdown(target, parse("partly_fused"), Inputs.random(CASE), timeline=True)


def names_of(events, kind):
    return {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == kind}


def check_events(events) -> None:
    """Types, names for every process and track, and slices that nest."""
    tracks = defaultdict(list)
    processes, threads = names_of(events, "process_name"), names_of(events, "thread_name")
    for e in events:
        assert e["ph"] in ("X", "M", "C") and isinstance(e["name"], str) and e["name"]
        assert isinstance(e["pid"], int) and (e["pid"], 0) in processes
        if e["ph"] == "M":
            assert e["name"].startswith(("process_", "thread_")) and e["args"]
            continue
        assert e["ts"] >= 0
        if e["ph"] == "C":
            assert e["args"] and all(value >= 0 for value in e["args"].values())
            continue
        assert isinstance(e["tid"], int) and (e["pid"], e["tid"]) in threads
        tracks[e["pid"], e["tid"]].append((round(e["ts"] * 1e3), round((e["ts"] + e["dur"]) * 1e3)))
    assert tracks
    for track, spans in tracks.items():
        open_until: list[int] = []
        for begin, end in spans:  # in the file's order, an outer slice before its inner ones
            assert begin <= end
            while open_until and open_until[-1] <= begin:
                open_until.pop()
            assert not open_until or end <= open_until[-1], f"{track}: slices overlap without nesting"
            open_until.append(end)
        assert [s[0] for s in spans] == sorted(s[0] for s in spans)


def test_a_layer_is_one_timeline_in_order(layer):
    document = json.loads(json.dumps(trace([layer])))
    assert document["otherData"]["times"] == "predicted, not measured on silicon"
    events = document["traceEvents"]
    check_events(events)
    processes = names_of(events, "process_name")
    programs = [line for line in layer.lines if line.counts]
    assert len(processes) == 1 + len(programs) == 4
    assert all("predicted, not measured" in name for name in processes.values())
    threads = names_of(events, "thread_name")
    ops = next(track for track, name in threads.items() if name == OPS)
    blocks = [e for e in events if e["ph"] == "X" and (e["pid"], e["tid"]) == ops]
    assert [e["name"] for e in blocks] == [line.label for line in layer.lines if not line.counts]
    # One after the other: what a program takes is the gap it leaves among the blocks.
    us, spent = 0.0, iter(blocks)
    for line in layer.lines:
        if line.counts:
            launch = next(e for e in events if e["name"] == "launch" and e["ts"] == pytest.approx(us, abs=0.002))
            inside = [e for e in events if e["pid"] == launch["pid"] and e["ph"] == "X"]
            end = max(e["ts"] + e["dur"] for e in inside)
            assert end == pytest.approx(us + line.predicted_us, abs=0.002)
            cores = line.counts.timeline.cores.values()
            busy = [t for threads in cores for t in threads.values() if t.waits or t.phases]
            assert len({e["tid"] for e in inside}) == 1 + len(busy)
        else:
            block = next(spent)
            assert (block["ts"], block["dur"]) == pytest.approx((us, line.predicted_us), abs=0.002)
        us += line.predicted_us


def test_kernels_phases_and_lines_are_in_it(layer):
    events = trace([layer])["traceEvents"]
    phases = {e["name"] for e in events if e.get("cat") == "phase"}
    assert {"norm", "rotate", "exchange", "sum of squares"} <= phases
    waits = [e for e in events if e.get("cat") == "wait"]
    assert {e["name"] for e in waits} >= {"wait: read", "wait: CB empty", "wait: semaphore"}
    assert any("norm_residual/exchange.h" in e["args"]["in the kernel"] for e in waits)
    counters = [e for e in events if e["ph"] == "C"]
    assert max(e["args"]["read"] for e in counters) > 50


def test_what_runs_is_cut_where_a_phase_begins_or_ends():
    at = (Location(Path(__file__), 1),)
    thread = ThreadSpans(
        (Wait(10, 20, "read", at), Wait(20, 25, "CB full", ())), (Phase(5, 30, "a"), Phase(8, 25, "b"))
    )
    found = [s[:4] for s in slices(thread, 40)]
    assert found == [
        (0, 5, "running", "running"),
        (5, 30, "a", "phase"),
        (5, 8, "running", "running"),
        (8, 25, "b", "phase"),
        (8, 10, "running", "running"),
        (10, 20, "wait: read", "wait"),
        (20, 25, "wait: CB full", "wait"),
        (25, 30, "running", "running"),
        (30, 40, "running", "running"),
    ]


def test_commands_write_the_file_whole(tmp_path):
    path = tmp_path / "layer.json"
    done = run_cli("compare", "heads_rope", "norm_residual", *SMALL, "--timeline", str(path))
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.iterdir()) == [path], "nothing else is left behind"
    events = json.loads(path.read_text())["traceEvents"]
    check_events(events)
    names = set(names_of(events, "process_name").values())
    assert {n.split(":")[0] for n in names} == {"heads_rope", "norm_residual"}, "both implementations in one file"


@pytest.mark.parametrize("command", [("breakdown", "op_graph"), ("compare", "op_graph", "op_graph")])
def test_a_file_that_cannot_be_written_is_refused_before_the_work(command, monkeypatch, capsys, tmp_path):
    for path, message in (("/no/such/x.json", "there is no folder"), (tmp_path, "--timeline takes a file")):
        code, stdout, stderr = run_main(monkeypatch, capsys, *command, "--timeline", str(path))
        assert code == 2 and stdout == "" and message in stderr and len(stderr.splitlines()) == 1
    code, _, stderr = run_main(
        monkeypatch, capsys, *command, "--timeline", str(tmp_path / "x.json"), "--target", "simulator"
    )
    assert code == 2 and "the simulator has none" in stderr
