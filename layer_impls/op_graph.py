"""The layer as a graph of 19 ttnn ops: the baseline that fused kernels are measured against.

Replaces     nothing; it is what the others replace
Core map     ttnn's own; matmuls 1-D multicast (in0 broadcast, N over all cores) unless matmul=default
CBs          ttnn's own
us a layer   497 measured on silicon with an older ttnn (published), ops one by one sum to 521
Limits       batch 1; decode attention holds all query rows of a KV head (group x T) in one core's L1

    attn=decode     flash-decode: the cache viewed as n_kv users of one KV head, the queries of a group folded onto
                    rows; both views are free, because the order of tiles does not change
    attn=standard   scaled_dot_product_attention; every chunk of queries reads all of K and V again
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import torch

from harness.dtypes import TILE_BYTES, to_device
from harness.errors import UsageError
from harness.implementation import Implementation, LayerEnv
from harness.shape import TILE
from harness.weights import LayerWeights

SUBBLOCK_TILES = 4  # DEST holds 4 fp32 tiles in half-sync mode
L1_BYTES = 1536 * 1024
L1_RESERVED = 117_888  # firmware, kernels and the small constant buffers of the attention op


@dataclass(frozen=True)
class MatmulOptions:
    """matmul: tuned 1-D multicast configs or ttnn's choice."""

    matmul: Literal["tuned", "default"] = "tuned"


@dataclass(frozen=True)
class OpGraphOptions(MatmulOptions):
    """attn: the attention op; fold: fold a group's queries onto rows (always so in decode);
    mask: dtype of the additive mask."""

    attn: Literal["decode", "standard"] = "decode"
    fold: bool = False
    mask: Literal["bfp4", "bf16"] = "bfp4"


class OpGraph(Implementation):
    """The 19-op graph."""

    Options: ClassVar[type] = OpGraphOptions

    def __init__(self, env: LayerEnv, options: OpGraphOptions) -> None:
        super().__init__(env, options)
        ttnn, s = env.ttnn, env.shape
        self.grid = env.device.compute_with_storage_grid_size()
        self.weights: dict[int, dict[str, Any]] = {}
        self.folded = options.attn == "decode" or options.fold
        self.query_rows = s.tokens * s.group if self.folded else s.tokens
        self.matmul_compute = ttnn.WormholeComputeKernelConfig(
            math_fidelity=ttnn.MathFidelity.HiFi2, math_approx_mode=False, fp32_dest_acc_en=True, packer_l1_acc=True
        )
        self.attention_compute = ttnn.WormholeComputeKernelConfig(
            math_fidelity=ttnn.MathFidelity.HiFi2, math_approx_mode=False, fp32_dest_acc_en=False, packer_l1_acc=False
        )
        self._check_attention()
        names = [name for name in self._plain_weights() if name.startswith("w")]
        self.programs: dict[str, Any] = {name: self._matmul_program(name) for name in names}

    def prepare(self, i: int, weights: LayerWeights) -> None:
        ttnn, device = self.env.ttnn, self.env.device
        self._prepare_attention()
        self.weights[i] = {}
        for name in self._plain_weights():
            w: torch.Tensor = getattr(weights, name)
            gamma = w.dim() == 1  # ttnn.rms_norm takes [1, 1, 1, width], in bf16
            self.weights[i][name] = to_device(
                ttnn, device, w.reshape(1, 1, 1, -1) if gamma else w, "bf16" if gamma else self.env.weight_dtype
            )

    def _plain_weights(self) -> list[str]:
        """Weights that go to the device as they are; a subclass that lays some out otherwise takes them away."""
        return list(LayerWeights.shapes(self.env.shape))

    def layer_fn(self, i: int, x: Any, k_cache: Any, v_cache: Any) -> Any:
        ttnn = self.env.ttnn
        q = self._queries(i, x, k_cache, v_cache)
        o = self._attend(q, k_cache, v_cache)
        ttnn.deallocate(q)
        return self._rest(i, x, o)

    # The blocks of the layer, then their steps. Fused kernels replace either: subclasses override them one by one.

    def _queries(self, i: int, x: Any, k_cache: Any, v_cache: Any) -> Any:
        """x -> q [1, n_heads, T, head_dim], normed and roped; own K and V into the caches."""
        ttnn, w = self.env.ttnn, self.weights[i]
        h = self._input_norm(i, x)
        qkv = self._linear(h, w["wqkv"], "wqkv")
        ttnn.deallocate(h)
        q = self._heads(qkv, w, k_cache, v_cache)
        ttnn.deallocate(qkv)
        return q

    def _attend(self, q: Any, k_cache: Any, v_cache: Any) -> Any:
        """q [1, n_heads, T, head_dim] -> [1, 1, T, q_dim], heads side by side."""
        ttnn = self.env.ttnn
        a = self._attention(q, k_cache, v_cache)
        o = ttnn.experimental.nlp_concat_heads(a, memory_config=ttnn.DRAM_MEMORY_CONFIG)
        ttnn.deallocate(a)
        return o

    def _rest(self, i: int, x: Any, o: Any) -> Any:
        """The layer's output from its input and that of the attention, [1, 1, T, q_dim]; frees o."""
        x1, h2 = self._after_attention(i, x, o)
        self.env.ttnn.deallocate(o)
        x2 = self._mlp(i, x1, h2)
        self.env.ttnn.deallocate(x1)
        return x2

    def _after_attention(self, i: int, x: Any, o: Any) -> tuple[Any, Any]:
        """x1 = x + o wo, and what `_mlp` takes for the norm of x1."""
        x1 = self._out_projection(i, x, o)
        return x1, self._mlp_norm(i, x1)

    def _mlp(self, i: int, x1: Any, h2: Any) -> Any:
        """x1 + (silu(h2 w1) * (h2 w3)) w2; frees h2."""
        ttnn, w = self.env.ttnn, self.weights[i]
        gate = self._linear(h2, w["w1"], "w1")
        up = self._linear(h2, w["w3"], "w3")
        ttnn.deallocate(h2)
        product = ttnn.multiply(gate, up, memory_config=ttnn.DRAM_MEMORY_CONFIG)
        ttnn.deallocate(gate)
        ttnn.deallocate(up)
        x2 = self._down_projection(i, x1, product)
        ttnn.deallocate(product)
        return x2

    def _input_norm(self, i: int, x: Any) -> Any:
        """x [1, 1, T, hidden] -> its norm, by the first gamma of layer i."""
        return self._norm(x, self.weights[i]["norm1"])

    def _out_projection(self, i: int, x: Any, o: Any) -> Any:
        """x + o wo."""
        ttnn = self.env.ttnn
        o2 = self._linear(o, self.weights[i]["wo"], "wo")
        x1 = ttnn.add(x, o2, memory_config=ttnn.DRAM_MEMORY_CONFIG)
        ttnn.deallocate(o2)
        return x1

    def _mlp_norm(self, i: int, x1: Any) -> Any:
        """The norm of x1, by the second gamma of layer i."""
        return self._norm(x1, self.weights[i]["norm2"])

    def _down_projection(self, i: int, x1: Any, product: Any) -> Any:
        """x1 + product w2."""
        down = self._linear(product, self.weights[i]["w2"], "w2")
        x2 = self._last_add(i, x1, down)
        self.env.ttnn.deallocate(down)
        return x2

    def _last_add(self, i: int, x1: Any, down: Any) -> Any:
        """The output of layer i."""
        return self.env.ttnn.add(x1, down, memory_config=self.env.ttnn.DRAM_MEMORY_CONFIG)

    def _heads(self, qkv: Any, w: dict[str, Any], k_cache: Any, v_cache: Any) -> Any:
        """qkv [1, 1, T, qkv_dim] -> q [1, n_heads, T, head_dim], normed and roped; own K and V into the caches."""
        ttnn, s, context = self.env.ttnn, self.env.shape, self.env.context
        q0, k0, v = ttnn.experimental.nlp_create_qkv_heads(
            qkv,
            num_heads=s.n_heads,
            num_kv_heads=s.n_kv_heads,
            transpose_k_heads=False,
            memory_config=ttnn.DRAM_MEMORY_CONFIG,
        )
        q1 = self._norm(q0, w["q_norm"])
        k1 = self._norm(k0, w["k_norm"])
        ttnn.deallocate(q0)
        ttnn.deallocate(k0)
        q = ttnn.experimental.rotary_embedding_hf(q1, context.cos, context.sin, is_decode_mode=False)
        k = ttnn.experimental.rotary_embedding_hf(k1, context.cos, context.sin, is_decode_mode=False)
        ttnn.deallocate(q1)
        ttnn.deallocate(k1)
        self._fill(k_cache, k)
        self._fill(v_cache, v)
        return q

    def _norm(self, x: Any, gamma: Any) -> Any:
        # The op's own compute config: about 9 us faster on [64, 1536] than HiFi4 with fp32 DEST, at the same PCC.
        return self.env.ttnn.rms_norm(x, epsilon=self.env.shape.rms_eps, weight=gamma)

    def _linear(self, x: Any, w: Any, name: str) -> Any:
        ttnn, program = self.env.ttnn, self.programs[name]
        # A program config carries the activation itself.
        how = {"program_config": program} if program else {"activation": "silu" if name == "w1" else None}
        return ttnn.linear(
            x,
            w,
            dtype=ttnn.bfloat16,
            compute_kernel_config=self.matmul_compute,
            memory_config=ttnn.DRAM_MEMORY_CONFIG,
            **how,
        )

    def _fill(self, cache: Any, own: Any) -> None:
        """Own rows into the last T rows of the cache; frees them."""
        ttnn = self.env.ttnn
        if own.dtype != cache.dtype:
            wide, own = own, ttnn.typecast(own, cache.dtype)
            ttnn.deallocate(wide)
        ttnn.fill_cache(cache, own, 0, update_idx=cache.shape[2] - self.env.shape.tokens)
        ttnn.deallocate(own)

    def _attention(self, q: Any, k_cache: Any, v_cache: Any) -> Any:
        """q [1, n_heads, T, head_dim] -> the same shape, over the whole cache under the mask."""
        ttnn, s = self.env.ttnn, self.env.shape
        mask = self.env.context.mask(self.query_rows, self.options.mask)
        common = {
            "is_causal": False,
            "attn_mask": mask,
            "scale": s.head_dim**-0.5,
            "program_config": self._attention_program(k_cache.shape[2]),
            "compute_kernel_config": self.attention_compute,
            "memory_config": ttnn.DRAM_MEMORY_CONFIG,
        }
        if self.folded:
            q = ttnn.view(q, (1, s.n_kv_heads, self.query_rows, s.head_dim))
        if self.options.attn == "decode":
            users = (s.n_kv_heads, 1, k_cache.shape[2], s.head_dim)
            a = ttnn.transformer.scaled_dot_product_attention_decode(
                q, ttnn.view(k_cache, users), ttnn.view(v_cache, users), **common
            )
        else:
            a = ttnn.transformer.scaled_dot_product_attention(q, k_cache, v_cache, **common)
        return ttnn.view(a, (1, s.n_heads, s.tokens, s.head_dim)) if self.folded else a

    def _matmul_program(self, name: str) -> Any:
        """1-D multicast: in0 broadcast to all cores, N split over them, K walked in blocks of in0_block_w tiles."""
        if self.options.matmul == "default":
            return None
        ttnn = self.env.ttnn
        k, n = LayerWeights.shapes(self.env.shape)[name]
        m_tiles, k_tiles, n_tiles = self.env.shape.tokens // TILE, k // TILE, n // TILE
        per_core_n = -(-n_tiles // (self.grid.x * self.grid.y))
        # w2 walks its long K in few, large blocks: measured 113 -> 41 us at K 6144 (published).
        block_w = _largest_divisor(k_tiles, min(48 if name == "w2" else 8, self._k_tiles_that_fit(m_tiles, per_core_n)))
        return ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig(
            compute_with_storage_grid_size=(self.grid.x, self.grid.y),
            in0_block_w=block_w,
            out_subblock_h=1,
            out_subblock_w=_largest_divisor(per_core_n, SUBBLOCK_TILES),
            out_block_h=m_tiles,
            out_block_w=per_core_n,
            per_core_M=m_tiles,
            per_core_N=per_core_n,
            fuse_batch=True,
            fused_activation=ttnn.UnaryWithParam(ttnn.UnaryOpType.SILU) if name == "w1" else None,
            mcast_in0=True,
        )

    def _k_tiles_that_fit(self, m_tiles: int, n_tiles: int) -> int:
        """K tiles of a block, with both operands double buffered beside a bf16 output and its fp32 partials."""
        k_tile = 2 * (m_tiles * TILE_BYTES["bf16"] + n_tiles * TILE_BYTES[self.env.weight_dtype])
        outputs = m_tiles * n_tiles * (TILE_BYTES["bf16"] + 2 * TILE_BYTES["bf16"])
        fit = (L1_BYTES - L1_RESERVED - outputs) // k_tile
        if fit < 1:
            raise UsageError(f"a matmul of {m_tiles}x{n_tiles} output tiles a core does not fit L1; use matmul=default")
        return fit

    def _check_attention(self) -> None:
        """Raise `UsageError` if the attention cannot be mapped."""
        if self.options.attn == "decode":
            self._decode_chunk_and_cores(TILE)

    def _prepare_attention(self) -> None:
        """Allocate what it needs before a trace is captured."""
        self.env.context.mask(self.query_rows, self.options.mask)

    def _attention_program(self, Smax: int) -> Any:
        """Chunks that divide the rows, of the sizes measured fastest (published)."""
        ttnn = self.env.ttnn
        if self.options.attn == "standard":
            return ttnn.SDPAProgramConfig(
                compute_with_storage_grid_size=self.grid,
                q_chunk_size=_chunk(self.query_rows, 128) if self.folded else TILE,
                k_chunk_size=_chunk(Smax, 512),
                exp_approx_mode=False,
            )
        k_chunk, cores = self._decode_chunk_and_cores(_chunk(Smax, 128))
        return ttnn.SDPAProgramConfig(
            compute_with_storage_grid_size=self.grid,
            q_chunk_size=TILE,
            k_chunk_size=k_chunk,
            exp_approx_mode=False,
            max_cores_per_head_batch=cores,
        )

    def _decode_chunk_and_cores(self, k_chunk: int) -> tuple[int, int]:
        """Rows of a K chunk and cores a KV head: 16 cores, fewer where many query rows would overflow L1.

        Every core holds a partial result from each of the others. The sizes are those of sdpa_decode in ttnn 0.81.1,
        read off its own message of how far its buffers grow, exact for every shape tried.
        """
        s, bf16 = self.env.shape, TILE_BYTES["bf16"]
        rows, width = self.query_rows // TILE, s.head_dim // TILE
        while k_chunk >= TILE:
            k_tiles = k_chunk // TILE
            chunks = 4 * k_tiles * width * TILE_BYTES[self.env.cache_dtype]
            scores = rows * k_tiles * (bf16 + TILE_BYTES[self.options.mask])
            own = rows * (6 * width + 9) * bf16
            partial = rows * (width + 2) * bf16
            cores = (L1_BYTES - L1_RESERVED - chunks - scores - own) // partial
            if cores >= 1:
                return k_chunk, min(16, cores)
            k_chunk //= 2
        raise UsageError(f"decode attention cannot hold {self.query_rows} query rows a KV head; use attn=standard")

    def _noc(self, core: tuple[int, int]) -> tuple[int, int]:
        """NoC coordinates of a worker core."""
        noc = self.env.device.worker_core_from_logical_core(self.env.ttnn.CoreCoord(*core))
        return noc.x, noc.y


def _largest_divisor(n: int, limit: int) -> int:
    """The largest divisor of n that is at most `limit`."""
    return next(d for d in range(min(n, limit), 0, -1) if n % d == 0)


def _chunk(rows: int, limit: int) -> int:
    """The largest power of two times a tile that divides `rows` and is at most `limit`."""
    chunk = TILE
    while chunk * 2 <= limit and rows % (chunk * 2) == 0:
        chunk *= 2
    return chunk
