"""Hypothesis strategies for everything the contract calls legal."""

from __future__ import annotations

from hypothesis import strategies as st

from harness.case import Case
from harness.distributions import DISTRIBUTIONS
from harness.shape import TILE, LayerShape


def multiples(low: int, high: int, step: int = TILE) -> st.SearchStrategy[int]:
    """Multiples of `step` from `low` to `high`."""
    return st.integers(low // step, high // step).map(lambda n: n * step)


@st.composite
def shapes(draw: st.DrawFn) -> LayerShape:
    """Legal layer shapes, small enough for a quick run."""
    n_kv_heads = draw(st.integers(1, 4))
    return LayerShape(
        tokens=draw(multiples(32, 128)),
        hidden=draw(multiples(64, 512)),
        n_heads=n_kv_heads * draw(st.integers(1, 4)),
        n_kv_heads=n_kv_heads,
        head_dim=draw(st.sampled_from([64, 128])),
        inter=draw(multiples(64, 768)),
    )


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """A legal shape in a legal context."""
    shape = draw(shapes())
    Smax = shape.tokens + draw(multiples(32, 512))
    S = draw(st.integers(1, Smax - shape.tokens))
    return Case(
        shape=shape,
        layer=draw(st.integers(0, 63)),
        S=S,
        Smax=Smax,
        rope_delta=draw(st.integers(-S, 4000)),
        weights=draw(st.sampled_from(["bfp8", "bf16"])),
        cache=draw(st.sampled_from(["bf16", "bfp8"])),
        seed=draw(st.integers(0, 2**31)),
        inputs=draw(st.sampled_from(sorted(DISTRIBUTIONS))),
    )


# Every variant of the op graph, as the command line names it.
op_graphs = st.builds(
    lambda attn, fold, matmul, mask: f"op_graph:attn={attn},fold={fold},matmul={matmul},mask={mask}",
    st.sampled_from(["decode", "standard"]),
    st.sampled_from(["true", "false"]),
    st.sampled_from(["tuned", "default"]),
    st.sampled_from(["bfp4", "bf16"]),
)
