"""The constants of the cost model, each with its source: one table, that a calibration on a card may replace."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields, replace

from harness.errors import UsageError

ORIGIN = "predicted, not measured on silicon"
CALIBRATION = "calibration p150: published constants, 4 fitted"


def _constant(value: float, unit: str, source: str) -> float:
    result: float = field(default=value, metadata={"unit": unit, "source": source})
    return result


@dataclass(frozen=True)
class Chip:
    """What a Blackhole p150 does, as tt-metal's tech reports publish it unless the source says fitted.

    The source of a fitted constant names the ops it was fitted to. No held-out row of docs/cost-model.md is among them.

    name, grid, banks   the card: worker columns and rows, DRAM banks
    calibration         where the constants are from, in a line
    machine             constants of the emulator's virtual time that differ from native/machine/timing.h, by name
    """

    name: str = "p150"
    grid: tuple[int, int] = (11, 10)
    banks: int = 8
    calibration: str = CALIBRATION
    machine: Mapping[str, float] = field(default_factory=dict)
    clock: float = _constant(1.35, "GHz", "published")
    launch: float = _constant(2.07, "us", "published: op to op in a trace")
    fill: float = _constant(2.19, "us", "published: pack to unpack across two ops, 4.26 us, less the launch")
    dram_peak: float = _constant(512.0, "GB/s", "published: 8 banks")
    dram_best: float = _constant(
        500.0, "GB/s", "published: a reader next to each bank, 16 KB packets; the floor's rate"
    )
    dram_interleaved: float = _constant(344.0, "GB/s", "published: readers placed anywhere, as ttnn's ops are")
    small_page_share: float = _constant(0.62, "of the peak", "published: 576 B pages, bound by the request rate")
    read_latency: float = _constant(
        540.0, "cycles", "fitted to fill_cache and RoPE, one read in flight; published for one 2 KB read: 582"
    )
    core_read: float = _constant(
        25.0, "B/cycle", "fitted to w2 and wo, whose activations one core reads; published: 23 (one core, interleaved)"
    )
    multicast: float = _constant(41.0, "B/cycle", "published: linked multicast")
    one_way: float = _constant(40.0, "cycles", "published: a message from L1 to L1, before its hops")
    hop: float = _constant(11.0, "cycles", "published: each hop")
    l1_latency: float = _constant(373.0, "cycles", "published: a 64 B read from another core")
    l1_rate: float = _constant(60.0, "B/cycle", "published: L1 to L1")
    write_latency: float = _constant(360.0, "cycles", "published: a write until it is acknowledged")
    tile_pass: float = _constant(90.0, "cycles", "fitted to rms_norm: a tile through unpack, math and pack, bf16")
    product: float = _constant(
        35.0, "cycles", "published: 34.5-36.9 for a 32x32x32 product, HiFi2, in a real attention kernel"
    )
    sfpu_mad: float = _constant(
        2.0, "cycles", "fitted to w1 against w3; published: latency of a multiply-add on the vector unit, 2"
    )

    def us(self, cycles: float) -> float:
        """Cycles -> us."""
        return cycles / (self.clock * 1e3)

    @property
    def bank_rate(self) -> float:
        """B/cycle that a bank gives."""
        return self.dram_best / self.banks / self.clock

    def dram_rate(self, page_bytes: int) -> float:
        """GB/s of all banks together for interleaved pages of a size: placement or request rate, the lower."""
        limit = self.small_page_share * self.dram_peak if page_bytes <= 576 else self.dram_peak
        return min(self.dram_interleaved, limit)


P150 = Chip()
# 7 banks and 110 workers are published; what DRAM gives is scaled to 7 banks, all else is the p150's.
_SHARE = 7 / P150.banks
P100A = replace(
    P150,
    name="p100a",
    banks=7,
    calibration="calibration p150, its DRAM rates scaled to 7 banks of 8",
    dram_peak=P150.dram_peak * _SHARE,
    dram_best=P150.dram_best * _SHARE,
    dram_interleaved=P150.dram_interleaved * _SHARE,
)
CHIPS = {chip.name: chip for chip in (P150, P100A)}


def parse_chip(name: str) -> Chip:
    """The chip of that name. Raises `UsageError` for an unknown one."""
    if name not in CHIPS:
        raise UsageError(f"unknown chip {name!r}; known: {', '.join(CHIPS)}")
    return CHIPS[name]


def constants(chip: Chip = P150) -> list[tuple[str, float, str, str]]:
    """Name, value, unit and source of every constant."""

    def row(f: Field[float]) -> tuple[str, float, str, str]:
        return f.name, getattr(chip, f.name), f.metadata["unit"], f.metadata["source"]

    return [row(f) for f in fields(chip) if f.metadata]
