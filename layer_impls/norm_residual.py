"""The op graph with both norms of the layer, and the residual add before the second, in one kernel each.

Replaces     rms_norm (input norm); add + rms_norm (after the attention): 19 ops become 18
Core map     a rectangle of cores for each tile row, a core for each tile or each few tiles: 2 x 48 at the real shape
             (on an 11 x 10 grid 2 more take part in the multicast of a rectangle); the first core of a rectangle leads
us a call    about 6.5 (predicted arithmetic, not measured: launch 2, one read 0.5, exchange 1.5, compute and write 2.5)
Chain        chain=true: the last add of layer i is the same kernel, with the gamma of layer i + 1, which takes it
             if given that very tensor; layers in a row have 17 ops each
Limits       all tiles of a core stay in its L1: hidden up to 54,400 at 128 tokens on an 11 x 10 grid

CBs of a core that holds n tiles (indices as in kernels/norm_residual/cbs.h)
    0  x              bf16  n         6  squares          fp32  n        11  x1 * gamma       fp32  n
    1  o              bf16  n         7  own sums         fp32  1        16  norm             bf16  n
    2  gamma          bf16  n         8  gathered sums    fp32  1 for each 32 cores of a tile row
    3  ones           bf16  1         9  1 / rms, a row   fp32  1
    4  x1 for norm    bf16  n        10  1 / rms, column  fp32  1
    5  x1 to write    bf16  n
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from harness.errors import UsageError
from harness.implementation import LayerEnv
from harness.shape import TILE
from layer_impls._program import (
    CB_BUDGET,
    Cb,
    Core,
    Kernel,
    Program,
    Rectangle,
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
    """`rows` tile rows of `tiles` tiles on a grid: fewest tiles a core, then fewest cores. None if they do not fit."""
    best: tuple[int, int, int, int, int] | None = None
    for across in range(1, min(rows, grid.x) + 1):
        down = -(-rows // across)
        for width in range(1, grid.x // across + 1):
            for height in range(1, grid.y // down + 1):
                candidate = (-(-tiles // (width * height)), width * height, across, width, height)
                best = candidate if best is None else min(best, candidate)
    if best is None:
        return None
    per_core, _, across, width, height = best
    corners = [(row % across * width, row // across * height) for row in range(rows)]
    return Placement([Rectangle(x, y, width, height) for x, y in corners], per_core)


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

    @property
    def _gather_tiles(self) -> int:
        """A row of such a tile holds the sums of one core."""
        return -(-self._cores_with_tiles // TILE)

    def _cbs(self) -> list[Cb]:
        n = self.placement.tiles_per_core
        return [
            *buffers("bf16", {0: n, 1: n, 2: n, 3: 1, 4: n, 5: n, 16: n}),
            *buffers("fp32", {6: n, 7: 1, 8: self._gather_tiles, 9: 1, 10: 1, 11: n}),
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
            corners = [*self._noc(rectangle.cores[0]), *self._noc(rectangle.last)]
            for slot, core in enumerate(rectangle.cores):
                column = min(slot * per_core, width)
                n = min(per_core, width - column)
                first = row * width + column
                reader[core] = [first, column, n, slot, *corners]
                compute[core] = [n, int(slot == 0)]
                writer[core] = [first, n]
        area = rectangles[0].width * rectangles[0].height
        gather = self._gather_tiles
        return Program(
            ttnn,
            "norm_residual",
            rectangles,
            self._cbs(),
            Kernel([int(residual), self._cores_with_tiles, area, gather, *accessor_args(ttnn, x, x, gamma)], reader),
            Kernel([int(residual), fp32_bits(1 / s.hidden), fp32_bits(s.rms_eps), gather], compute),
            Kernel([int(residual), *accessor_args(ttnn, x, x)], writer),
            semaphores=2,
        )

    def _noc(self, core: Core) -> tuple[int, int]:
        """NoC coordinates of a worker core."""
        noc = self.env.device.worker_core_from_logical_core(self.env.ttnn.CoreCoord(*core))
        return noc.x, noc.y
