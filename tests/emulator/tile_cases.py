"""Tile operations as a compute kernel writes them, each with the calls of the tile core that model it.

The same table serves the recorder, which runs the kernels on the real ttnn, and the tests, which run the core.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from tests.emulator.tile_core import Core, Dest, Format

F32, BF16, BFP8, BFP4 = Format.Float32, Format.Float16_b, Format.Bfp8_b, Format.Bfp4_b
I32, U32, U16 = Format.Int32, Format.UInt32, Format.UInt16

TILES = 4  # output tiles of a case: ordinary, wide, extreme and special values
SIZE = {F32: 4096, I32: 4096, U32: 4096, BF16: 2048, U16: 2048, BFP8: 1088, BFP4: 576}

Model = Callable[[Core, "Case", list[np.ndarray], list[np.ndarray]], np.ndarray]


@dataclass
class Case:
    """One kernel. `init` and `body` are C++; inputs are circular buffers 0 and 1, the output is 2.

    `per` input tiles of each operand make one output tile. `model` returns the packed bytes of one output tile.
    """

    name: str
    model: Model
    init: str
    body: str
    in0: Format = BF16
    in1: Format = BF16
    out: Format = BF16
    wide: bool = False
    fidelity: int = 4
    approx: bool = False
    precise: bool = False
    to_dest: bool = False
    per: int = 1
    reverse: bool = False
    scalers: tuple[float, ...] = ()  # in1 is a scaler tile of these values in turn
    faces: tuple[int, ...] = (0, 1, 2, 3)  # the others hold intermediate values and do not count

    def inputs(self) -> tuple[list[np.ndarray], list[np.ndarray]]:
        n = TILES * self.per
        first = [tile_bytes(self.in0, i // self.per % TILES, 2 * i) for i in range(n)]
        if self.scalers:
            return first, [scaler_bytes(self.in1, self.scalers[i % len(self.scalers)]) for i in range(n)]
        return first, [tile_bytes(self.in1, i // self.per % TILES, 2 * i + 1) for i in range(n)]

    def run(self, core: Core) -> np.ndarray:
        """All output tiles by the tile core, as uint8[TILES, bytes]."""
        a, b = self.inputs()
        p = self.per
        return self.counted(
            np.stack([self.model(core, self, a[i : i + p], b[i : i + p]) for i in range(0, TILES * p, p)])
        )

    def counted(self, tiles: np.ndarray) -> np.ndarray:
        """The tiles with zeros in the faces that do not count."""
        if len(self.faces) == 4:
            return tiles
        split = tiles.reshape(TILES, 4, -1).copy()
        split[:, [f for f in range(4) if f not in self.faces]] = 0
        return split.reshape(tiles.shape)


# -- inputs, from integers of a seeded generator so that every machine makes the same


def _bf16_bits(kind: int, rng: np.random.Generator) -> np.ndarray:
    """1024 bf16 patterns with 16 further bits below, as uint32."""
    sign = rng.integers(0, 2, 1024).astype(np.uint32) << 31
    fraction = rng.integers(0, 1 << 23, 1024).astype(np.uint32)
    spread = {0: (121, 129), 1: (100, 150), 2: (0, 256), 3: (121, 129)}[kind]
    bits = sign | rng.integers(*spread, 1024).astype(np.uint32) << 23 | fraction
    if kind == 3:
        special = np.array(
            [0, 1 << 31, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC10000, 0x00010000, 0x807F0000, 0x00800000,
             0x7F7FFFFF, 0xFF7F0000, 0x3F800000, 0xBF800000, 0x43000000, 0xC2B10000, 0x42B20000], np.uint32
        )  # fmt: skip
        where = rng.integers(0, 3, 1024) == 0
        bits = np.where(where, special[rng.integers(0, len(special), 1024)], bits)
    return bits


def tile_bytes(fmt: Format, kind: int, seed: int) -> np.ndarray:
    """One tile of a format in device bytes; kind 0 ordinary, 1 wide exponents, 2 any pattern, 3 with specials."""
    rng = np.random.default_rng([int(fmt), kind, seed])
    if fmt == F32:
        return _bf16_bits(kind, rng).view(np.uint8)
    if fmt == BF16:
        return (_bf16_bits(kind, rng) >> 16).astype(np.uint16).view(np.uint8)
    if fmt in (BFP8, BFP4):
        low, high = {0: (124, 130), 1: (105, 150), 2: (0, 256), 3: (0, 140)}[kind]
        exponents = rng.integers(low, high, 64).astype(np.uint8)
        data = rng.integers(0, 256, SIZE[fmt] - 64).astype(np.uint8)
        if kind < 2:  # without negative zeros, which are infinite
            for mask, zero in ((0xFF, 0x80),) if fmt == BFP8 else ((0x0F, 0x08), (0xF0, 0x80)):
                data[(data & mask) == zero] &= 0xFF ^ mask
        return np.concatenate([exponents, data])
    width = 16 if fmt == U16 else 32
    values = rng.integers(0, 1 << [7, width // 2, width, width][kind], 1024).astype(np.uint64)
    if kind == 3:
        edges = np.array([0, 1, (1 << width) - 1, 1 << (width - 1), (1 << (width - 1)) - 1, 65535, 65536], np.uint64)
        values = np.where(rng.integers(0, 2, 1024) == 0, edges[rng.integers(0, 7, 1024)] % (1 << width), values)
    return values.astype(np.uint16 if fmt == U16 else np.uint32).view(np.uint8)


def scaler_bytes(fmt: Format, value: float) -> np.ndarray:
    """A scaler tile: row 0 of every face holds the value."""
    words = np.zeros((4, 16, 16), np.uint32)
    words[:, 0] = struct.unpack("<I", struct.pack("<f", value))[0]
    return (words.view(np.uint8) if fmt == F32 else (words >> 16).astype(np.uint16).view(np.uint8)).reshape(-1)


# -- models


def _load(core: Core, case: Case, data: np.ndarray) -> Dest:
    """copy_tile of circular buffer 0 (or whatever format `data` has) to a fresh slot of DEST."""
    dest = Dest()
    if case.in0 in (I32, U32) or case.to_dest:
        core.unpack_to_dest(dest, data)
    else:
        core.copy(dest, core.unpack(data, case.in0, case.wide), case.in0, case.wide)
    return dest


def _store(core: Core, case: Case, dest: Dest, mask: int = 0) -> np.ndarray:
    return core.pack(dest, case.wide, case.out, mask, case.precise)


def unary(call: Callable[[Core, Dest, bool], None]) -> Model:
    def model(core: Core, case: Case, a: list[np.ndarray], b: list[np.ndarray]) -> np.ndarray:
        dest = _load(core, case, a[0])
        call(core, dest, case.wide)
        return _store(core, case, dest)

    return model


def matmul(transposed: bool) -> Model:
    def model(core: Core, case: Case, a: list[np.ndarray], b: list[np.ndarray]) -> np.ndarray:
        dest = Dest()
        for x, y in zip(a, b, strict=True):
            in0, in1 = core.unpack(x, case.in0, case.wide), core.unpack(y, case.in1, case.wide)
            if transposed:
                core.transpose(in1)
            core.matmul(dest, in0, in1, case.fidelity, case.wide)
        return _store(core, case, dest)

    return model


def binary(op: int, broadcast: int) -> Model:
    def model(core: Core, case: Case, a: list[np.ndarray], b: list[np.ndarray]) -> np.ndarray:
        dest = Dest()
        x, y = core.unpack(a[0], case.in0, case.wide), core.unpack(b[0], case.in1, case.wide)
        core.binary(op, dest, x, y, case.wide, case.fidelity, broadcast)
        return _store(core, case, dest)

    return model


def accumulated(core: Core, case: Case, a: list[np.ndarray], b: list[np.ndarray]) -> np.ndarray:
    dest = Dest()
    for x, y in zip(a, b, strict=True):
        u, v = core.unpack(x, case.in0, case.wide), core.unpack(y, case.in1, case.wide)
        core.binary(0, dest, u, v, case.wide, accumulate=True)
    return _store(core, case, dest)


def reuse(op: int, side: int) -> Model:
    def model(core: Core, case: Case, a: list[np.ndarray], b: list[np.ndarray]) -> np.ndarray:
        dest = _load(core, case, a[0])
        other = core.unpack(b[0], case.in1, case.wide)
        fmt = core.src_format(case.in1, case.wide)
        core.binary_reuse(op, dest, other, fmt, side, case.wide, case.fidelity)
        return _store(core, case, dest)

    return model


def reduction(pool: int, dim: int) -> Model:
    def model(core: Core, case: Case, a: list[np.ndarray], b: list[np.ndarray]) -> np.ndarray:
        dest = Dest()
        for x, y in zip(a, b, strict=True):
            data, scaler = core.unpack(x, case.in0, case.wide), core.unpack(y, case.in1, case.wide)
            fmt = core.src_format(case.in1, case.wide)
            core.reduce(pool, dim, dest, data, scaler, fmt, case.wide, case.fidelity)
        return _store(core, case, dest, mask=1 + dim)

    return model


def transposition(core: Core, case: Case, a: list[np.ndarray], b: list[np.ndarray]) -> np.ndarray:
    if case.to_dest or case.in0 in (I32, U32):
        dest = _load(core, case, a[0])
        core.transpose(dest.word)
        return _store(core, case, dest)
    words = core.unpack(a[0], case.in0, case.wide)
    core.transpose(words)
    dest = Dest()
    core.copy(dest, words, case.in0, case.wide)
    return _store(core, case, dest)


def spread(broadcast: int) -> Model:
    def model(core: Core, case: Case, a: list[np.ndarray], b: list[np.ndarray]) -> np.ndarray:
        dest = Dest()
        core.copy(dest, core.unpack(a[0], case.in0, case.wide), case.in0, case.wide, broadcast)
        return _store(core, case, dest)

    return model


def pair(op: int) -> Model:
    def model(core: Core, case: Case, a: list[np.ndarray], b: list[np.ndarray]) -> np.ndarray:
        dest, other = _load(core, case, a[0]), _load(core, case, b[0])
        core.sfpu_binary(op, dest, other, case.wide)
        return _store(core, case, dest)

    return model


def l1_sum(core: Core, case: Case, a: list[np.ndarray], b: list[np.ndarray]) -> np.ndarray:
    first, second = _load(core, case, a[0]), _load(core, case, b[0])
    return core.pack(second, case.wide, case.out, onto=_store(core, case, first))


# -- the table

COPY = ("copy_init(0);", "copy_tile(0, 0, 0);")
WIDTHS = ((False, "16"), (True, "32"))


def _bits(x: float) -> str:
    return f"0x{struct.unpack('<I', struct.pack('<f', x))[0]:08x}u"


def _cases() -> Iterator[Case]:
    yield from _formats()
    for wide, w in WIDTHS:
        fp = {"wide": wide, "out": F32 if wide else BF16}
        yield from _matmuls(wide, w)
        yield from _binaries(wide, w, fp)
        yield from _reductions(wide, w, fp)
        yield from _sfpu(wide, w, fp)
    yield from _typecasts()


def _formats() -> Iterator[Case]:
    copy = unary(lambda core, dest, wide: None)
    for fmt in (BF16, F32, BFP8, BFP4):
        for out in (BF16, F32, BFP8, BFP4):
            for wide, w in WIDTHS:
                yield Case(f"copy{w}_{fmt.name}_{out.name}", copy, *COPY, in0=fmt, out=out, wide=wide)
    for out in (BF16, F32, BFP8, BFP4):
        yield Case(f"copy_to_dest_{out.name}", copy, *COPY, in0=F32, out=out, wide=True, to_dest=True)
    for out in (BFP8, BFP4):
        yield Case(f"copy_precise16_{out.name}", copy, *COPY, out=out, precise=True)
        yield Case(f"copy_precise32_{out.name}", copy, *COPY, in0=F32, out=out, wide=True, to_dest=True, precise=True)
    for fmt in (I32, U32):
        yield Case(f"copy_{fmt.name}", copy, *COPY, in0=fmt, out=fmt, wide=True)
    yield Case("copy16_UInt16", copy, *COPY, in0=U16, out=U16)
    turn = ("transpose_init(0);", "transpose_tile(0, 0, 0);")
    yield Case("transpose16", transposition, *turn)
    yield Case("transpose16_Bfp8", transposition, *turn, in0=BFP8)
    yield Case("transpose32", transposition, *turn, out=F32, wide=True)
    yield Case("transpose_to_dest", transposition, *turn, in0=F32, out=F32, wide=True, to_dest=True)
    for i, name in ((1, "ROW"), (2, "COL"), (3, "SCALAR")):
        lines = (f"unary_bcast_init<BroadcastType::{name}>(0);", f"unary_bcast<BroadcastType::{name}>(0, 0, 0);")
        yield Case(f"unary_bcast16_{name}", spread(i), *lines)
    for out, wide in ((BF16, False), (F32, True), (BF16, True)):
        body = (
            "copy_tile(0, 0, 0); tile_regs_commit(); tile_regs_wait(); pack_reconfig_l1_acc(0);"
            " pack_tile<true>(0, 2, 0); tile_regs_release(); tile_regs_acquire(); copy_init(1); copy_tile(1, 0, 0);"
            " copy_init(0); PACK((llk_pack_reconfig_l1_acc(1)));"
        )
        name = f"l1_acc{'32' if wide else '16'}_{out.name}"
        yield Case(name, l1_sum, COPY[0], body, out=out, wide=wide)


def _matmuls(wide: bool, w: str) -> Iterator[Case]:
    lines = ("matmul_init(0, 1);", "for (uint32_t k = 0; k < PER; ++k) matmul_tiles(0, 1, k, k, 0);")
    fp = {"wide": wide, "out": F32 if wide else BF16, "reverse": True}
    for f in (1, 2, 3, 4):
        yield Case(f"matmul{w}_{f}", matmul(False), *lines, fidelity=f, **fp)
    yield Case(f"matmul{w}_long", matmul(False), *lines, fidelity=2, per=3, **fp)
    yield Case(f"matmul{w}_Bfp8", matmul(False), *lines, in1=BFP8, fidelity=2, **fp)
    yield Case(f"matmul{w}_Bfp4", matmul(False), *lines, in0=BFP8, in1=BFP4, fidelity=1, **fp)
    yield Case(f"matmul{w}_Float32", matmul(False), *lines, in0=F32, in1=F32, **fp)
    turned = ("matmul_init(0, 1, 1);", lines[1])
    yield Case(f"matmul{w}_transposed", matmul(True), *turned, fidelity=2, **fp)


def _binaries(wide: bool, w: str, fp: dict) -> Iterator[Case]:
    for op, name in enumerate(("add", "sub", "mul")):
        init, call = f"{name}_init(0, 1);", f"{name}_tiles(0, 1, 0, 0, 0);"
        for f in (1, 2, 3, 4) if name == "mul" else (4,):
            yield Case(f"{name}{w}_{f}", binary(op, 0), init, call, fidelity=f, **fp)
        yield Case(f"{name}{w}_Float32", binary(op, 0), init, call, in0=F32, in1=F32, **fp)
        yield Case(f"{name}{w}_Bfp8", binary(op, 0), init, call, in0=BFP8, in1=BF16, **fp)
        for i, b in enumerate(("rows", "cols", "scalar"), 1):
            short = f"{name}_bcast_{b}_init(0, 1);"
            yield Case(f"{name}{w}_{b}", binary(op, i), short, f"{name}_tiles_bcast_{b}(0, 1, 0, 0, 0);", **fp)
        for side, reg in enumerate("AB"):
            kind = f"EltwiseBinaryReuseDestType::DEST_TO_SRC{reg}"
            body = (
                f"copy_init(0); copy_tile(0, 0, 0); {name}_reuse_dest_init<{kind}>(1);"
                f" {name}_reuse_dest_tiles<{kind}>(1, 0, 0);"
            )
            yield Case(f"{name}{w}_reuse{reg}", reuse(op, side), "", body, **fp)
            if wide:
                yield Case(f"{name}{w}_reuse{reg}_Float32", reuse(op, side), "", body, in0=F32, in1=F32, **fp)
    body = "for (uint32_t k = 0; k < PER; ++k) add_tiles(0, 1, k, k, 0);"
    yield Case(f"add{w}_accumulated", accumulated, "add_init(0, 1, true);", body, per=3, **fp)


def _reductions(wide: bool, w: str, fp: dict) -> Iterator[Case]:
    for pool, p in ((0, "SUM"), (2, "MAX")):
        for dim, d in enumerate(("ROW", "COL", "SCALAR")):
            kind = f"<PoolType::{p}, ReduceDim::REDUCE_{d}>"
            swap = "reconfig_data_format(1, 0);" if p == "SUM" and d == "ROW" else ""
            init = f"{swap} reduce_init{kind}(0, 1, 2);"
            body = f"for (uint32_t k = 0; k < PER; ++k) reduce_tile{kind}(0, 1, k, k, 0);"
            name = f"reduce{w}_{p}_{d}"
            if p == "MAX":  # whose scaler must be 1
                yield Case(name, reduction(pool, dim), init, body, per=2, scalers=(1.0,), **fp)
                continue
            common = {"scalers": (1.0, 1 / 32, 0.7890625, 1.0), **fp}
            for f in (1, 2, 4):
                yield Case(f"{name}_{f}", reduction(pool, dim), init, body, fidelity=f, per=2, **common)
            if wide:
                yield Case(f"{name}_Float32", reduction(pool, dim), init, body, in0=F32, in1=F32, **common)


def _sfpu(wide: bool, w: str, fp: dict) -> Iterator[Case]:
    def one(name: str, init: str, call: str, op: str, approx: int = 0, scalar: float = 1.0, mode: bool = False) -> Case:
        model = unary(lambda core, dest, wide: core.sfpu(op, dest, wide, approx, scalar))
        from_fp32 = {"in0": F32, "to_dest": True} if wide else {}
        return Case(f"{name}{w}", model, f"{COPY[0]} {init}", f"{COPY[1]} {call}", approx=mode, **from_fp32, **fp)

    yield one("exp", "exp_tile_init();", "exp_tile(0);", "exp")
    scaled = "exp_tile<false, true>(0, VectorMode::RC, 0x3f00);"
    if wide:
        yield one("exp_scaled", "exp_tile_init();", scaled, "exp", scalar=0.5)
    yield one("exp_approx", "exp_tile_init<true>();", "exp_tile<true>(0);", "exp", 1)
    loose = (
        "exp_tile_init<true, 0x3F800000, InputClamping::None>();",
        "exp_tile<true, false, InputClamping::None>(0);",
    )
    yield one("exp_unclamped", *loose, "exp", 2)
    for mode in (False, True):
        suffix = "_approx" if mode else ""
        for op in ("recip", "sqrt", "rsqrt"):
            yield one(f"{op}{suffix}", f"{op}_tile_init();", f"{op}_tile(0);", op, int(mode), mode=mode)
    yield one("sigmoid", "sigmoid_tile_init();", "sigmoid_tile(0);", "sigmoid")
    quick = "sigmoid_tile<VectorMode::RC, true>(0);"
    yield one("sigmoid_approx", "sigmoid_tile_init<true>();", quick, "sigmoid", 1)
    for op in ("silu", "square", "abs", "negative", "relu"):
        yield one(op, f"{op}_tile_init();", f"{op}_tile(0);", op)
    yield one("fill", "fill_tile_init();", "fill_tile(0, 1.2345678f);", "fill", scalar=1.2345678)
    for op in ("add", "sub", "rsub", "mul"):
        init, scalar = "binop_with_scalar_tile_init();", 0.7391
        yield one(f"{op}_unary", init, f"{op}_unary_tile(0, {_bits(scalar)});", op, scalar=scalar)
    from_fp32 = {"in0": F32, "in1": F32, "to_dest": True} if wide else {}
    for i, op in enumerate(("add", "sub", "rsub", "mul", "div", "max", "min")):
        body = f"copy_init(0); copy_tile(0, 0, 0); copy_init(1); copy_tile(1, 0, 1); {op}_binary_tile(0, 1, 0);"
        call = body.replace("max_binary", "binary_max").replace("min_binary", "binary_min")
        init = f"{op}_binary_tile_init();".replace("max_binary", "binary_max").replace("min_binary", "binary_min")
        yield Case(f"{op}_binary{w}", pair(i), init, call, **from_fp32, **fp)
    fmt = "DataFormat::Float32" if wide else "DataFormat::Float16_b"
    for pool, p in enumerate(("SUM", "AVG", "MAX")):
        for dim, d in enumerate(("ROW", "COL")):
            if (p, d) == ("AVG", "ROW"):
                continue  # the compute API refuses it
            call = f"sfpu_reduce<PoolType::{p}, {fmt}, ReduceDim::REDUCE_{d}>(0);"
            init = f"sfpu_reduce_init<PoolType::{p}, {fmt}>();"

            def model(core, case, a, b, pool=pool, dim=dim):  # noqa: ANN001, ANN202
                dest = _load(core, case, a[0])
                core.sfpu_reduce(pool, dim, dest, case.wide)
                return _store(core, case, dest, mask=1 + dim)

            masked = f"PACK((llk_pack_reduce_mask_config<ReduceDim::REDUCE_{d}, PackMode::Default>(2)));"
            src = {"in0": F32, "to_dest": True} if wide else {}
            src["faces"] = (0, 2) if d == "ROW" else (0, 1)
            yield Case(f"sfpu_reduce{w}_{p}_{d}", model, f"{COPY[0]} {init} {masked}", f"{COPY[1]} {call}", **src, **fp)


def _typecasts() -> Iterator[Case]:
    wide_pairs = [(F32, U16), (F32, I32), (F32, U32), (F32, BF16), (I32, F32), (I32, BF16), (U32, F32), (U32, BF16)]
    wide_pairs += [(U16, F32), (U16, U32), (U32, U16), (I32, U16)]
    narrow_pairs = [(BF16, U16), (U16, BF16)]
    for wide, pairs in ((True, wide_pairs), (False, narrow_pairs)):
        for source, target in pairs:
            model = unary(lambda core, dest, wide, s=source, t=target: core.typecast(dest, wide, s, t))
            kind = f"<{int(source)}, {int(target)}>"
            lines = (f"{COPY[0]} typecast_tile_init{kind}();", f"{COPY[1]} typecast_tile{kind}(0);")
            name = f"typecast{'32' if wide else '16'}_{source.name}_{target.name}"
            yield Case(name, model, *lines, in0=source, out=target, wide=wide, to_dest=wide and source == F32)


CASES: dict[str, Case] = {c.name: c for c in _cases()}
