"""Times measured on silicon and published for the op graph, matched to the ops an implementation launches.

Source: the design notes of the Alpamayo 2 Super expert, one Blackhole p150 with an 11 x 10 grid, traced, S 4700,
with a tt-metal older than ttnn 0.81.1 (its head split and concat were slower than today's). They hold for one shape;
a call of any other shape, dtype or config has no published time. docs/model.md tells more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.targets import OpCall

ORIGIN = "published: measured on silicon with an older ttnn"
WHY_NONE = "ops without a published time at this shape and config, or another card than the p150"
LAYER_US = 497.0  # one layer, back to back in a trace; the ops one by one sum to 521

# Weight shape -> for each activation: label, us with the tuned 1-D multicast config, us with ttnn's default.
_LINEAR: dict[tuple[tuple[int, ...], bool], tuple[str, float, float]] = {
    ((1536, 4096), False): ("wqkv", 25.6, 38.0),
    ((2048, 1536), False): ("wo", 18.6, 43.0),
    ((1536, 6144), True): ("w1 + silu", 40.2, 45.0),
    ((1536, 6144), False): ("w3", 37.3, 45.0),
    ((6144, 1536), False): ("w2", 44.6, 113.0),
}
# Smax, cache dtype -> us of flash-decode under a bfp4 mask.
_DECODE = {(8192, "bf16"): 175.3, (5120, "bf16"): 149.0, (8192, "bfp8"): 143.0, (5120, "bfp8"): 126.0}
# Smax, folded -> us of standard attention under a bfp4 mask, bf16 cache; q_chunk 32, folded 128.
_STANDARD = {(8192, False): 516.0, (5120, False): 322.0, (8192, True): 708.0, (5120, True): 460.0}
_X, _Q, _KV, _INTER = (1, 1, 64, 1536), (1, 16, 64, 128), (1, 8, 64, 128), (1, 1, 64, 6144)
# Op, shape -> label and us; of two alike, the earlier in the layer first.
_OTHER: dict[tuple[str, tuple[int, ...]], list[tuple[str, float]]] = {
    ("rms_norm", _X): [("rms_norm", 17.3), ("rms_norm2", 17.4)],
    ("rms_norm", _Q): [("q_norm", 6.5)],
    ("rms_norm", _KV): [("k_norm", 5.8)],
    ("experimental.nlp_create_qkv_heads", (1, 1, 64, 4096)): [("create_qkv_heads", 52.8)],
    ("experimental.rotary_embedding_hf", _Q): [("rope q", 11.0)],
    ("experimental.rotary_embedding_hf", _KV): [("rope k", 9.1)],
    ("fill_cache", _KV): [("fill k", 3.9), ("fill v", 3.8)],
    ("experimental.nlp_concat_heads", _Q): [("concat_heads", 27.7)],
    ("add", _X): [("add", 6.5), ("add2", 6.7)],
    ("multiply", _INTER): [("mul", 10.9)],
}

# The later of two alike -> labels of which one has come before it.
_AFTER = {
    "rms_norm2": {"attention", "concat_heads", "wo"},
    "add2": {"w1 + silu", "w3", "mul", "w2"},
    "fill v": {"fill k"},
}


@dataclass(frozen=True)
class Labelled:
    """A call with a name for people, and its published us (None where there is none)."""

    call: OpCall
    label: str
    us: float | None


def label_calls(calls: Sequence[OpCall]) -> list[Labelled]:
    """Match the calls of one layer, in order, with the published ops."""
    labelled: list[Labelled] = []
    for call in calls:
        labelled.append(_label(call, {entry.label for entry in labelled}))
    return labelled


def _label(call: OpCall, before: set[str]) -> Labelled:
    shapes = [t.shape for t in call.inputs]
    dtypes = [t.dtype for t in call.inputs]
    nothing = Labelled(call, call.name.rpartition(".")[2], None)
    if not shapes:
        return nothing
    if call.name == "generic_op":
        return Labelled(call, _program_name(call), None)
    if call.name == "linear":
        silu = call.kwargs.get("activation") == "silu"
        program = call.kwargs.get("program_config")
        if program is not None:
            silu = program.fused_activation is not None
        entry = _LINEAR.get((shapes[1][-2:], silu)) if shapes[0][-2] == 64 else None
        if entry is None:
            return nothing
        label, tuned, default = entry
        us = (default if program is None else tuned) if dtypes[:2] == ["bf16", "bfp8"] else None
        return Labelled(call, label, us)
    if call.name.startswith("transformer.scaled_dot_product_attention"):
        return Labelled(call, "attention", _attention_us(call.name, shapes, dtypes))
    # fill_cache takes the cache first; the own rows tell which it is.
    key = (call.name, shapes[1] if call.name == "fill_cache" else shapes[0])
    entries = _OTHER.get(key)
    if not entries:
        return nothing
    # Of two alike, what came before tells which it is, even where the other one is fused away.
    label, us = entries[-1] if before & _AFTER.get(entries[-1][0], set()) else entries[0]
    return Labelled(call, label, us if set(dtypes) == {"bf16"} else None)


def _program_name(call: OpCall) -> str:
    """The folder of a program's kernels, by which people know it."""
    source = Path(call.args[1].kernels[0].kernel_source)
    return source.parent.name if source.suffix == ".cpp" else "generic_op"


def _attention_us(name: str, shapes: list[tuple[int, ...]], dtypes: list[str]) -> float | None:
    if len(shapes) != 4 or dtypes[0] != "bf16" or dtypes[3] != "bfp4":
        return None
    q, k = shapes[0], shapes[1]
    if name.endswith("_decode"):
        same = q == (1, 8, 128, 128) and k[:2] == (8, 1) and k[3] == 128
        return _DECODE.get((k[2], dtypes[1])) if same else None
    if k[:2] != (1, 8) or k[3] != 128 or dtypes[1] != "bf16" or q not in (_Q, (1, 8, 128, 128)):
        return None
    return _STANDARD.get((k[2], q != _Q))
