"""The small parts everything is built from: positions, tables, mask, weight layouts, inputs."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from harness.case import Case, Inputs
from harness.errors import UsageError
from harness.positions import MASK_MIN, build_mask, expert_positions, rope_cos_sin
from harness.shape import PRESETS
from harness.weights import LayerWeights, fused_qkv, linear_weight


def test_positions_of_a_prompt_with_images():
    # 24 images of 180 tokens that advance the position by 18 each: -162 an image.
    positions = expert_positions(4592, 24 * -162, 64)
    assert positions[0] == 704 and positions[-1] == 767


@given(st.integers(0, 40_000), st.sampled_from([64, 128]))
def test_rope_tables_follow_the_definition(position, head_dim):
    cos, sin = rope_cos_sin(torch.tensor([position]), head_dim, 5e6, torch.float64)
    for j in (0, 1, head_dim // 2 - 1):
        angle = position * 5e6 ** (-2 * j / head_dim)
        for column in (j, j + head_dim // 2):
            assert cos[0, column] == pytest.approx(math.cos(angle), abs=1e-9)
            assert sin[0, column] == pytest.approx(math.sin(angle), abs=1e-9)


def test_rope_tables_are_fp32_unless_told():
    cos, sin = rope_cos_sin(expert_positions(10, 0, 32), 64, 5e6)
    assert cos.dtype == sin.dtype == torch.float32 and cos.shape == (32, 64)


@given(st.integers(1, 192), st.integers(1, 6))
def test_mask_hides_exactly_the_unused_rows(S, tiles):
    Smax = 256
    mask = build_mask(S, Smax, 64, 32 * tiles)
    assert mask.shape == (1, 1, 32 * tiles, Smax)
    visible = (mask == 0).all(dim=2)[0, 0]
    hidden = (mask == MASK_MIN).all(dim=2)[0, 0]
    rows = torch.arange(Smax)
    assert torch.equal(visible, (rows < S) | (rows >= Smax - 64))
    assert torch.equal(hidden, ~visible)


def test_fused_qkv_puts_queries_then_keys_then_values():
    q, k, v = torch.randn(8, 16), torch.randn(4, 16), torch.randn(4, 16)
    x = torch.randn(3, 16)
    packed = x @ fused_qkv(q, k, v)
    assert torch.allclose(packed, torch.cat((x @ q.T, x @ k.T, x @ v.T), dim=1), atol=1e-5)
    assert linear_weight(q).shape == (16, 8) and linear_weight(q).is_contiguous()


def test_weights_from_hf_name_what_is_wrong():
    shape = PRESETS["tiny"]
    with pytest.raises(UsageError, match="no tensor input_layernorm.weight"):
        LayerWeights.from_hf({}, shape)
    with pytest.raises(UsageError, match=r"has shape \[3\]; the layer needs \[128\]"):
        LayerWeights.from_hf({"input_layernorm.weight": torch.ones(3)}, shape)


def test_random_inputs_are_reproducible_and_differ_by_layer_and_seed():
    case = Case(PRESETS["tiny"], S=40, Smax=128)
    a, b = Inputs.random(case), Inputs.random(case)
    assert torch.equal(a.x, b.x) and torch.equal(a.k, b.k) and torch.equal(a.weights.w2, b.weights.w2)
    for other in (Case(PRESETS["tiny"], S=40, Smax=128, layer=1), Case(PRESETS["tiny"], S=40, Smax=128, seed=1)):
        c = Inputs.random(other)
        assert not torch.equal(a.x, c.x) and not torch.equal(a.weights.wo, c.weights.wo)
    for name in LayerWeights.shapes(case.shape):
        assert (getattr(a.weights, name) != 0).float().mean() > 0.99, name


@pytest.mark.parametrize("garbage", ["sevens", "noise"])
def test_garbage_fills_every_row_that_is_not_valid(garbage):
    inputs = Inputs.random(Case(PRESETS["tiny"], S=40, Smax=128))
    k, v = inputs.caches(garbage)
    assert torch.equal(k[:, :, :40], inputs.k[:, :, :40]) and torch.equal(v[:, :, :40], inputs.v[:, :, :40])
    rest = torch.cat((k[:, :, 40:], v[:, :, 40:])).float()
    assert rest.isfinite().all()
    assert (rest == 7).all() if garbage == "sevens" else rest.std() > 50
