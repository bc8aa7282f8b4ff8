"""The CSV of a layer's ops: what is in it, and that tt-perf-report reads it."""

from __future__ import annotations

import csv
import io
import shutil
import subprocess

import pytest

from harness import ops_csv
from harness.breakdown import run_breakdown
from harness.case import Case, Inputs
from harness.registry import parse
from harness.shape import PRESETS
from tests.conftest import run_cli

READER = shutil.which("tt-perf-report")  # pip install tt-perf-report


@pytest.fixture
def breakdown(emulator):
    return run_breakdown(emulator, parse("norm_residual"), Inputs.random(Case(PRESETS["small"], S=100, Smax=256)))


def test_a_line_per_op_with_its_times_shapes_and_origin(breakdown):
    rows = list(csv.DictReader(io.StringIO(ops_csv.text(breakdown))))
    assert len(rows) == len(breakdown.lines) == 18
    for row, line in zip(rows, breakdown.lines, strict=True):
        both = int(row["DEVICE KERNEL DURATION [ns]"]) + int(row["OP TO OP LATENCY [ns]"])
        assert both == pytest.approx(line.predicted_us * 1e3, abs=1) and row["ORIGIN"].startswith("predicted")
    program, matmul = rows[:2]
    assert program["OP CODE"] == "GenericOpDeviceOperation norm_residual" and program["CORE COUNT"] == "32"
    assert matmul["OP CODE"].startswith("MatmulDeviceOperation") and matmul["MATH FIDELITY"] == "HiFi2"
    assert matmul["INPUT_1_X_PAD[LOGICAL]"] == "1024[1024]" and matmul["INPUT_1_DATATYPE"] == "BFLOAT8_B"
    assert matmul["INPUT_0_MEMORY"] == "DEV_0_DRAM_INTERLEAVED" and "in0_block_w=" in matmul["ATTRIBUTES"]


@pytest.mark.skipif(READER is None, reason="tt-perf-report is not installed")
def test_tt_perf_report_reads_it(breakdown, tmp_path):
    path, out = tmp_path / "ops.csv", tmp_path / "report.csv"
    path.write_text(ops_csv.text(breakdown))
    assert READER
    done = subprocess.run(
        [READER, str(path), "--csv", str(out), "--no-summary"], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert "blackhole, Worker cores: 110" in done.stdout
    rows = list(csv.DictReader(out.open()))
    assert len(rows) == 18
    times = sum(float(row["Device Time"]) for row in rows) + sum(float(row["Op-to-Op Gap"] or 0) for row in rows)
    # The gap before the first op is not counted there.
    assert times == pytest.approx(breakdown.predicted_us, abs=4)
    matmul = rows[1]
    assert 0 < float(matmul["DRAM %"]) < 100 and 0 < float(matmul["FLOPs %"]) < 100 and matmul["Cores"] == "32"


def test_the_command_writes_it(tmp_path):
    path = tmp_path / "ops.csv"
    size = ("--shape", "tiny", "--seq-len", "40", "--max-seq", "128")
    done = run_cli("breakdown", "op_graph", *size, "--ops-csv", str(path))
    assert done.returncode == 0, done.stderr
    assert len(path.read_text().splitlines()) == 20
    done = run_cli("breakdown", "op_graph", *size, "--target", "simulator", "--ops-csv", str(path))
    assert done.returncode == 2 and "a functional simulator has no times" in done.stderr
