"""Caches: from a file, made up, and on the device."""

from __future__ import annotations

import pytest
import torch
from safetensors.torch import save_file

from harness.errors import UsageError
from harness.expert.kv import KvFile, SyntheticKv, upload
from harness.oracle import rotate
from harness.positions import rope_cos_sin
from harness.shape import PRESETS

SHAPE = PRESETS["small"]
KV = SyntheticKv(SHAPE, S=90, rope_delta=-54, seed=3)


def tensors(n_layers: int = 2) -> dict[str, torch.Tensor]:
    return {
        f"layers.{i}.{kind}": rows
        for i in range(n_layers)
        for kind, rows in zip(("key", "value"), KV.rows(i), strict=True)
    }


def test_synthetic_keys_are_normed_weighted_and_roped():
    keys, values = KV.rows(4)
    assert keys.shape == values.shape == (4, 90, 64) and keys.dtype == torch.bfloat16
    # The rotation undone: the same weights in every row and head, and RMS 1 under them.
    positions = torch.arange(90) * 36 // 90
    cos, sin = rope_cos_sin(positions, 64, SHAPE.rope_theta)
    unroped = rotate(keys.float(), cos, -sin)
    weight = unroped.pow(2).mean((0, 1)).sqrt()
    assert weight.max() / weight.min() > 2, "channels differ"
    rms = (unroped / weight).pow(2).mean(-1).sqrt()
    assert rms.std() < 0.1 and (rms.mean() - 1).abs() < 0.02
    raw = keys.float().pow(2).mean((0, 1)).sqrt()
    fast = slice(0, 4)  # channels whose angle turns most; each is rotated with the one half a head further
    mixed, own = ((w[:32] - w[32:])[fast].abs().sum() for w in (raw, weight))
    assert mixed < 0.8 * own, "without it the weights of a pair are mixed"


def test_synthetic_neighbours_resemble_each_other_and_the_first_value_is_small():
    _, values = KV.rows(0)
    v = values.float()[:, 1:]
    near = torch.cosine_similarity(v[:, 1:9], v[:, 2:10], dim=-1).mean()
    far = torch.cosine_similarity(v[:, 1:9], v[:, 41:49], dim=-1).mean()
    assert near > 0.4 > 0.2 > far.abs()
    norms = values.float().norm(dim=-1)
    assert (norms[:, 0] < 0.2 * norms[:, 1:].mean(1)).all()
    scale = norms[:, 1:].mean(1)
    assert scale.max() / scale.min() > 1.2, "heads have their own"


def test_each_layer_and_seed_has_its_own():
    other = SyntheticKv(SHAPE, 90, -54, seed=4)
    assert torch.equal(KV.rows(1)[0], KV.rows(1)[0])
    assert not torch.equal(KV.rows(1)[0], KV.rows(2)[0]) and not torch.equal(KV.rows(1)[0], other.rows(1)[0])


def test_a_file_gives_its_rows(tmp_path):
    save_file(tensors(), tmp_path / "kv.safetensors", metadata={"rope_delta": "-54"})
    kv = KvFile(tmp_path / "kv.safetensors", SHAPE, 2)
    assert (kv.S, kv.rope_delta) == (90, -54)
    assert all(torch.equal(got, want) for got, want in zip(kv.rows(1), KV.rows(1), strict=True))


@pytest.mark.parametrize(
    "change, message",
    [
        ({"layers.1.value": None}, r"has no tensor layers\.1\.value; 2 layers need 0 to 1"),
        ({"layers.1.key": torch.zeros(4, 80, 64)}, r"layers\.1\.key has shape \[4, 80, 64\]; it must be \[4, 90, 64\]"),
        ({"layers.0.key": torch.zeros(1, 4, 90, 64)}, r"layers\.0\.key has shape .*; it must be of 3 dimensions"),
        ({"layers.0.key": torch.zeros(8, 90, 64)}, r"layers\.0\.key has shape .*; it must be \[4, 90, 64\]"),
        (
            {"layers.1.value": torch.zeros(4, 90, 64, dtype=torch.int8)},
            r"layers\.1\.value is I8; it must be one of BF16",
        ),
    ],
)
def test_what_is_wrong_with_a_file_is_named(tmp_path, change, message):
    content = {name: t for name, t in {**tensors(), **change}.items() if t is not None}
    save_file(content, tmp_path / "kv.safetensors", metadata={"rope_delta": "-54"})
    with pytest.raises(UsageError, match=message):
        KvFile(tmp_path / "kv.safetensors", SHAPE, 2)


def test_a_file_without_its_positions_or_that_is_none(tmp_path):
    save_file(tensors(), tmp_path / "kv.safetensors")
    with pytest.raises(UsageError, match="has no number rope_delta in its metadata"):
        KvFile(tmp_path / "kv.safetensors", SHAPE, 2)
    with pytest.raises(UsageError, match="is no safetensors file"):
        KvFile(tmp_path / "nowhere", SHAPE, 2)


@pytest.mark.parametrize("dtype", ["bf16", "bfp8"])
def test_rows_come_to_the_front_of_the_caches(emulator, dtype):
    prompt = upload(emulator, KV, SHAPE, 2, 256, dtype)
    assert len(prompt.caches) == 2 and (prompt.S, prompt.rope_delta, prompt.Smax) == (90, -54, 256)
    for pair, rows in zip(prompt.caches[1], KV.rows(1), strict=True):
        got = emulator.ttnn.to_torch(pair).float()
        assert got.shape == (1, 4, 256, 64)
        assert (got[0, :, :90] - rows.float()).abs().max() <= (0 if dtype == "bf16" else 0.06)
    with pytest.raises(UsageError, match=r"seq-len is 90; it must lie in 1\.\.64"):
        upload(emulator, KV, SHAPE, 2, 128, dtype)
