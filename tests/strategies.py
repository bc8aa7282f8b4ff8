"""Hypothesis strategies for the variants of the op graph."""

from __future__ import annotations

from hypothesis import strategies as st

# Every variant of the op graph, as the command line names it.
op_graphs = st.builds(
    lambda attn, fold, matmul, mask: f"op_graph:attn={attn},fold={fold},matmul={matmul},mask={mask}",
    st.sampled_from(["decode", "standard"]),
    st.sampled_from(["true", "false"]),
    st.sampled_from(["tuned", "default"]),
    st.sampled_from(["bfp4", "bf16"]),
)
