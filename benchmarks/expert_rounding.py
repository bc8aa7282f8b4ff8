"""What each rounding of the op graph costs 64 small layers: a table of docs/expert.md.

``python -m benchmarks.expert_rounding`` takes some minutes of a core. No target runs: the roundings are those of
harness/opgraph_arithmetic.py, which the emulator's op graph is held to. Each row has the same numbers.
"""

from __future__ import annotations

from statistics import median

import torch

from harness.expert.kv import SyntheticKv
from harness.expert.reference import Reference
from harness.expert.sampling import noise
from harness.expert.weights import RandomWeights
from harness.metrics import pcc, relative_l2
from harness.opgraph_arithmetic import OpGraphArithmetic
from harness.oracle import Arithmetic
from harness.shape import PRESETS

SHAPE, DEPTHS, SEEDS = PRESETS["tiny"], (1, 64), range(8)
# In every row but torch's: the other steps cut what has more bits than a bf16.
TENSORS = ("kept",)
STEPS = {
    "weight": "bfp8 projections",
    "linear": "HiFi2: activations of matmuls cut to 7 bits",
    "norm": "norms in 16-bit DEST",
    "rotate": "rotary embedding in 16-bit DEST",
    "add": "residual adds in 16-bit DEST",
    "attention": "attention: exp by straight lines, 16-bit DEST",
}
ALL = (*TENSORS, *STEPS)
ROWS = {
    "tensors in bf16, the residual too": TENSORS,
    **{f"and {text}": (*TENSORS, step) for step, text in STEPS.items()},
    "all of these: the op graph's model": ALL,
    **{f"all but {STEPS[step]}": tuple(s for s in ALL if s != step) for step in ("weight", "linear", "attention")},
}


def only(steps: tuple[str, ...]) -> Arithmetic:
    """The op graph's roundings in these steps of the layer, none in the others."""
    methods = {step: getattr(OpGraphArithmetic, step) for step in steps}
    arithmetic: Arithmetic = type("Only", (Arithmetic,), {"weights": "bfp8", **methods})()
    return arithmetic


def reference(layers: int, seed: int, dtype: torch.dtype, arithmetic: Arithmetic | None = None) -> Reference:
    """An expert of that many small layers."""
    weights, kv = RandomWeights(SHAPE, layers, seed + 1), SyntheticKv(SHAPE, 100, -40, seed + 2)
    return Reference(weights, kv, dtype=dtype, arithmetic=arithmetic)


def hidden(layers: int, seed: int, dtype: torch.dtype, arithmetic: Arithmetic | None = None) -> torch.Tensor:
    """The state after the final norm in the first Euler step."""
    return reference(layers, seed, dtype, arithmetic).hidden(noise(SHAPE.tokens, seed), 0.0)


def main() -> None:
    exact = {(n, seed): hidden(n, seed, torch.float64) for n in DEPTHS for seed in SEEDS}

    def row(text: str, dtype: torch.dtype, arithmetic: Arithmetic | None) -> None:
        got = {key: hidden(*key, dtype, arithmetic) for key in exact}
        cells = [median(relative_l2(got[n, seed], exact[n, seed]) for seed in SEEDS) for n in DEPTHS]
        last, off = DEPTHS[-1], []
        for seed in SEEDS:
            out = reference(last, seed, dtype).out_proj
            off.append(1e4 * (1 - pcc(out(got[last, seed]), out(exact[last, seed]))))
        print(
            f"| {text} | " + " | ".join(f"{cell:.4f}" for cell in cells),
            f"| {median(off):.1f} ({min(off):.1f} to {max(off):.1f}) |",
            flush=True,
        )

    print("| rounded | hidden state, relative L2: 1 layer | 64 layers | velocity, 1 - PCC in 1e-4 |")
    print("|---|--:|--:|--:|")
    row("torch in bf16", torch.bfloat16, None)
    for text, steps in ROWS.items():
        row(text, torch.float32, only(steps))


if __name__ == "__main__":
    main()
