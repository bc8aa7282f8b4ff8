"""The emulator stands nearer to the real ttnn than the oracle does: it models what the device does to the numbers."""

from __future__ import annotations

import pytest
import torch

from harness.case import Case, Inputs
from harness.check import Bench
from harness.dtypes import to_device
from harness.metrics import max_abs, pcc, relative_l2
from harness.registry import parse
from harness.shape import parse_shape
from harness.targets import OpCall, open_target

TTSIM_GRID = (13, 10)
CASES = [
    pytest.param("op_graph", "small", 100, 256, "bf16", id="decode"),
    pytest.param("op_graph", "small", 100, 256, "bfp8", id="decode, bfp8 cache"),
    pytest.param("op_graph:attn=standard,matmul=default", "small", 100, 256, "bf16", id="standard, default matmuls"),
    pytest.param("norm_residual", "small", 100, 256, "bf16", id="norm_residual", marks=pytest.mark.slow),
    pytest.param("heads_rope", "small", 100, 256, "bfp8", id="heads_rope, bfp8 cache"),
    pytest.param("swiglu", "small", 100, 256, "bf16", id="swiglu", marks=pytest.mark.slow),
    pytest.param("linear_residual", "small", 100, 256, "bf16", id="linear_residual", marks=pytest.mark.slow),
    pytest.param("wo_swiglu", "small", 100, 256, "bf16", id="wo_swiglu"),
    pytest.param("op_graph", "alpamayo2_super", 4700, 8192, "bf16", id="real size", marks=pytest.mark.slow),
]


def outputs(target, spec: str, inputs: Inputs) -> dict[str, torch.Tensor]:
    """Output, update and own rows of one run."""
    bench = Bench.prepare(target, parse(spec), inputs)
    out = bench.read(bench.run())[0, 0].double()
    tail = inputs.case.Smax - inputs.case.shape.tokens
    k, v = (bench.read(cache)[0, :, tail:].double() for cache in (bench.k, bench.v))
    return {"output": out, "update": out - inputs.x[0, 0].double(), "K rows": k, "V rows": v}


@pytest.mark.simulator
@pytest.mark.parametrize("spec, shape, S, Smax, cache", CASES)
def test_the_emulator_is_nearer_to_ttnn_than_the_oracle(spec, shape, S, Smax, cache):
    inputs = Inputs.random(Case(parse_shape(shape), S=S, Smax=Smax, cache=cache))
    with open_target("simulator") as target:
        real = outputs(target, spec, inputs)
        target.exit_code = 0
    with open_target("emulator", grid=TTSIM_GRID) as target:
        ours = outputs(target, spec, inputs)
    k, v = inputs.caches("sevens")
    want = inputs.oracle(k, v, torch.float64)
    ideal = {"output": want.out, "update": want.out - inputs.x[0, 0].double(), "K rows": want.k, "V rows": want.v}
    for name, got in real.items():
        for metric in (pcc, relative_l2, max_abs):
            near, far = metric(ours[name], got), metric(ideal[name], got)
            print(f"{name:7} {metric.__name__:12} emulator-ttnn {near:.7g}, oracle-ttnn {far:.7g}")
            assert near > far if metric is pcc else near < far, (name, metric.__name__, near, far)


def program_tensors(target, inputs: Inputs) -> list[list[torch.Tensor]]:
    """All tensors of each program of kernels, as they are when it is done."""
    seen: list[list[torch.Tensor]] = []

    def look(call: OpCall) -> None:
        if call.name == "generic_op":
            seen.append([bench.read(tensor) for tensor in call.args[0]])

    bench = Bench.prepare(target, parse("partly_fused"), inputs)
    with target.recorder.observe(look):
        bench.run()
    return seen


@pytest.mark.simulator
@pytest.mark.parametrize(
    "shape, S, Smax, cache",
    [
        pytest.param("small", 100, 256, "bfp8", id="small, bfp8 cache"),
        pytest.param("alpamayo2_super", 4700, 8192, "bf16", id="real size", marks=pytest.mark.slow),
    ],
)
def test_the_fused_kernels_give_the_bits_of_the_real_ttnn(shape, S, Smax, cache):
    inputs = Inputs.random(Case(parse_shape(shape), S=S, Smax=Smax, cache=cache))
    with open_target("simulator") as target:
        real = program_tensors(target, inputs)
        target.exit_code = 0
    with open_target("emulator", grid=TTSIM_GRID) as target:
        ours = program_tensors(target, inputs)
    assert len(real) == len(ours) == 3, "norm, heads, residual and norm"
    for ttnn_program, our_program in zip(real, ours, strict=True):
        assert all(torch.equal(a, b) for a, b in zip(ttnn_program, our_program, strict=True))


def streamed_blocks(target, inputs: Inputs) -> list[torch.Tensor]:
    """What the kernels that stream weights make of given activations: x + o wo, the MLP of x, the layer's rest."""
    outputs = []
    for spec, block in (("linear_residual", "_out_projection"), ("swiglu", "_mlp"), ("wo_swiglu", "_rest")):
        bench = Bench.prepare(target, parse(spec), inputs)
        o = inputs.x.repeat(1, 1, 1, 8)[..., : inputs.case.shape.q_dim]
        o = to_device(target.ttnn, target.device, o, "bf16")
        outputs.append(bench.read(getattr(bench.implementation, block)(0, bench.x, o)))
    return outputs


@pytest.mark.simulator
@pytest.mark.parametrize("weights", ["bfp8", "bf16"])
def test_the_kernels_that_stream_weights_give_the_bits_of_the_real_ttnn(weights):
    inputs = Inputs.random(Case(parse_shape("small,tokens=96,inter=1056"), S=40, Smax=192, weights=weights))
    with open_target("simulator") as target:
        real = streamed_blocks(target, inputs)
        target.exit_code = 0
    with open_target("emulator", grid=TTSIM_GRID) as target:
        ours = streamed_blocks(target, inputs)
    assert all(torch.equal(a, b) for a, b in zip(real, ours, strict=True))
