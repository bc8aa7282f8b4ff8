"""How fast the emulator runs kernels: [64, 1536] @ [1536, 4096] in bfp8 at HiFi2 on 64 cores, 12,288 tile products.

``python -m benchmarks.emulated_matmul`` prints seconds of the first (compiling) and of three more runs.
"""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import torch

from harness.emulator import programs, ttnn
from tests.emulator.build import Builder

RT, CT, KT, CORES = 2, 2, 48, 64


def make(b: Builder) -> tuple[list[Any], Any]:
    """The tensors in0, in1, out, and the program."""
    rt, ct, kt = RT, CT, KT
    x, w = b.tensor(torch.randn(1, 1, 64, 1536)), b.tensor(torch.randn(1, 1, 1536, 4096), "bfloat8_b")
    out, grid = b.empty((1, 1, 64, 4096)), b.grid(8, 8)
    kernels = [
        b.kernel("matmul_reader.cpp", "reader", grid, [rt, ct, kt, 128, *b.accessors(x, w)],
                 lambda cx, cy: [x.buffer_address(), w.buffer_address(), (cy * 8 + cx) * ct]),
        b.kernel("matmul_writer.cpp", "writer", grid, [rt, ct, 128, *b.accessors(out)],
                 lambda cx, cy: [out.buffer_address(), (cy * 8 + cx) * ct]),
        b.kernel("matmul.cpp", "compute", grid, [rt, ct, kt, 0], math_fidelity=b.ttnn.MathFidelity.HiFi2),
    ]  # fmt: skip
    cbs = [b.cb(0, grid, rt * kt), b.cb(1, grid, kt * ct, "bfloat8_b"), b.cb(2, grid, rt * ct)]
    return [x, w, out], b.program(kernels, cbs)


def main() -> None:
    b = Builder(SimpleNamespace(**{**vars(ttnn), **vars(programs)}), ttnn.open_device(device_id=0))
    tensors, program = make(b)
    for _ in range(4):
        start = time.perf_counter()
        programs.generic_op(tensors, program)
        print(f"{time.perf_counter() - start:.2f} s")
    in0, in1, got = (ttnn.to_torch(t).float() for t in tensors)
    print("PCC", float(torch.corrcoef(torch.stack([got.flatten(), (in0 @ in1).flatten()]))[0, 1]), "on", CORES, "cores")


if __name__ == "__main__":
    main()
