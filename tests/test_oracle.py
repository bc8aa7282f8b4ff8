"""The oracle is judged by transformers' Qwen3VLTextModel, layer by layer, on random weights."""

from __future__ import annotations

import inspect

import pytest
import torch

from harness.oracle import oracle_layer
from harness.shape import PRESETS, LayerShape
from harness.weights import LayerWeights

transformers = pytest.importorskip("transformers")

# 4.57 takes the theta beside the scaling, 5.x inside the parameters (and would default it to 500000).
ROPE = {"rope_type": "default", "mrope_interleaved": True}
LAYER = 1


def hf_config(shape: LayerShape, attention: str):
    half = shape.head_dim // 2
    section = [half - 2 * (half // 3), half // 3, half // 3]
    common = {
        "vocab_size": 32,
        "hidden_size": shape.hidden,
        "intermediate_size": shape.inter,
        "num_hidden_layers": LAYER + 1,
        "num_attention_heads": shape.n_heads,
        "num_key_value_heads": shape.n_kv_heads,
        "head_dim": shape.head_dim,
        "rms_norm_eps": shape.rms_eps,
        "attn_implementation": attention,
    }
    rope = {**ROPE, "mrope_section": section}
    if int(transformers.__version__.split(".")[0]) >= 5:
        return transformers.Qwen3VLTextConfig(rope_parameters={**rope, "rope_theta": shape.rope_theta}, **common)
    return transformers.Qwen3VLTextConfig(rope_theta=shape.rope_theta, rope_scaling=rope, **common)


def hf_layer(shape: LayerShape, attention: str, S: int, rope_delta: int, weight_std: float):
    """transformers' output of layer 1 and its new K/V rows, with the inputs that gave them."""
    torch.manual_seed(3)
    model = transformers.Qwen3VLTextModel(hf_config(shape, attention)).eval()
    layer = model.layers[LAYER]
    for name, p in layer.named_parameters():
        if p.dim() == 1:
            torch.nn.init.normal_(p, 1.0, 0.25)
        else:
            torch.nn.init.normal_(p, 0.0, weight_std or 0.02)
        assert p.dtype == torch.float32, name
    x = torch.randn(1, shape.tokens, shape.hidden)
    k, v = torch.randn(2, 1, shape.n_kv_heads, S, shape.head_dim)
    cache = transformers.DynamicCache()
    cache.update(torch.zeros_like(k), torch.zeros_like(v), 0)
    cache.update(k, v, LAYER)
    positions = (torch.arange(shape.tokens) + S + rope_delta).expand(3, 1, -1)
    # An explicit zero mask: is_causal=False alone stays causal in some releases.
    mask = torch.zeros(1, 1, shape.tokens, S + shape.tokens)
    name = "past_key_values" if "past_key_values" in inspect.signature(layer.forward).parameters else "cache"
    with torch.no_grad():
        out = layer(x, position_embeddings=model.rotary_emb(x, positions), attention_mask=mask, **{name: cache})
    out = out[0] if isinstance(out, tuple) else out
    rows = [cache.layers[LAYER].keys[0, :, S:], cache.layers[LAYER].values[0, :, S:]]
    return x, k, v, LayerWeights.from_hf(dict(layer.state_dict()), shape), out.reshape(shape.tokens, -1), rows


CASES = [
    pytest.param(PRESETS["tiny"], 40, 0, 0.0, id="tiny"),
    pytest.param(PRESETS["small"], 100, -70, 0.05, id="small"),
    pytest.param(LayerShape(tokens=96, hidden=256, n_heads=6, n_kv_heads=2, head_dim=128, inter=320), 33, 5, 0.05,
                 id="groups of three"),
    pytest.param(PRESETS["alpamayo2_super"], 300, -162, 0.02, id="alpamayo2_super"),
]  # fmt: skip


@pytest.mark.parametrize("attention, tolerance", [("eager", 1e-6), ("sdpa", 1e-5)])
@pytest.mark.parametrize("shape, S, rope_delta, std", CASES)
def test_oracle_equals_transformers(shape, S, rope_delta, std, attention, tolerance):
    x, k, v, weights, out, (k_rows, v_rows) = hf_layer(shape, attention, S, rope_delta, std)
    got = oracle_layer(x, weights, k, v, shape, S, rope_delta)
    assert (got.out - out).abs().max() <= tolerance
    assert (got.k - k_rows).abs().max() <= tolerance
    assert (got.v - v_rows).abs().max() <= tolerance


def test_the_tolerance_sees_a_wrong_position():
    shape = PRESETS["tiny"]
    x, k, v, weights, out, _ = hf_layer(shape, "eager", 40, 0, 0.0)
    assert (oracle_layer(x, weights, k, v, shape, 40, 1).out - out).abs().max() > 1e-5


def test_fp64_oracle_is_the_fp32_one_to_rounding():
    shape = PRESETS["small"]
    gen = torch.Generator().manual_seed(0)
    x = torch.randn(shape.tokens, shape.hidden, generator=gen)
    k, v = torch.randn(2, 1, shape.n_kv_heads, 256, shape.head_dim, generator=gen)
    weights = LayerWeights.random(shape, seed=1)
    fp32 = oracle_layer(x, weights, k, v, shape, 200, 0)
    fp64 = oracle_layer(x, weights, k, v, shape, 200, 0, torch.float64)
    assert fp64.out.dtype == torch.float64
    assert 0 < (fp32.out - fp64.out).abs().max() < 1e-4
