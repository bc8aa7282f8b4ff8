"""The op graph with both norms of the layer, and the residual add before the second, in one kernel each.

Replaces     rms_norm (input norm); add + rms_norm (after the attention): 19 ops become 18
Core map     a rectangle of cores for each tile row, at most 32, a core for each few tiles: 2 x 24 with 2 tiles each at
             the real shape; the first core of a rectangle leads
us a call    7.3, with a residual 7.5: predicted by the emulator, not measured on silicon. Both grids alike
Binds        latencies: launch 2.4, compute's start 1.9, then the sums to the leader, 1 / rms back, the norm to DRAM
Weights      gamma with ones and zeros below it, in rows that a tile has anyway: the sums' operands cost no reads
Chain        chain=true: the last add of layer i is the same kernel, with the gamma of layer i + 1, which takes it
             if given that very tensor; layers in a row have 17 ops each
Limits       all tiles of a core stay in its L1: hidden up to 67,200 at 128 tokens on an 11 x 10 grid

CBs of a core that holds n tiles (indices as in kernels/norm_residual/cbs.h)
    0  x              bf16  n         6  squares          fp32  1        10  1 / rms, column         fp32  1
    1  o              bf16  n         7  own sums         fp32  1        11  x1 * gamma              fp32  n
    2  gamma          bf16  n         8  gathered sums    fp32  1        16  norm                    bf16  n
    4  x1 for norm    bf16  n         9  1 / rms, to all  fp32  1
    5  x1 to write    bf16  n

Versions, predicted us without and with a residual
    10.7 10.7   ones, zeros and the turns from column to row and back word by word, by the data-movement RISCs
     7.8  7.9   ones and zeros with gamma; a product with ones sums and turns at once; the leader's compute turns back
     7.5  7.7   two tiles a core: half the cores to launch, 8 rows of zeros
     7.3  7.5   the flag of the multicast linked with what it announces
Dropped: three tiles a core, 7.2 and 7.5; gamma read after x and o, no change
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from harness.dtypes import to_device
from harness.errors import UsageError
from harness.implementation import LayerEnv
from harness.shape import TILE
from harness.weights import LayerWeights
from layer_impls._program import (
    CB_BUDGET,
    Cb,
    Core,
    Kernel,
    Program,
    Rectangle,
    Team,
    accessor_args,
    buffers,
    empty_tile_tensor,
    fp32_bits,
)
from layer_impls.op_graph import OpGraph, OpGraphOptions


@dataclass(frozen=True)
class Placement:
    """A rectangle of cores for each tile row, and the most tiles a core holds."""

    rectangles: list[Rectangle]
    tiles_per_core: int


def place(grid: Any, rows: int, tiles: int) -> Placement | None:
    """`rows` tile rows of `tiles` tiles on a grid: fewest tiles a core, then fewest cores. None if they do not fit.

    At most 32 cores a tile row: the sums of each are a row of one tile.
    """
    best: tuple[int, int, int, int, int] | None = None
    for across in range(1, min(rows, grid.x) + 1):
        down = -(-rows // across)
        for width in range(1, grid.x // across + 1):
            for height in range(1, grid.y // down + 1):
                if width * height > TILE:
                    break
                candidate = (-(-tiles // (width * height)), width * height, across, width, height)
                best = candidate if best is None else min(best, candidate)
    if best is None:
        return None
    per_core, _, across, width, height = best
    corners = [(row % across * width, row // across * height) for row in range(rows)]
    return Placement([Rectangle(x, y, width, height) for x, y in corners], per_core)


def norm_tables(env: LayerEnv, gamma: torch.Tensor) -> Any:
    """What the kernels take for gamma, [1, 1, 32, hidden]: gamma, 15 rows of ones for the sums, 16 of zeros."""
    rows = torch.zeros(1, 1, TILE, len(gamma))
    rows[..., 0, :] = gamma
    rows[..., 1 : TILE // 2, :] = 1
    return to_device(env.ttnn, env.device, rows, "bf16")


@dataclass(frozen=True)
class NormResidualOptions(OpGraphOptions):
    """chain: the last add of a layer also makes the input norm of the next, which then has none of its own."""

    chain: bool = False


@dataclass(frozen=True)
class Ahead:
    """The input norm of a layer, made by the layer before: of that very `x`, unchanged since."""

    layer: int
    x: Any
    h: Any


class NormResidual(OpGraph):
    """Norms with the sums of squares exchanged between the cores of a tile row."""

    Options = NormResidualOptions

    def __init__(self, env: LayerEnv, options: NormResidualOptions) -> None:
        super().__init__(env, options)
        rows, tiles = env.shape.tokens // TILE, env.shape.hidden // TILE
        placement = place(self.grid, rows, tiles)
        if placement is None:
            raise UsageError(f"{rows} tile rows do not fit a grid of {self.grid.x}x{self.grid.y} cores")
        self.placement = placement
        if (need := sum(cb.bytes for cb in self._cbs())) > CB_BUDGET:
            raise UsageError(
                f"hidden {env.shape.hidden} at {env.shape.tokens} tokens puts {placement.tiles_per_core} tiles of a "
                f"norm on a core; they take {need} B of its L1, and at most {CB_BUDGET} B fit"
            )
        self.norms: dict[bool, Program] = {}  # by whether there is a residual
        self.chain = options.chain
        self.ahead: Ahead | None = None

    def _plain_weights(self) -> list[str]:
        return [name for name in super()._plain_weights() if name not in ("norm1", "norm2")]

    def prepare(self, i: int, weights: LayerWeights) -> None:
        super().prepare(i, weights)
        for name in ("norm1", "norm2"):
            self.weights[i][name] = norm_tables(self.env, getattr(weights, name))

    def _input_norm(self, i: int, x: Any) -> Any:
        ahead, self.ahead = self.ahead, None
        if ahead and ahead.layer == i and ahead.x is x:
            return ahead.h
        gamma = self.weights[i]["norm1"]
        h = empty_tile_tensor(self.env.ttnn, self.env.device, x.shape)
        addresses = [t.buffer_address() for t in (x, x, gamma)]
        return self._norm_program(False, x, gamma).launch([x, gamma, h], addresses, [h.buffer_address()] * 2)

    def _after_attention(self, i: int, x: Any, o: Any) -> tuple[Any, Any]:
        w = self.weights[i]
        o2 = self._linear(o, w["wo"], "wo")
        x1, h2 = self._residual_norm(x, o2, w["norm2"])
        self.env.ttnn.deallocate(o2)
        return x1, h2

    def _residual_norm(self, x: Any, o: Any, gamma: Any) -> tuple[Any, Any]:
        x1, h = (empty_tile_tensor(self.env.ttnn, self.env.device, x.shape) for _ in range(2))
        reads, writes = [t.buffer_address() for t in (x, o, gamma)], [t.buffer_address() for t in (x1, h)]
        self._norm_program(True, x, gamma).launch([x, o, gamma, x1, h], reads, writes)
        return x1, h

    def _last_add(self, i: int, x1: Any, down: Any) -> Any:
        if not self.chain or i + 1 not in self.weights:
            return super()._last_add(i, x1, down)
        x2, h = self._residual_norm(x1, down, self.weights[i + 1]["norm1"])
        self.ahead = Ahead(i + 1, x2, h)
        return x2

    @property
    def _cores_with_tiles(self) -> int:
        """Of a tile row."""
        return -(-(self.env.shape.hidden // TILE) // self.placement.tiles_per_core)

    def _cbs(self) -> list[Cb]:
        n = self.placement.tiles_per_core
        return [
            *buffers("bf16", {0: n, 1: n, 2: n, 4: n, 5: n, 16: n}),
            *buffers("fp32", {6: 1, 7: 1, 8: 1, 9: 1, 10: 1, 11: n}),
        ]

    def _norm_program(self, residual: bool, x: Any, gamma: Any) -> Program:
        if residual not in self.norms:
            self.norms[residual] = self._build_norm(residual, x, gamma)
        return self.norms[residual]

    def _build_norm(self, residual: bool, x: Any, gamma: Any) -> Program:
        ttnn, s, rectangles = self.env.ttnn, self.env.shape, self.placement.rectangles
        width, per_core = s.hidden // TILE, self.placement.tiles_per_core
        reader: dict[Core, list[int]] = {}
        compute: dict[Core, list[int]] = {}
        writer: dict[Core, list[int]] = {}
        for row, rectangle in enumerate(rectangles):
            everyone = [*self._noc(rectangle.cores[0]), *self._noc(rectangle.last), len(rectangle.cores) - 1]
            for slot, core in enumerate(rectangle.cores):
                column = min(slot * per_core, width)
                n = min(per_core, width - column)
                first = row * width + column
                reader[core] = [first, column, n, slot, *everyone]
                compute[core] = [n, int(slot == 0)]
                writer[core] = [first, n]
        return Program(
            ttnn,
            "norm_residual",
            [
                Team(
                    rectangles,
                    self._cbs(),
                    Kernel([int(residual), self._cores_with_tiles, *accessor_args(ttnn, x, x, gamma)], reader),
                    Kernel([int(residual), fp32_bits(1 / s.hidden), fp32_bits(s.rms_eps)], compute),
                    Kernel([int(residual), *accessor_args(ttnn, x, x)], writer),
                )
            ],
            semaphores=2,
        )
