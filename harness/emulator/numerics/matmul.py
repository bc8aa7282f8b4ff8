"""Matrix products as they lie in DEST. The rules are in ``fpu``; here products come in batches.

``matmul.cpp`` forms every product as the engine does. Without a C++ compiler torch does it with less detail: it leaves
out the alignment within the sums of eight, and in 32-bit DEST the rounding of the sums; results then differ in single
last bits.
"""

from __future__ import annotations

import ctypes
import functools
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import torch

from harness.emulator import toolchain
from harness.emulator.formats import FACE, TILE
from harness.emulator.numerics.config import MathFidelity
from harness.emulator.numerics.fpu import PASSES, SRC_A_BITS, SRC_B_BITS, cut

GROUP = 8  # products that are aligned to one another before they are summed
COLUMNS = 64  # of a block of work of the library
BLOCK = 1 << 18  # outputs at a time in torch, so that the temporaries of a step stay in the cache


def matmul(
    src_b: torch.Tensor,
    src_a: torch.Tensor,
    fidelity: MathFidelity,
    wide: bool,
    dest: torch.Tensor | None = None,
) -> torch.Tensor:
    """``src_b [..., M, K] @ src_a [..., K, N]``, added to ``dest`` if there is one. fp32 tensors; K whole tiles."""
    batch = torch.broadcast_shapes(src_b.shape[:-2], src_a.shape[:-2])
    left = src_b.expand(*batch, *src_b.shape[-2:]).reshape(-1, *src_b.shape[-2:])
    right = src_a.expand(*batch, *src_a.shape[-2:]).reshape(-1, *src_a.shape[-2:])
    shape = (len(left), left.shape[1], right.shape[2])
    result = torch.zeros(shape) if dest is None else dest.reshape(shape).clone()
    library = _library()
    if library is not None:
        _exact(library, left, right, result, fidelity, wide)
    elif wide:
        result += _wide(left, right, fidelity)
    else:
        _blocks(left, right, result, fidelity)
    return result.view(*batch, *shape[1:])


@functools.cache
def _library() -> ctypes.CDLL | None:
    if toolchain.find_compiler() is None:
        return None
    library = ctypes.CDLL(str(toolchain.library(Path(__file__).with_name("matmul.cpp"))))
    pointer, number = ctypes.c_void_p, ctypes.c_int64
    library.matmul.argtypes = [pointer] * 3 + [number] * 3 + [ctypes.c_int] * 2 + [number] * 2
    library.matmul.restype = None
    return library


@functools.cache
def _workers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(torch.get_num_threads())


def _exact(
    library: ctypes.CDLL,
    left: torch.Tensor,
    right: torch.Tensor,
    result: torch.Tensor,
    fidelity: MathFidelity,
    wide: bool,
) -> None:
    left, right = left.contiguous(), right.contiguous()
    sizes = (left.shape[1], left.shape[2], right.shape[2], PASSES[fidelity], int(wide))
    blocks = len(left) * -(-right.shape[2] // COLUMNS)
    step = max(1, blocks // (4 * torch.get_num_threads()))

    def run(first: int) -> None:
        pointers = (left.data_ptr(), right.data_ptr(), result.data_ptr())
        library.matmul(*pointers, *sizes, first, min(first + step, blocks))

    list(_workers().map(run, range(0, blocks, step)))


def _blocks(left: torch.Tensor, right: torch.Tensor, result: torch.Tensor, fidelity: MathFidelity) -> None:
    rows, cols = result.shape[1:]
    width = min(cols, max(TILE, BLOCK // rows // TILE * TILE))
    depth = max(1, BLOCK // (rows * width))
    for i in range(0, len(left), depth):
        for j in range(0, cols, width):
            block = result[i : i + depth, :, j : j + width]
            block.copy_(_narrow(left[i : i + depth], right[i : i + depth, :, j : j + width], fidelity, block))


def _wide(src_b: torch.Tensor, src_a: torch.Tensor, fidelity: MathFidelity) -> torch.Tensor:
    b = cut(src_b, SRC_B_BITS)
    if fidelity is MathFidelity.LoFi:
        return b @ cut(src_a, SRC_A_BITS)
    total = b @ src_a
    if fidelity is MathFidelity.HiFi3:
        total += (src_b - b) @ cut(src_a, SRC_A_BITS)
    elif fidelity is MathFidelity.HiFi4:
        total += (src_b - b) @ src_a
    return total


def _narrow(src_b: torch.Tensor, src_a: torch.Tensor, fidelity: MathFidelity, dest: torch.Tensor) -> torch.Tensor:
    """16-bit DEST after ``src_b [n, M, K] @ src_a [n, K, N]``. Works in units of the last bit the alignment keeps."""
    a, b = cut(src_a, SRC_A_BITS), cut(src_b, SRC_B_BITS)
    a_low, b_low = src_a - a, src_b - b
    parts = [(b, a, 1.0), (b, a_low, 2.0**5), (b_low, a, 2.0**7), (b_low, a_low, 2.0**12)][: PASSES[fidelity]]
    b_power, a_power = _fourth_power(src_b), _fourth_power(src_a)
    dest = dest.contiguous().clone()
    half = torch.tensor(0.5)
    for tile in range(0, src_b.shape[-1], TILE):
        groups = [slice(k, k + GROUP) for k in range(tile, tile + TILE, GROUP)]
        units = [_unit(b_power[..., k] @ a_power[:, k]) for k in groups]
        for left, right, finer in parts:
            for first in range(0, TILE // GROUP, FACE // GROUP):
                unit = _dest_unit(dest)
                for i in range(first, first + FACE // GROUP):
                    torch.minimum(unit, units[i] * finer if finer > 1 else units[i], out=unit)
                dest.mul_(unit).round_()
                for i in range(first, first + FACE // GROUP):
                    sums = left[..., groups[i]] @ right[:, groups[i]]
                    dest += torch.addcmul(half, sums, unit, out=sums).floor_()
                dest.div_(unit)
                dest.view(torch.int32).add_(0x8000).bitwise_and_(-0x10000)
    return dest


def _fourth_power(values: torch.Tensor) -> torch.Tensor:
    """16 to the exponents of ``values``. Summed over eight products it still shows the largest one's exponent."""
    field = (values.contiguous().view(torch.int32) >> 23) & 0xFF
    return torch.where(field == 0, 0, ((field - 127) * 4 + 127).clamp(1, 254) << 23).view(torch.float32)


def _unit(fourth_powers: torch.Tensor) -> torch.Tensor:
    """2 ** (10 - e), e the largest exponent among eight products, from the sum of their fourth powers."""
    field = fourth_powers.mul_(2).view(torch.int32).bitwise_right_shift_(25)  # e + 32
    return field.neg_().add_(169).bitwise_left_shift_(23).view(torch.float32)


def _dest_unit(dest: torch.Tensor) -> torch.Tensor:
    """2 ** (10 - e), e the exponents of ``dest``."""
    field = (dest.view(torch.int32) & 0x7F800000).clamp_(min=27 << 23)
    return field.neg_().add_((264 << 23) - (1 << 32)).view(torch.float32)  # 32-bit sums wrap
