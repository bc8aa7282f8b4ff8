"""A checkpoint in safetensors shards, mapped lazily: a tensor is read when it is asked for."""

from __future__ import annotations

import json
import math
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from harness.errors import UsageError
from harness.expert.names import FLOATS, SCHEMES, count_layers, expert_shapes, scheme_of
from harness.expert.weights import ExpertWeights
from harness.shape import LayerShape
from harness.weights import LayerWeights

INDEX = "model.safetensors.index.json"
SINGLE = "model.safetensors"
SHARD_BYTES = 512 << 20


class Checkpoint:
    """The expert's tensors in a folder of shards with an index, or in one `model.safetensors`.

    Opening it reads the headers and compares every tensor that will be needed with `shape`; `UsageError` names the
    first that is missing, has another shape, or cannot be read.

    n_layers   use the first so many layers; all there are, unless told
    """

    def __init__(self, folder: Path, shape: LayerShape, n_layers: int | None = None) -> None:
        self.folder, self.shape = folder, shape
        self._shards: dict[Path, Any] = {}
        self._places = self._read_places()
        self._scheme = scheme_of(self._places)
        there = count_layers(self._places, self._scheme)
        self.n_layers = there if n_layers is None else n_layers
        if not 1 <= self.n_layers <= there:
            raise UsageError(f"layers is {self.n_layers}; {folder} has {there}, so it must lie in 1..{there}")
        for name, dims in expert_shapes(shape, self.n_layers).items():
            self._verify(self._scheme.stored(name), dims)

    def layer(self, i: int) -> LayerWeights:
        """The weights of layer i."""
        names = LayerWeights.hf_shapes(self.shape)
        return LayerWeights.from_hf({name: self.tensor(f"layers.{i}.{name}") for name in names}, self.shape)

    def tensor(self, name: str) -> torch.Tensor:
        """A tensor by its short name, bf16."""
        stored = self._scheme.stored(name)
        return self._shard(stored).get_tensor(stored).bfloat16()

    def _read_places(self) -> dict[str, Path]:
        """Name -> the shard that holds it."""
        index, single = self.folder / INDEX, self.folder / SINGLE
        if not index.exists():
            if not single.exists():
                raise UsageError(f"no checkpoint in {self.folder}: neither {INDEX} nor {SINGLE} is there")
            return dict.fromkeys(self._open(single).keys(), single)
        try:
            places = json.loads(index.read_text())["weight_map"]
            return {name: self.folder / shard for name, shard in places.items()}
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise UsageError(f"{index} is no index of a checkpoint: it must map names under weight_map") from error

    def _verify(self, stored: str, dims: tuple[int, ...]) -> None:
        if stored not in self._places:
            raise UsageError(f"the checkpoint has no tensor {stored}")
        try:
            found = self._shard(stored).get_slice(stored)
        except SafetensorError:
            raise UsageError(f"{self._places[stored]} has no tensor {stored}, though the index says so") from None
        if tuple(found.get_shape()) != dims:
            raise UsageError(f"{stored} has shape {found.get_shape()}; this shape of the expert needs {list(dims)}")
        if found.get_dtype() not in FLOATS:
            raise UsageError(f"{stored} is {found.get_dtype()}; it must be one of {', '.join(FLOATS)}")

    def _shard(self, stored: str) -> Any:
        path = self._places[stored]
        if path not in self._shards:
            if not path.exists():
                raise UsageError(f"{path}, which is to hold {stored}, is not there")
            self._shards[path] = self._open(path)
        return self._shards[path]

    @staticmethod
    def _open(path: Path) -> Any:
        try:
            return safe_open(path, framework="pt")
        except (SafetensorError, OSError) as error:
            raise UsageError(f"{path} is no whole safetensors file: {error}") from error


def make_checkpoint(
    folder: Path,
    weights: ExpertWeights,
    scheme: str = "Alpamayo 2",
    shard_bytes: int = SHARD_BYTES,
    progress: Callable[[int, int], None] = lambda done, shards: None,
) -> None:
    """Write `weights` as a checkpoint, shard by shard: aside, and renamed to `folder` when it is whole.

    Raises `UsageError` if the folder is there and not empty.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is there already; a checkpoint needs a new or an empty folder")
    shapes = expert_shapes(weights.shape, weights.n_layers)
    shards = list(_shards(shapes, shard_bytes))
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
        try:
            places: dict[str, str] = {}
            for n, names in enumerate(shards, 1):
                shard = f"model-{n:05d}-of-{len(shards):05d}.safetensors"
                tensors = {SCHEMES[scheme].stored(name): weights.tensor(name).contiguous() for name in names}
                save_file(tensors, aside / shard, metadata={"format": "pt"})
                places.update(dict.fromkeys(tensors, shard))
                progress(n, len(shards))
            total = sum(_bytes(dims) for dims in shapes.values())
            (aside / INDEX).write_text(json.dumps({"metadata": {"total_size": total}, "weight_map": places}, indent=1))
            aside.chmod(0o755)
            aside.replace(folder)
        except BaseException:
            shutil.rmtree(aside, ignore_errors=True)
            raise
    except OSError as error:
        raise UsageError(f"cannot write {folder}: {error.strerror}") from error


def _bytes(dims: tuple[int, ...]) -> int:
    return 2 * math.prod(dims)


def _shards(shapes: dict[str, tuple[int, ...]], limit: int) -> Iterator[list[str]]:
    """Names in their order, in groups of at most `limit` bytes (or of one tensor that is larger)."""
    group: list[str] = []
    size = 0
    for name, dims in shapes.items():
        if group and size + _bytes(dims) > limit:
            yield group
            group, size = [], 0
        group.append(name)
        size += _bytes(dims)
    yield group
