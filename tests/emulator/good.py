"""Good programs: what an author writes, none of them to be flagged. Each returns its output, given a Builder."""

from __future__ import annotations

import struct
from collections.abc import Callable

import torch

from tests.emulator.build import Builder

SHAPE = (1, 1, 64, 128)
N_TILES = 8
ORDER = (3, 0, 7, 1, 6, 2, 5, 4)  # where each tile goes


def values(seed: int, shape: tuple[int, ...] = SHAPE, scale: float = 1.0) -> torch.Tensor:
    """Random bf16 values."""
    generator = torch.Generator().manual_seed(seed)
    return (torch.randn(shape, generator=generator) * scale).bfloat16()


def copy(b: Builder, block: int = 2, cores: int = 2) -> torch.Tensor:
    """out = a, reader and writer only."""
    a, out, grid = b.tensor(values(1)), b.empty(SHAPE), b.grid(cores)
    each = N_TILES // cores
    kernels = [
        b.kernel(
            "reader.cpp",
            "reader",
            grid,
            [1, block, *b.accessors(a)],
            lambda x, y: [a.buffer_address(), 0, x * each, each],
        ),
        b.kernel(
            "writer.cpp",
            "writer",
            grid,
            [0, block, *b.accessors(out)],
            lambda x, y: [out.buffer_address(), x * each, each],
        ),
    ]
    return b.run([a, out], b.program(kernels, [b.cb(0, grid, 2 * block)]))


def binary(
    b: Builder,
    name: str = "mul",
    broadcast: str = "",
    dtypes: tuple[str, str, str] = ("bfloat16",) * 3,
    **compute: object,
) -> torch.Tensor:
    """out = a op b on two cores."""
    block, cores = 2, 2
    x, y, out = b.tensor(values(1), dtypes[0]), b.tensor(values(2), dtypes[1]), b.empty(SHAPE, dtypes[2])
    grid, each = b.grid(cores), N_TILES // cores
    init = f"{name}_bcast_{broadcast}_init" if broadcast else f"{name}_init"
    tiles = f"{name}_tiles_bcast_{broadcast}" if broadcast else f"{name}_tiles"
    kernels = [
        b.kernel("reader.cpp", "reader", grid, [2, block, *b.accessors(x, y)],
                 lambda cx, _: [x.buffer_address(), y.buffer_address(), cx * each, each]),
        b.kernel("writer.cpp", "writer", grid, [2, block, *b.accessors(out)],
                 lambda cx, _: [out.buffer_address(), cx * each, each]),
        b.kernel("elementwise.cpp", "compute", grid, [block], lambda cx, _: [each],
                 defines={"INIT": init, "TILES": tiles}, **compute),
    ]  # fmt: skip
    cbs = [b.cb(i, grid, 2 * block, d) for i, d in enumerate(dtypes)]
    return b.run([x, y, out], b.program(kernels, cbs))


def unary(b: Builder, sfpu: str = "", move: str = "copy", dtype: str = "bfloat16", **compute: object) -> torch.Tensor:
    """out = f(a) on one core."""
    a, out, grid = b.tensor(values(3).abs() + 0.5, dtype), b.empty(SHAPE, dtype), b.grid(1)
    scalar = "(dst, 0x3f000000)" if sfpu.endswith("_unary") else "(dst)"
    init = "binop_with_scalar" if sfpu.endswith("_unary") else sfpu
    defines = {
        "MOVE_INIT": f"{move}_init",
        "MOVE": f"{move}_tile",
        "SFPU_INIT": f"{init}_tile_init()" if sfpu else "",
        "SFPU(dst)": f"{sfpu}_tile{scalar}" if sfpu else "",
    }
    kernels = [
        b.kernel(
            "reader.cpp", "reader", grid, [1, 1, *b.accessors(a)], lambda x, y: [a.buffer_address(), 0, 0, N_TILES]
        ),
        b.kernel(
            "writer.cpp", "writer", grid, [2, 1, *b.accessors(out)], lambda x, y: [out.buffer_address(), 0, N_TILES]
        ),
        b.kernel("unary.cpp", "compute", grid, [], lambda x, y: [N_TILES], defines=defines, **compute),
    ]
    return b.run([a, out], b.program(kernels, [b.cb(0, grid, 2, dtype), b.cb(2, grid, 2, dtype)]))


def matmul(
    b: Builder, weights: str = "bfloat16", partials: bool = False, out_dtype: str = "bfloat16", **compute: object
) -> torch.Tensor:
    """out [64, 64] = in0 [64, 128] @ in1 [128, 64] on one core, as blocks of 2 x 2 tiles."""
    rt, ct, kt = 2, 2, 4
    in0, in1, out = (
        b.tensor(values(4)),
        b.tensor(values(5, (1, 1, 128, 64)), weights),
        b.empty((1, 1, 64, 64), out_dtype),
    )
    grid = b.grid(1)
    kernels = [
        b.kernel("reader.cpp", "reader", grid, [2, 8, *b.accessors(in0, in1)],
                 lambda x, y: [in0.buffer_address(), in1.buffer_address(), 0, 8]),
        b.kernel("writer.cpp", "writer", grid, [2, 4, *b.accessors(out)], lambda x, y: [out.buffer_address(), 0, 4]),
        b.kernel("matmul.cpp", "compute", grid, [rt, ct, kt, int(partials)], **compute),
    ]  # fmt: skip
    cbs = [b.cb(0, grid, 8), b.cb(1, grid, 8, weights), b.cb(2, grid, 4, out_dtype)]
    return b.run([in0, in1, out], b.program(kernels, cbs))


def norm(b: Builder) -> torch.Tensor:
    """Root mean square norm over rows of 128, statistics in fp32, one row of tiles a core."""
    width, cores = 4, 2
    a, out, grid = b.tensor(values(6)), b.empty(SHAPE), b.grid(cores)
    scaler = struct.unpack("<H", struct.pack("<f", 1 / 128)[2:])[0]
    eps = struct.unpack("<I", struct.pack("<f", 1e-6))[0]
    kernels = [
        b.kernel("norm_reader.cpp", "reader", grid, [width, scaler << 16 | scaler, *b.accessors(a)],
                 lambda x, y: [a.buffer_address(), x, 1]),
        b.kernel("writer.cpp", "writer", grid, [2, 1, *b.accessors(out)],
                 lambda x, y: [out.buffer_address(), x * width, width]),
        b.kernel("norm.cpp", "compute", grid, [width, eps], lambda x, y: [1], fp32_dest_acc_en=True),
    ]  # fmt: skip
    cbs = [
        b.cb(0, grid, width),
        b.cb(1, grid, 1),
        b.cb(2, grid),
        b.cb(3, grid, width, "float32"),
        b.cb(4, grid, 1, "float32"),
    ]
    return b.run([a, out], b.program(kernels, cbs))


def multicast(b: Builder, columns: int = 3, rows: int = 2, source: str = "multicast.cpp") -> torch.Tensor:
    """Every core but the first writes one of the tiles that the first multicasts; the first writes the rest."""
    n = N_TILES
    a, out, grid = b.tensor(values(7)), b.empty((1, columns * rows, 64, 128)), b.grid(columns, rows)
    first, last = b.noc(0, 0), b.noc(columns - 1, rows - 1)
    common = [a.buffer_address(), columns * rows - 1, *first, *last, *first]
    kernels = [
        b.kernel(source, "reader", grid, [n, *b.accessors(a)], common=common),
        b.kernel("writer.cpp", "writer", grid, [0, 1, *b.accessors(out)],
                 lambda x, y: [out.buffer_address(), (y * columns + x) * n, n]),
    ]  # fmt: skip
    return b.run([a, out], b.program(kernels, [b.cb(0, grid, 2)], [(0, grid, 0), (1, grid, 0)]))


def both_nocs(b: Builder, columns: int = 3, rows: int = 2) -> torch.Tensor:
    """The first core multicasts tiles over both NoCs, every core writes them."""
    n, cores = N_TILES, columns * rows
    a, out, grid = b.tensor(values(7)), b.empty((1, cores, 64, 128)), b.grid(columns, rows)
    common = [a.buffer_address(), out.buffer_address(), cores - 1, *b.noc(0, 0), *b.noc(columns - 1, rows - 1)]
    kernels = [
        b.kernel("both_nocs.cpp", role, grid, [n, *b.accessors(a, out)], lambda x, y: [(y * columns + x) * n], common)
        for role in ("reader", "writer")
    ]
    return b.run([a, out], b.program(kernels, [b.cb(0, grid, n)], [(0, grid, 0), (1, grid, 0)]))


def ring(b: Builder, cores: int = 4) -> torch.Tensor:
    """Tiles move one core to the right, through L1."""
    shape = (1, 1, 32, 32 * cores)
    a, out, grid = b.tensor(values(8, shape)), b.empty(shape), b.grid(cores)

    def runtime(x: int, y: int) -> list[int]:
        return [a.buffer_address(), x, *b.noc((x - 1) % cores, 0), *b.noc((x + 1) % cores, 0)]

    kernels = [
        b.kernel("ring.cpp", "reader", grid, b.accessors(a), runtime),
        b.kernel("writer.cpp", "writer", grid, [0, 1, *b.accessors(out)], lambda x, y: [out.buffer_address(), x, 1]),
    ]
    return b.run([a, out], b.program(kernels, [b.cb(0, grid, 1), b.cb(1, grid, 1)], [(0, grid, 0), (1, grid, 0)]))


def softmax(b: Builder) -> torch.Tensor:
    """Softmax over rows of 128, one row of tiles a core."""
    width, cores = 4, 2
    a, out, grid = b.tensor(values(9)), b.empty(SHAPE), b.grid(cores)
    kernels = [
        b.kernel("norm_reader.cpp", "reader", grid, [width, 0x3F803F80, *b.accessors(a)],
                 lambda x, y: [a.buffer_address(), x, 1]),
        b.kernel("writer.cpp", "writer", grid, [2, 1, *b.accessors(out)],
                 lambda x, y: [out.buffer_address(), x * width, width]),
        b.kernel("softmax.cpp", "compute", grid, [width], lambda x, y: [1]),
    ]  # fmt: skip
    pages = {0: width, 1: 1, 2: 2, 3: 1, 4: width, 5: 1}
    return b.run([a, out], b.program(kernels, [b.cb(i, grid, n) for i, n in pages.items()]))


def dest_reuse(b: Builder) -> torch.Tensor:
    """out = max((a + b) * a, b) on two cores."""
    cores = 2
    x, y, out, grid, each = b.tensor(values(1)), b.tensor(values(2)), b.empty(SHAPE), b.grid(cores), N_TILES // cores
    kernels = [
        b.kernel("reader.cpp", "reader", grid, [2, 1, *b.accessors(x, y)],
                 lambda cx, _: [x.buffer_address(), y.buffer_address(), cx * each, each]),
        b.kernel("writer.cpp", "writer", grid, [2, 1, *b.accessors(out)],
                 lambda cx, _: [out.buffer_address(), cx * each, each]),
        b.kernel("dest_reuse.cpp", "compute", grid, [], lambda cx, _: [each]),
    ]  # fmt: skip
    return b.run([x, y, out], b.program(kernels, [b.cb(i, grid) for i in range(3)]))


def scatter(b: Builder) -> torch.Tensor:
    """The tiles of a in the order that words in L1 tell all threads of the compute kernel."""
    where = torch.zeros((1, 1, 64, 128), dtype=torch.int32)
    for i, k in enumerate(ORDER):
        where[0, 0, i // 4 * 32, i % 4 * 32 + 3] = k
    a, order, out, grid = b.tensor(values(3)), b.tensor(where, "uint32"), b.empty(SHAPE), b.grid(1)
    kernels = [
        b.kernel("reader.cpp", "reader", grid, [2, N_TILES, *b.accessors(a, order)],
                 lambda x, y: [a.buffer_address(), order.buffer_address(), 0, N_TILES]),
        b.kernel("writer.cpp", "writer", grid, [2, N_TILES, *b.accessors(out)],
                 lambda x, y: [out.buffer_address(), 0, N_TILES]),
        b.kernel("scatter.cpp", "compute", grid, [], lambda x, y: [N_TILES]),
    ]  # fmt: skip
    cbs = [b.cb(0, grid, N_TILES), b.cb(1, grid, N_TILES, "uint32"), b.cb(2, grid, N_TILES)]
    return b.run([a, order, out], b.program(kernels, cbs))


def rounds(b: Builder, columns: int = 4, rows: int = 2, turns: int = 6) -> torch.Tensor:
    """Tiles move ``turns`` cores on, with all cores in step."""
    cores = columns * rows
    shape = (1, 1, 32, 32 * cores)
    a, out, grid = b.tensor(values(10, shape)), b.empty(shape), b.grid(columns, rows)
    common = [a.buffer_address(), *b.noc(0, 0), *b.noc(columns - 1, rows - 1), *b.noc(0, 0)]

    def runtime(x: int, y: int) -> list[int]:
        me = y * columns + x
        right = (me + 1) % cores
        return [me, *b.noc(right % columns, right // columns)]

    kernels = [
        b.kernel("rounds.cpp", "reader", grid, [turns, cores, *b.accessors(a)], runtime, common),
        b.kernel("first_of_two.cpp", "writer", grid, b.accessors(out),
                 lambda x, y: [out.buffer_address(), y * columns + x]),
    ]  # fmt: skip
    return b.run([a, out], b.program(kernels, [b.cb(0, grid, 2)], [(i, grid, 0) for i in range(3)]))


def endpoints(b: Builder) -> torch.Tensor:
    """(x, y) of the 8 banks, as each NoC finds them: [2, 8, 2]."""
    shape, grid = (1, 1, 32, 32), b.grid(1)
    zero, out = b.tensor(torch.zeros(shape, dtype=torch.int32), "uint32"), b.empty(shape, "uint32")
    kernel = b.kernel("endpoints.cpp", "reader", grid, b.accessors(out), None, [out.buffer_address()])
    nodes = b.run([zero, out], b.program([kernel], [b.cb(0, grid, 1, "uint32")])).flatten()[:16].to(torch.int64)
    return torch.stack([nodes % 64, nodes // 64], -1).view(2, 8, 2)


def arguments(b: Builder) -> torch.Tensor:
    """The words that kernels/arguments.cpp sees on two cores, the first of each page."""
    shape, grid = (1, 1, 32, 64), b.grid(2)
    zero, out = b.tensor(torch.zeros(shape, dtype=torch.int32), "uint32"), b.empty(shape, "uint32")
    kernel = b.kernel("arguments.cpp", "reader", grid, [11, *b.accessors(out)], lambda x, y: [22 + x, 33 + x],
                      [out.buffer_address(), 44], {"MARK": "7"}, {"other": 1, "answer": 42})  # fmt: skip
    program = b.program([kernel], [b.cb(0, grid, 3, "uint32")], [(0, grid, 5), (1, grid, 6)])
    page = b.run([zero, out], program)[0, 0, 0]
    return torch.stack([page[:11], page[32:43]]).to(torch.int64)


GOOD: dict[str, Callable[[Builder], torch.Tensor]] = {
    "arguments": arguments,
    "endpoints": endpoints,
    "copy": copy,
    "copy, one page": lambda b: copy(b, block=1, cores=4),
    "mul": binary,
    "mul LoFi": lambda b: binary(b, math_fidelity=b.ttnn.MathFidelity.LoFi),
    "mul fp32 dest": lambda b: binary(b, fp32_dest_acc_en=True, dtypes=("bfloat16", "bfloat16", "float32")),
    "add bfp8": lambda b: binary(b, "add", dtypes=("bfloat16", "bfloat8_b", "bfloat8_b")),
    "sub bcast cols": lambda b: binary(b, "sub", "cols"),
    "mul bcast rows": lambda b: binary(b, "mul", "rows"),
    "add bcast scalar": lambda b: binary(b, "add", "scalar"),
    "transpose": lambda b: unary(b, move="transpose"),
    **{f"sfpu {f}": (lambda b, f=f: unary(b, f)) for f in
       ("exp", "recip", "rsqrt", "sqrt", "silu", "sigmoid", "square", "negative", "mul_unary")},
    "sfpu exp fp32": lambda b: unary(b, "exp", dtype="float32", fp32_dest_acc_en=True),
    "matmul": matmul,
    "matmul bfp8 HiFi2": lambda b: matmul(b, "bfloat8_b", math_fidelity=b.ttnn.MathFidelity.HiFi2),
    "matmul bfp4, partial sums in L1": lambda b: matmul(b, "bfloat4_b", True, "float32", fp32_dest_acc_en=True),
    "norm": norm,
    "softmax": softmax,
    "dest reuse": dest_reuse,
    "scatter": scatter,
    "multicast": multicast,
    "multicast, object interface": lambda b: multicast(b, source="objects.cpp"),
    "multicast, both NoCs": both_nocs,
    "rounds": rounds,
    "ring": ring,
}  # fmt: skip
