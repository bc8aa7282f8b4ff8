"""The two attention ops over a whole cache: flash decode (keys split over cores) and the standard kernel."""

from __future__ import annotations

import torch

from harness.emulator.formats import TILE
from harness.emulator.ttnn.checks import require, require_on_device, require_tile
from harness.emulator.ttnn.device import launch
from harness.emulator.ttnn.tensor import Tensor, like
from harness.emulator.ttnn.types import (
    MathFidelity,
    MemoryConfig,
    SDPAProgramConfig,
    WormholeComputeKernelConfig,
)

DEFAULT = WormholeComputeKernelConfig(math_fidelity=MathFidelity.HiFi2)


def scaled_dot_product_attention_decode(
    input_tensor_q: Tensor,
    input_tensor_k: Tensor,
    input_tensor_v: Tensor,
    *,
    is_causal: bool = True,
    attn_mask: Tensor | None = None,
    scale: float | None = None,
    memory_config: MemoryConfig | None = None,
    program_config: SDPAProgramConfig | None = None,
    compute_kernel_config: WormholeComputeKernelConfig | None = None,
) -> Tensor:
    """q ``[1, b, heads, d]``, k and v ``[b, n_kv, s, d]``, mask ``[1, b or 1, heads, s]`` to ``[1, b, heads, d]``."""
    op = "scaled_dot_product_attention_decode"
    q, k, v = input_tensor_q, input_tensor_k, input_tensor_v
    _check_common(op, q, k, v, attn_mask, is_causal)
    batch, heads, dim = q.shape[1:]
    require(k.shape[0] == batch, f"{op}: q has {batch} users, k {k.shape[0]}")
    require(k.shape[1] == 1, f"{op}: more than one kv head a user ({k.shape[1]}) is not modelled by the emulator")
    config = compute_kernel_config or DEFAULT
    result = like(q, memory_config=memory_config)

    def compute(queries: Tensor, keys: Tensor, values: Tensor, *rest: Tensor) -> None:
        *mask, target = rest
        scores = queries.load()[0].float() @ keys.load()[:, 0].float().transpose(-1, -2) * (scale or dim**-0.5)
        if mask:
            scores = scores + mask[0].load()[0].float()
        target.store(torch.softmax(scores, -1) @ values.load()[:, 0].float())

    inputs = [q, k, v] if attn_mask is None else [q, k, v, attn_mask]
    launch(op, inputs, [result], compute, scale=scale, program_config=program_config, compute_kernel_config=config)
    return result


def scaled_dot_product_attention(
    input_tensor_q: Tensor,
    input_tensor_k: Tensor,
    input_tensor_v: Tensor,
    *,
    attn_mask: Tensor | None = None,
    is_causal: bool = True,
    scale: float | None = None,
    memory_config: MemoryConfig | None = None,
    program_config: SDPAProgramConfig | None = None,
    compute_kernel_config: WormholeComputeKernelConfig | None = None,
) -> Tensor:
    """q ``[b, heads, sq, d]``, k and v ``[b, n_kv, s, d]``, mask ``[b or 1, heads or 1, sq, s]`` to ``[b, heads, sq, d]``."""
    op = "scaled_dot_product_attention"
    q, k, v = input_tensor_q, input_tensor_k, input_tensor_v
    _check_common(op, q, k, v, attn_mask, is_causal)
    batch, heads, rows, dim = q.shape
    require(k.shape[0] == batch, f"{op}: q has a batch of {batch}, k of {k.shape[0]}")
    require(heads % k.shape[1] == 0, f"{op}: {heads} query heads do not divide into {k.shape[1]} kv heads")
    config = compute_kernel_config or DEFAULT
    result = like(q, memory_config=memory_config)

    def compute(queries: Tensor, keys: Tensor, values: Tensor, *rest: Tensor) -> None:
        *mask, target = rest
        n_kv = keys.shape[1]
        grouped = queries.load().float().unflatten(1, (n_kv, -1))
        scores = grouped @ keys.load().float().transpose(-1, -2).unsqueeze(2) * (scale or dim**-0.5)
        if mask:
            scores = scores + mask[0].load().float().unsqueeze(2)
        target.store((torch.softmax(scores, -1) @ values.load().float().unsqueeze(2)).flatten(1, 2))

    inputs = [q, k, v] if attn_mask is None else [q, k, v, attn_mask]
    launch(op, inputs, [result], compute, scale=scale, program_config=program_config, compute_kernel_config=config)
    return result


def _check_common(op: str, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, is_causal: bool) -> None:
    require_on_device(op, q=q, k=k, v=v, mask=mask)
    require_tile(op, q=q, k=k, v=v, mask=mask)
    require(not is_causal, f"{op}: is_causal=True is not modelled by the emulator; pass is_causal=False")
    for name, tensor in {"q": q, "k": k, "v": v}.items():
        require(tensor.shape.rank == 4, f"{op}: {name} must have four dimensions, not {tensor.shape}")
    require(k.shape == v.shape, f"{op}: k is {k.shape}, v is {v.shape}")
    require(q.shape[3] == k.shape[3], f"{op}: q has a head_dim of {q.shape[3]}, k of {k.shape[3]}")
    require(q.shape[3] % TILE == 0, f"{op}: head_dim {q.shape[3]} is not a multiple of {TILE}")
    if mask is not None:
        require(mask.shape.rank == 4, f"{op}: the mask must have four dimensions, not {mask.shape}")
        require(
            mask.shape[2] == q.shape[2] and mask.shape[3] == k.shape[2],
            f"{op}: a mask of {mask.shape} does not fit {q.shape[2]} query rows and {k.shape[2]} keys",
        )
