"""The work of a program of an op, and the time it takes: launch, the slowest resource of each phase, a tail.

    us = launch + max(chain, fill + max(bandwidth, compute)) + tail

chain       what the busiest core does in series: read barriers, bytes over its own link, multicasts
bandwidth   all bytes in and out of DRAM
compute     the busiest core's tile passes, tile products and vector multiply-adds
fill        from launch until the first tile has passed all three stages of compute; a serial chain hides it
tail        what follows the arrival of the last data
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

from harness.costs.chip import Chip


@dataclass(frozen=True)
class Pages:
    """A number of DRAM pages of one size."""

    count: int
    page_bytes: int

    @property
    def n_bytes(self) -> int:
        """All of them together."""
        return self.count * self.page_bytes


@dataclass(frozen=True)
class Chain:
    """The busiest core's serial path.

    barriers     read barriers: each costs a DRAM latency
    extra_bytes  bytes that come behind the first page of each barrier, at the rate of one core
    multicast    bytes it sends on to all cores, each barrier's lot announced over `hops` hops
    together     cores that read in step, each a page of `page_bytes`, `stride` pages apart: they queue at the banks
    """

    barriers: int = 0
    extra_bytes: int = 0
    multicast: int = 0
    hops: int = 0
    together: int = 0
    stride: int = 1
    page_bytes: int = 0

    def us(self, chip: Chip) -> float:
        """How long the chain takes."""
        at_a_bank = -(-self.together * gcd(self.stride, chip.banks) // chip.banks)
        wait = max(chip.read_latency, at_a_bank * self.page_bytes / chip.bank_rate)
        announce = chip.one_way + chip.hop * self.hops if self.multicast else 0.0
        moved = self.extra_bytes / chip.core_read + self.multicast / chip.multicast
        return chip.us(self.barriers * (wait + announce) + moved)


@dataclass(frozen=True)
class Compute:
    """Work of one core's compute engine: tiles through all its stages, tile products at HiFi2, vector multiply-adds."""

    passes: int = 0
    products: int = 0
    mads: int = 0

    def us(self, chip: Chip) -> float:
        """How long it takes."""
        return chip.us(self.passes * chip.tile_pass + self.products * chip.product + self.mads * chip.sfpu_mad)


@dataclass(frozen=True)
class Phase:
    """Work that overlaps: the slowest of its resources decides."""

    pages: tuple[Pages, ...]
    chain: Chain
    compute: Compute = Compute()

    def resources(self, chip: Chip) -> dict[str, float]:
        """us by resource."""
        return {
            "latency": self.chain.us(chip),
            "bandwidth": sum(p.n_bytes / chip.dram_rate(p.page_bytes) for p in self.pages) / 1e3,
            "compute": self.compute.us(chip),
        }


@dataclass(frozen=True)
class Tail:
    """After the last data: compute, then transfers between cores of so many bytes, then the last write."""

    compute: Compute = Compute()
    transfers: int = 0
    transfer_bytes: int = 0

    def us(self, chip: Chip) -> float:
        """How long it takes."""
        between = self.transfers * chip.l1_latency + self.transfer_bytes / chip.l1_rate
        return self.compute.us(chip) + chip.us(between + chip.write_latency)


@dataclass(frozen=True)
class Counts:
    """What a functional simulator can count: the measure of every formula.

    cores       that read DRAM
    reads       DRAM reads; read_bytes: their bytes; writes, write_bytes the same
    barriers    read barriers of the busiest core; core_reads: its reads
    """

    cores: int
    reads: int
    read_bytes: int
    writes: int
    write_bytes: int
    barriers: int
    core_reads: int


@dataclass(frozen=True)
class Program:
    """One launch: what it counts to, its phases in order and its tail. `computes`: it has a compute kernel."""

    counts: Counts
    phases: tuple[Phase, ...]
    tail: Tail = Tail()
    computes: bool = True


@dataclass(frozen=True)
class Prediction:
    """us of one op, predicted. binds: the resource that decides, `fixed` where launch, fill and tail do."""

    us: float
    binds: str
    dram_bytes: int

    @property
    def gb_s(self) -> float:
        """DRAM bytes over the whole time."""
        return self.dram_bytes / self.us / 1e3


def predict(programs: tuple[Program, ...], chip: Chip) -> Prediction:
    """The time of an op that launches `programs` one after another."""
    total, fixed, n_bytes = 0.0, 0.0, 0
    spent = {"latency": 0.0, "bandwidth": 0.0, "compute": 0.0}
    for program in programs:
        fill, tail = (chip.fill if program.computes else 0.0), program.tail.us(chip)
        start = chip.launch + fill
        body = 0.0
        for n, phase in enumerate(program.phases):
            resources = phase.resources(chip)
            # Only the first phase's chain runs while the compute kernel starts.
            if n == 0:
                resources["latency"] = max(0.0, resources["latency"] - fill)
            name = max(resources, key=lambda r: resources[r])
            spent[name] += resources[name]
            body += resources[name]
        total += start + body + tail
        fixed += start + tail
        n_bytes += program.counts.read_bytes + program.counts.write_bytes
    binds = max(spent, key=lambda r: spent[r])
    return Prediction(total, "fixed" if fixed > sum(spent.values()) else binds, n_bytes)
