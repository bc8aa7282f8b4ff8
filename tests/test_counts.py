"""What the kernels move at the real shape, counted by the emulator, is what a calculation by hand says, to the byte."""

from __future__ import annotations

import pytest

from harness.breakdown import run_breakdown
from harness.case import Case, Inputs
from harness.registry import parse
from harness.report import make_console, render_breakdown, us

TILE_BYTES = {"bf16": 2048, "bfp8": 1088}
ROWS, HIDDEN, HEAD = 2, 48, 4  # tiles: tokens / 32, hidden / 32, head_dim / 32
Q_UNITS, KV_UNITS = 16 * ROWS, 8 * ROWS  # a unit of heads_rope is a head in a tile row


@pytest.fixture(scope="module", params=["bf16", "bfp8"])
def breakdown(request):
    """The breakdown of partly_fused, and the cache's dtype."""
    from harness.targets import open_target

    with open_target("emulator") as target:
        return run_breakdown(target, parse("partly_fused"), Inputs.random(Case(cache=request.param))), request.param


@pytest.fixture(scope="module")
def programs(breakdown):
    """The counts of its three programs, in order, and the cache's dtype."""
    lines, cache = breakdown[0].lines, breakdown[1]
    return [line.counts for line in lines if line.counts], cache


def test_norms(programs):
    (first, _, second), _ = programs
    tiles, cores = ROWS * HIDDEN, ROWS * HIDDEN // 2  # two tiles a core
    # A tile row has 24 cores. The other 8 rows of the tile that takes their sums get zeros from DRAM: a piece of 8 rows
    # of 64 B in each of its two lower faces.
    zeros, zero_bytes = 2 * ROWS, 2 * ROWS * 8 * 64
    for counts, reads, writes in ((first.total, 2, 1), (second.total, 3, 2)):  # x, (o,) gamma in; (x1,) norm out
        assert counts.dram_reads == reads * tiles + zeros
        assert counts.dram_read_bytes == reads * tiles * TILE_BYTES["bf16"] + zero_bytes
        assert (counts.dram_writes, counts.dram_write_bytes) == (writes * tiles, writes * tiles * TILE_BYTES["bf16"])
        # Every core sends 32 sums to the leader of its tile row in two pieces of 64 B, and says so once.
        assert (counts.l1_writes, counts.l1_write_bytes, counts.atomics) == (2 * cores, 128 * cores, cores)
        # From each leader 1 / rms, two faces of fp32, and its flag, a word.
        assert (counts.multicasts, counts.multicast_bytes) == (3 * ROWS, ROWS * (2 * 1024 + 4))
        # Each core reads once, so all it reads is in flight together; a leader's zeros too.
        assert counts.most_reads_in_flight == 2 * reads + 2
        assert counts.read_barriers == cores
    assert len(first.cores) == len(second.cores) == cores


def test_heads(programs):
    (_, counts, _), cache = programs
    total = counts.total
    units = Q_UNITS + 2 * KV_UNITS
    tables = 2 * (ROWS + 1) * HEAD  # cos and sin of each tile row, the gammas; read once
    reads = units * HEAD + tables
    assert (total.dram_reads, total.dram_read_bytes) == (reads, reads * TILE_BYTES["bf16"])
    q, kv = Q_UNITS * HEAD, 2 * KV_UNITS * HEAD
    assert total.dram_writes == q + kv
    assert total.dram_write_bytes == q * TILE_BYTES["bf16"] + kv * TILE_BYTES[cache]
    # Each half of the tables leaves in packets of 16 KB, 24 KB in two, and a flag, a word, follows it.
    assert (total.multicasts, total.multicast_bytes) == (2 * (2 + 1), tables * TILE_BYTES["bf16"] + 2 * 4)
    assert (total.l1_writes, total.atomics) == (0, 0)
    assert len(counts.cores) == 70, "a core a unit, whole columns of the grid"


def test_predicted_times_are_shown_and_called_so(breakdown):
    console = make_console()
    with console.capture() as shown:
        console.print(render_breakdown(breakdown[0]))
    text = " ".join(shown.get().split())
    assert "predicted by the emulator's virtual time, not measured" in text
    for line in breakdown[0].lines:
        if line.counts:
            p = line.counts.predicted
            assert p.us > p.launch_cycles / p.clock_mhz > 0
            assert us(p.us) in text
            assert line.us is None, "a prediction is no device time"
