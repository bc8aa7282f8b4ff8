"""Checkpoints: what is written is read back, in every name scheme, and what is wrong is named."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from harness.errors import UsageError
from harness.expert.checkpoint import INDEX, Checkpoint, make_checkpoint
from harness.expert.names import SCHEMES, expert_shapes
from harness.expert.weights import RandomWeights
from harness.shape import PRESETS
from harness.weights import LayerWeights

SHAPE = PRESETS["tiny"]
WEIGHTS = RandomWeights(SHAPE, n_layers=3, seed=5)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    make_checkpoint(tmp_path / "made", WEIGHTS, shard_bytes=200_000)
    return tmp_path / "made"


def rewrite(folder: Path, name: str, change) -> None:
    """Change one tensor (None takes it away) in its shard."""
    shard = folder / json.loads((folder / INDEX).read_text())["weight_map"][name]
    tensors = load_file(shard)
    changed = change(tensors.pop(name))
    save_file(tensors if changed is None else {**tensors, name: changed}, shard)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_scheme_reads_back_what_was_written(tmp_path, scheme):
    make_checkpoint(tmp_path / "made", WEIGHTS, scheme)
    read = Checkpoint(tmp_path / "made", SHAPE)
    assert read.n_layers == 3
    for i in range(3):
        want, got = WEIGHTS.layer(i), read.layer(i)
        assert all(torch.equal(getattr(got, name), getattr(want, name)) for name in LayerWeights.shapes(SHAPE))
    for name in expert_shapes(SHAPE, 3):
        assert torch.equal(read.tensor(name), WEIGHTS.tensor(name)), name


def test_the_stored_names_are_the_models(folder):
    names = json.loads((folder / INDEX).read_text())["weight_map"]
    for name in (
        "expert.expert.layers.2.self_attn.q_proj.weight",
        "expert.expert.layers.0.post_attention_layernorm.weight",
        "expert.expert.norm.weight",
        "expert.action_in_proj.encoder.trunk.6.bias",
        "expert.action_in_proj.norm.bias",
        "expert.action_out_proj.weight",
    ):
        assert name in names
    assert len(set(names.values())) > 1 and all((folder / shard).exists() for shard in names.values())


def test_one_file_without_an_index_will_do(folder):
    tensors = {name: t for shard in folder.glob("*.safetensors") for name, t in load_file(shard).items()}
    alone = folder.parent / "alone"
    alone.mkdir()
    save_file(tensors, alone / "model.safetensors")
    assert torch.equal(Checkpoint(alone, SHAPE).tensor("norm.weight"), WEIGHTS.tensor("norm.weight"))


def test_fp32_tensors_are_rounded(folder):
    rewrite(folder, "expert.expert.norm.weight", lambda t: t.float() + 1e-4)
    assert torch.equal(Checkpoint(folder, SHAPE).tensor("norm.weight"), WEIGHTS.tensor("norm.weight"))


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda t: None, r"has no tensor expert\.expert\.layers\.1\.mlp\.up_proj\.weight, though the index says so"),
        (lambda t: t.t().contiguous(),
         r"^expert\.expert\.layers\.1\.mlp\.up_proj\.weight has shape \[128, 256\]; this shape .* needs \[256, 128\]$"),
        (lambda t: t.to(torch.int8), r"^expert\.expert\.layers\.1\.mlp\.up_proj\.weight is I8; it must be one of BF16"),
    ],
)  # fmt: skip
def test_a_wrong_tensor_is_named(folder, change, message):
    rewrite(folder, "expert.expert.layers.1.mlp.up_proj.weight", change)
    with pytest.raises(UsageError, match=message):
        Checkpoint(folder, SHAPE)
    Checkpoint(folder, SHAPE, n_layers=1)  # what it does not need, it does not look at


def test_a_tensor_that_the_index_lacks_is_named(folder):
    index = json.loads((folder / INDEX).read_text())
    del index["weight_map"]["expert.action_in_proj.norm.bias"]
    (folder / INDEX).write_text(json.dumps(index))
    with pytest.raises(UsageError, match=r"has no tensor expert\.action_in_proj\.norm\.bias"):
        Checkpoint(folder, SHAPE)


def test_broken_folders_are_named(folder, tmp_path):
    shard = sorted(folder.glob("*.safetensors"))[0]
    whole = shard.read_bytes()
    shard.write_bytes(whole[:-7])
    with pytest.raises(UsageError, match=f"{shard.name} is no whole safetensors file"):
        Checkpoint(folder, SHAPE)
    shard.unlink()
    with pytest.raises(UsageError, match=f"{shard.name}, which is to hold expert.expert.layers.0.* is not there"):
        Checkpoint(folder, SHAPE)
    (folder / INDEX).write_text("[]")
    with pytest.raises(UsageError, match="is no index of a checkpoint"):
        Checkpoint(folder, SHAPE)
    with pytest.raises(UsageError, match="no checkpoint in .*nowhere"):
        Checkpoint(tmp_path / "nowhere", SHAPE)
    other = tmp_path / "other"
    other.mkdir()
    save_file({"model.norm.weight": torch.ones(3)}, other / "model.safetensors")
    with pytest.raises(UsageError, match=r"has no expert: no tensor expert\.expert\.norm\.weight \(Alpamayo 2\) or"):
        Checkpoint(other, SHAPE)


def test_more_layers_than_there_are(folder):
    assert Checkpoint(folder, SHAPE, n_layers=2).n_layers == 2
    with pytest.raises(UsageError, match=r"layers is 4; .* has 3, so it must lie in 1\.\.3"):
        Checkpoint(folder, SHAPE, n_layers=4)


def test_an_unfinished_checkpoint_leaves_nothing(tmp_path):
    class Stopped(RandomWeights):
        def tensor(self, name):
            if name.startswith("layers.2."):
                raise KeyboardInterrupt
            return super().tensor(name)

    with pytest.raises(KeyboardInterrupt):
        make_checkpoint(tmp_path / "made", Stopped(SHAPE, 3, 0), shard_bytes=100_000)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten(folder):
    with pytest.raises(UsageError, match="is there already"):
        make_checkpoint(folder, WEIGHTS)
    shutil.rmtree(folder)
    folder.mkdir()
    make_checkpoint(folder, WEIGHTS)
    assert Checkpoint(folder, SHAPE).n_layers == 3


def test_opening_reads_no_tensor(folder):
    """The payload of a shard may be anything until one of its tensors is asked for."""
    for shard in folder.glob("*.safetensors"):
        content = bytearray(shard.read_bytes())
        header = 8 + int.from_bytes(content[:8], "little")
        content[header:] = b"\x11" * (len(content) - header)
        shard.write_bytes(content)
    read = Checkpoint(folder, SHAPE)
    assert len(read.tensor("norm.weight").unique()) == 1
