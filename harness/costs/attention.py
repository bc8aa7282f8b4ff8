"""Flash-decode over chunks of the cache, and the standard attention op."""

from __future__ import annotations

from dataclasses import dataclass

from harness.costs.program import Chain, Compute, Counts, Pages, Phase, Program, Tail
from harness.dtypes import TILE_BYTES

EXP_MADS = 110  # vector multiply-adds a score tile, counted
SCORE_PASSES = 4  # mask and scale, row maximum, exp of the difference, row sum
OUTPUT_PASSES = 2  # rescale what there is, add the new
STATISTICS_PASSES = 6  # maximum, two exps, two products, sum, for each tile row


@dataclass(frozen=True)
class Attention:
    """Sizes in tiles: query rows of a unit of work, head width, rows of the cache, rows of a chunk; dtypes.

    units    KV heads in decode (each shared by cores); heads times chunks of queries in standard attention
    """

    units: int
    rows: int
    width: int
    cache_rows: int
    chunk: int
    cache: str
    mask: str

    @property
    def chunks(self) -> int:
        """Chunks of the cache a unit goes through."""
        return -(-self.cache_rows // self.chunk)

    def chunk_pages(self, units: int) -> tuple[Pages, ...]:
        """What `units` cores read for a chunk each: K, V and mask."""
        kv = Pages(units * 2 * self.chunk * self.width, TILE_BYTES[self.cache])
        return kv, Pages(units * self.chunk * self.rows, TILE_BYTES[self.mask])

    def chunk_compute(self) -> Compute:
        """Scores, softmax and weighted sum of a chunk on one core."""
        scores, out = self.rows * self.chunk, self.rows * self.width
        passes = SCORE_PASSES * scores + OUTPUT_PASSES * out + STATISTICS_PASSES * self.rows
        return Compute(passes, 2 * scores * self.width, EXP_MADS * scores)

    def merge_compute(self) -> Compute:
        """Another core's partial result into one's own: rescale both, add."""
        passes = (OUTPUT_PASSES + 1) * self.rows * self.width + STATISTICS_PASSES * self.rows
        return Compute(passes, 0, 2 * EXP_MADS * self.rows)


def tiles_a_barrier(cores: int) -> int:
    """How many tiles ttnn's attention kernels let a core have in flight, so that all together do not flood DRAM."""
    return max(1, 512 // cores * (1024 + 128) // TILE_BYTES["bf16"])


def _chain(pages: tuple[Pages, ...], burst: int) -> Chain:
    """One core reads `pages` with `burst` in flight."""
    barriers = sum(-(-p.count // burst) for p in pages)
    extra = sum((p.count - -(-p.count // burst)) * p.page_bytes for p in pages)
    return Chain(barriers, extra)


def decode(a: Attention, cores_a_head: int, grid: tuple[int, int]) -> Program:
    """scaled_dot_product_attention_decode: the cores of a head take chunks in turn, then merge in a tree."""
    shared = max(1, min(cores_a_head, grid[0] * grid[1] // a.units))
    cores, burst = a.units * shared, tiles_a_barrier(a.units * shared)
    queries = Pages(a.rows * a.width, TILE_BYTES["bf16"])
    all_queries, out = Pages(cores * queries.count, 2048), Pages(a.units * queries.count, 2048)
    # Rounds: all cores work on a chunk each; in the last round only those for whom a chunk is left.
    phases = [Phase((all_queries, out), _chain((queries,), burst))]
    left = a.chunks
    while left:
        active = min(shared, left)
        phases.append(
            Phase(a.chunk_pages(a.units * active), _chain(a.chunk_pages(1), burst), a.chunk_compute()),
        )
        left -= active
    rounds = len(phases) - 1
    kv, mask = a.chunk_pages(a.units * a.chunks)
    per_core = [a.chunk * a.width, a.chunk * a.width, a.chunk * a.rows]
    # Each tensor's loop ends with a barrier of its own; two more build the constant tiles.
    barriers = rounds * sum(-(-t // burst) + 1 for t in per_core) + -(-queries.count // burst) + 1 + 2
    counts = Counts(
        cores, kv.count + mask.count + all_queries.count, kv.n_bytes + mask.n_bytes + all_queries.n_bytes,
        out.count, out.n_bytes, barriers, rounds * sum(per_core) + queries.count,
    )  # fmt: skip
    # The last chunk is computed when it has come; then a tree of merges, each partial sent and copied into its buffer.
    steps, last, merge = (shared - 1).bit_length(), a.chunk_compute(), a.merge_compute()
    compute = Compute(
        last.passes + steps * merge.passes, last.products + steps * merge.products, last.mads + steps * merge.mads
    )
    partial = (queries.count + 2 * a.rows) * TILE_BYTES["bf16"]
    return Program(counts, tuple(phases), Tail(compute, 2 * steps, 2 * steps * partial))


def standard(a: Attention, sharing: int, grid: tuple[int, int]) -> Program:
    """scaled_dot_product_attention: a unit a core, each over the whole cache.

    sharing: units that get a KV chunk from one core that reads it, as in ttnn 0.81.1; 1 where each reads for itself.
    A core that forwards reads a whole chunk before it waits.
    """
    cores = min(a.units, grid[0] * grid[1])
    core_units, burst = -(-a.units // cores), tiles_a_barrier(grid[0] * grid[1])
    queries = Pages(a.units * a.rows * a.width, TILE_BYTES["bf16"])
    readers = -(-a.units // sharing)
    kv, _ = a.chunk_pages(readers * a.chunks)
    _, mask = a.chunk_pages(a.units * a.chunks)
    core_kv, core_mask = a.chunk_pages(core_units * a.chunks)
    core_queries = Pages(core_units * a.rows * a.width, TILE_BYTES["bf16"])
    if sharing > 1:
        whole, rest = _chain((core_kv,), a.chunk * a.width), _chain((core_queries, core_mask), burst)
        chain = Chain(whole.barriers + rest.barriers, whole.extra_bytes + rest.extra_bytes)
    else:
        chain = _chain((core_queries, core_kv, core_mask), burst)
    chunk = a.chunk_compute()
    n = core_units * a.chunks
    phase = Phase((queries, kv, mask, queries), chain, Compute(n * chunk.passes, n * chunk.products, n * chunk.mads))
    counts = Counts(
        cores, queries.count + kv.count + mask.count, queries.n_bytes + kv.n_bytes + mask.n_bytes,
        queries.count, queries.n_bytes, chain.barriers, core_queries.count + core_kv.count + core_mask.count,
    )  # fmt: skip
    return Program(counts, (phase,), Tail(chunk))
