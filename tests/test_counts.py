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
    tiles = ROWS * HIDDEN
    assert len(first.cores) >= tiles
    for counts, reads, writes in ((first.total, 2, 1), (second.total, 3, 2)):  # x, (o,) gamma in; (x1,) norm out
        assert (counts.dram_reads, counts.dram_read_bytes) == (reads * tiles, reads * tiles * TILE_BYTES["bf16"])
        assert (counts.dram_writes, counts.dram_write_bytes) == (writes * tiles, writes * tiles * TILE_BYTES["bf16"])
        # Every core but the leader of a tile row sends 32 sums in two pieces of 64 B, and says so once.
        senders = ROWS * (HIDDEN - 1)
        assert (counts.l1_writes, counts.l1_write_bytes, counts.atomics) == (2 * senders, 128 * senders, senders)
        assert counts.multicasts == 2 * ROWS, "1 / rms and its flag, from each leader"
        # Each core reads once, so all it reads is in flight together.
        assert counts.most_reads_in_flight == reads
        assert counts.read_barriers == tiles


def test_heads(programs):
    (_, counts, _), cache = programs
    total = counts.total
    rotated = Q_UNITS + KV_UNITS
    reads = (Q_UNITS + 2 * KV_UNITS) * HEAD + rotated * 3 * HEAD  # the head; gamma, cos and sin
    assert (total.dram_reads, total.dram_read_bytes) == (reads, reads * TILE_BYTES["bf16"])
    q, kv = Q_UNITS * HEAD, 2 * KV_UNITS * HEAD
    assert total.dram_writes == q + kv
    assert total.dram_write_bytes == q * TILE_BYTES["bf16"] + kv * TILE_BYTES[cache]
    assert (total.l1_writes, total.multicasts, total.atomics) == (0, 0, 0)
    assert len(counts.cores) == Q_UNITS + 2 * KV_UNITS, "a core a unit"


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
