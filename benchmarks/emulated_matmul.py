"""How fast the emulator runs kernels: [64, 1536] @ [1536, 4096] in bfp8 at HiFi2 on 64 cores, 12,288 tile products.

``python -m benchmarks.emulated_matmul`` prints seconds of the first (compiling) and of three more runs.
"""

from __future__ import annotations

import time
from types import SimpleNamespace

import torch

from harness.emulator import programs, ttnn
from tests.emulator.build import Builder


def main() -> None:
    rt, ct, kt, cores = 2, 2, 48, 64
    b = Builder(SimpleNamespace(**{**vars(ttnn), **vars(programs)}), ttnn.open_device(device_id=0))
    in0, in1 = torch.randn(1, 1, 64, 1536).bfloat16(), torch.randn(1, 1, 1536, 4096).bfloat16()
    x, w, out = b.tensor(in0), b.tensor(in1, "bfloat8_b"), b.empty((1, 1, 64, 4096))
    grid = b.grid(8, 8)
    kernels = [
        b.kernel("matmul_reader.cpp", "reader", grid, [rt, ct, kt, 128, *b.accessors(x, w)],
                 lambda cx, cy: [x.buffer_address(), w.buffer_address(), (cy * 8 + cx) * ct]),
        b.kernel("matmul_writer.cpp", "writer", grid, [rt, ct, 128, *b.accessors(out)],
                 lambda cx, cy: [out.buffer_address(), (cy * 8 + cx) * ct]),
        b.kernel("matmul.cpp", "compute", grid, [rt, ct, kt, 0], math_fidelity=b.ttnn.MathFidelity.HiFi2),
    ]  # fmt: skip
    cbs = [b.cb(0, grid, rt * kt), b.cb(1, grid, kt * ct, "bfloat8_b"), b.cb(2, grid, rt * ct)]
    program = b.program(kernels, cbs)
    for _ in range(4):
        start = time.perf_counter()
        programs.generic_op([x, w, out], program)
        print(f"{time.perf_counter() - start:.2f} s")
    got, want = ttnn.to_torch(out).float(), in0.float() @ in1.float()
    print("PCC", float(torch.corrcoef(torch.stack([got.flatten(), want.flatten()]))[0, 1]), "on", cores, "cores")


if __name__ == "__main__":
    main()
