"""What `explain` says: the slowest first, shares that add up, and the cause where it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.breakdown import run_breakdown
from harness.case import Case, Inputs
from harness.emulator.programs import (
    Counts,
    Location,
    Phase,
    Prediction,
    ProgramCounts,
    ThreadSpans,
    ThreadTime,
    Timeline,
    Wait,
)
from harness.explain import WHOLE, explain, phases_of
from harness.registry import parse
from harness.shape import PRESETS
from harness.targets import open_target
from tests.conftest import run_cli
from tests.test_cli import SMALL

LINE = (Location(Path(__file__), 1),)


def program(**threads: ThreadSpans) -> ProgramCounts:
    """On one core, each thread until cycle 100."""
    cores = {(0, 0): {}}
    for name, spans in threads.items():
        stalls: dict[str, int] = {}
        for wait in spans.waits:
            stalls[wait.why] = stalls.get(wait.why, 0) + wait.end - wait.begin
        cores[0, 0][name] = ThreadTime(100, stalls)
    return ProgramCounts(
        Counts(), {}, Prediction(1000, 10, 0, 0, cores), Timeline({(0, 0): dict(threads)}, 512, (), ())
    )


def waits(*spans: tuple[int, int, str], phases: tuple[Phase, ...] = ()) -> ThreadSpans:
    return ThreadSpans(tuple(Wait(begin, end, why, LINE) for begin, end, why in spans), phases)


@pytest.mark.parametrize(
    ("threads", "cause", "thread"),
    [
        ({"RISCV_1": waits((0, 80, "read")), "math": waits((0, 90, "registers"))}, "read", "RISCV_1"),
        ({"RISCV_1": waits((0, 80, "CB full")), "math": waits((0, 10, "registers"))}, "running", "math"),
        ({"RISCV_0": waits((0, 90, "CB empty")), "math": waits((0, 95, "registers"))}, "CB empty", "RISCV_0"),
        ({"unpack": waits((0, 80, "registers")), "math": waits((0, 90, "registers"))}, "registers", "math"),
        ({"RISCV_0": waits((0, 30, "semaphore"), (40, 60, "read"), (60, 100, "semaphore"))}, "semaphore", "RISCV_0"),
    ],
)
def test_the_cause_is_what_nothing_else_explains(threads, cause, thread):
    whole = next(iter(phases_of(program(**threads))))
    assert (whole.name, whole.cause, whole.thread) == (WHOLE, cause, thread)
    assert whole.meaning.startswith(f"{thread}: ")
    assert whole.at == ("" if cause == "running" else f"tests/test_explain.py:1 {LINE[0].text}")


def test_a_phase_has_the_waits_inside_it():
    phases = (Phase(0, 20, "load"), Phase(20, 60, "work"), Phase(60, 80, "load"))
    spans = waits((5, 20, "read"), (30, 40, "CB full"), (65, 80, "read"), phases=phases)
    whole, *rest = phases_of(program(RISCV_1=spans))
    assert [(p.name, round(p.us * 1000)) for p in rest] == [("load", 40), ("work", 40)]
    by_name = {p.name: p.threads[0].shares for p in rest}
    assert by_name["load"] == {"read": 0.75, "running": 0.25}
    assert by_name["work"] == {"CB full": 0.25, "running": 0.75}
    assert whole.threads[0].shares == {"read": 0.3, "CB full": 0.1, "running": 0.6}


@pytest.fixture(scope="module")
def explained():
    case = Case(PRESETS["small"], S=100, Smax=256)
    with open_target("emulator") as target:
        return explain(run_breakdown(target, parse("partly_fused"), Inputs.random(case), timeline=True))


def test_ops_come_slowest_first_and_every_thread_adds_up(explained):
    assert [op.us for op in explained] == sorted((op.us for op in explained), reverse=True)
    assert sum(op.share for op in explained) == pytest.approx(1)
    assert all(op.meaning for op in explained)
    programs = [op for op in explained if op.phases]
    assert {op.label for op in programs} == {"norm_residual", "heads_rope"}
    for op in programs:
        assert op.phases[0].name == WHOLE and op.phases[0].us < op.us
        times = [phase.us for phase in op.phases[1:]]
        assert times == sorted(times, reverse=True) and times[0] <= op.phases[0].us
        for phase in op.phases:
            for row in phase.threads:
                assert sum(row.shares.values()) == pytest.approx(1) and min(row.shares.values()) >= 0
    scale = next(phase for op in programs for phase in op.phases if phase.name == "times 1 / rms")
    assert scale.cause == "CB empty", "compute waits for the reader, which has no part in this phase"
    heads = next(op for op in programs if op.label == "heads_rope")
    waiting = next(phase for phase in heads.phases if phase.name == "tables")
    assert waiting.cause == "semaphore" and "take_tables" in waiting.at, "one core reads the tables for all"
    reading = next(phase for op in programs for phase in op.phases if phase.cause == "read")
    assert "noc_async_read_barrier();" in reading.at


def test_the_command_prints_and_records_it(tmp_path):
    path = tmp_path / "explained.json"
    done = run_cli("explain", "heads_rope", *SMALL, "--chip", "p100a", "--json", str(path))
    assert done.returncode == 0, done.stderr
    for text in ("predicted, not measured", "p100a, grid 11x10, 7 DRAM banks", "read a unit", "CB empty"):
        assert text in done.stdout
    result = json.loads(path.read_text())["result"]
    assert result["chip"] == "p100a" and "scaled" in result["origin"]
    phases = {p["name"] for op in result["ops"] for p in op["phases"]}
    assert {"whole program", "norm", "rotate"} <= phases
