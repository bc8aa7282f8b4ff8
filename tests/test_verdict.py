"""Wrong layers must fail the check, and for the right reason: this justifies the limits in harness/verdict.py."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from harness import verdict
from harness.case import Case, Inputs
from harness.check import CheckResult, run_check
from harness.dtypes import to_device
from harness.implementation import Implementation
from harness.metrics import max_abs, pcc, relative_l2
from harness.registry import Spec
from harness.shape import PRESETS
from layer_impls.op_graph import OpGraph, OpGraphOptions

CASE = Case(PRESETS["small"], S=100, Smax=256, rope_delta=-30)


def judge(target, cls: type[Implementation], case: Case = CASE) -> CheckResult:
    return run_check(target, Spec(cls.__name__, cls, OpGraphOptions()), Inputs.random(case))


def failed(result: CheckResult) -> set[str]:
    return {part.name for part in result.parts if not part.passed}


class Faulty(OpGraph):
    """The op graph with a hook before and after, each on host values."""

    calls = 0

    def layer_fn(self, i: int, x: Any, k_cache: Any, v_cache: Any) -> Any:
        type(self).calls += 1
        out = super().layer_fn(i, x, k_cache, v_cache)
        self.after(x, k_cache, v_cache)
        return self.change(out)

    def after(self, x: Any, k: Any, v: Any) -> None:
        """Spoil what the layer must leave alone."""

    def change(self, out: Any) -> Any:
        """Spoil the output."""
        return out

    def edit(self, tensor: Any, change: Any) -> None:
        """Apply `change` to a device tensor in place."""
        ttnn = self.env.ttnn
        host = ttnn.from_torch(change(ttnn.to_torch(tensor)), dtype=tensor.dtype, layout=tensor.layout)
        ttnn.copy_host_to_device_tensor(host, tensor)


def output_fault(name: str, change: Any) -> type[Faulty]:
    def spoil(self: Faulty, out: Any) -> Any:
        self.edit(out, change)
        return out

    return type(name, (Faulty,), {"change": spoil})


def nan_tail(t: torch.Tensor) -> torch.Tensor:
    t[..., -1, -1] = float("nan")
    return t


def one_tile_zero(t: torch.Tensor) -> torch.Tensor:
    t[..., 32:64, 64:96] = 0
    return t


OUTPUT_FAULTS = {
    "Zeros": (torch.zeros_like, "output"),
    "Scaled": (lambda t: t * 1.04, "output"),
    "Offset": (lambda t: t + 0.1, "output"),
    "SwappedTokens": (lambda t: t.flip(2), "output"),
    "OneTileZero": (one_tile_zero, "output"),
    "NanInTail": (nan_tail, "finite"),
}


@pytest.mark.parametrize("name", OUTPUT_FAULTS)
def test_a_spoiled_output_fails(emulator, name):
    change, part = OUTPUT_FAULTS[name]
    assert part in failed(judge(emulator, output_fault(name, change)))


class ResidualOnly(OpGraph):
    def layer_fn(self, i: int, x: Any, k_cache: Any, v_cache: Any) -> Any:
        ttnn = self.env.ttnn
        return to_device(ttnn, self.env.device, ttnn.to_torch(x), "bf16")


class ReturnsX(OpGraph):
    def layer_fn(self, i: int, x: Any, k_cache: Any, v_cache: Any) -> Any:
        return x


class WrongDtype(Faulty):
    def change(self, out: Any) -> Any:
        return self.env.ttnn.typecast(out, self.env.ttnn.bfloat8_b)


class MutatesX(Faulty):
    def after(self, x: Any, k: Any, v: Any) -> None:
        def bump(t: torch.Tensor) -> torch.Tensor:
            t[0, 0, 5, 7] += 1
            return t

        self.edit(x, bump)


class WritesOutside(Faulty):
    def after(self, x: Any, k: Any, v: Any) -> None:
        def zero_row(t: torch.Tensor) -> torch.Tensor:
            t[:, -1, CASE.Smax - CASE.shape.tokens - 1] = 0
            return t

        self.edit(k, zero_row)


class LosesV(Faulty):
    def after(self, x: Any, k: Any, v: Any) -> None:
        def spoil(t: torch.Tensor) -> torch.Tensor:
            t[:, :, -CASE.shape.tokens :] = 7.0
            return t

        self.edit(v, spoil)


class ShiftsK(Faulty):
    def after(self, x: Any, k: Any, v: Any) -> None:
        def roll(t: torch.Tensor) -> torch.Tensor:
            t[:, :, -CASE.shape.tokens :] = t[:, :, -CASE.shape.tokens :].roll(1, dims=2)
            return t

        self.edit(k, roll)


class ChangesItsMind(Faulty):
    def change(self, out: Any) -> Any:
        if self.calls % 2 == 0:

            def nudge(t: torch.Tensor) -> torch.Tensor:
                t[0, 0, 3, 3] *= 1.01
                return t

            self.edit(out, nudge)
        return out


class RaisesLate(OpGraph):
    def layer_fn(self, i: int, x: Any, k_cache: Any, v_cache: Any) -> Any:
        super().layer_fn(i, x, k_cache, v_cache)
        raise RuntimeError("kernel lost")


@pytest.mark.parametrize(
    "cls, part",
    [
        (ResidualOnly, "update"),
        (ReturnsX, "shape and dtype"),
        (WrongDtype, "shape and dtype"),
        (MutatesX, "x unchanged"),
        (WritesOutside, "other K rows"),
        (LosesV, "V rows"),
        (ShiftsK, "K rows"),
        (ChangesItsMind, "second run"),
        (RaisesLate, "runs"),
    ],
    ids=lambda p: getattr(p, "__name__", p),
)
def test_a_broken_promise_fails_under_its_name(emulator, cls, part):
    assert part in failed(judge(emulator, cls))


class Context(OpGraph):
    """The op graph after its context's buffers were rewritten wrongly."""

    S, delta = 0, 0

    def prepare(self, i: int, weights: Any) -> None:
        super().prepare(i, weights)
        self.env.context.set_context(CASE.S + self.S, CASE.rope_delta + self.delta)


class SeesAHiddenRow(Context):
    S, delta = 1, -1  # the positions stay right


class MissesTheLastRow(Context):
    S, delta = -1, 1


class WrongPosition(Context):
    delta = 1


@pytest.mark.parametrize("cls", [SeesAHiddenRow, MissesTheLastRow, WrongPosition])
def test_a_wrong_context_fails(emulator, cls):
    assert failed(judge(emulator, cls)) & {"output", "update"}


class NoQueryNorm(OpGraph):
    def prepare(self, i: int, weights: Any) -> None:
        super().prepare(i, weights)
        ones = torch.ones(1, 1, 1, self.env.shape.head_dim)
        self.weights[i]["q_norm"] = to_device(self.env.ttnn, self.env.device, ones, "bf16")


class LoFi(OpGraph):
    def __init__(self, env: Any, options: Any) -> None:
        super().__init__(env, options)
        self.matmul_compute = env.ttnn.WormholeComputeKernelConfig(
            math_fidelity=env.ttnn.MathFidelity.LoFi, math_approx_mode=False, fp32_dest_acc_en=True, packer_l1_acc=True
        )


@pytest.mark.parametrize("cls", [NoQueryNorm, LoFi])
def test_wrong_arithmetic_fails(emulator, cls):
    assert failed(judge(emulator, cls)) & {"output", "update"}


def test_the_right_layer_passes(emulator):
    result = judge(emulator, OpGraph)
    assert result.passed, failed(result)
    assert len(result.calls) == 19


def test_metrics_are_not_fooled():
    x = torch.randn(64, 64)
    assert pcc(x, 2 * x) == pytest.approx(1) and relative_l2(2 * x, x) == pytest.approx(1)
    assert pcc(torch.ones(8), torch.ones(8)) == 0.0
    nan = x.clone()
    nan[0, 0] = float("nan")
    assert pcc(nan, x) == 0 and relative_l2(nan, x) == max_abs(nan, x) == float("inf")


def test_identical_sees_one_bit_and_accepts_equal_nans():
    a = torch.tensor([1.0, float("nan"), -2.0])
    assert verdict.identical("same", a, a.clone()).passed
    b = torch.tensor([1.0, float("nan"), -2.0000002])
    part = verdict.identical("other", a, b, "oops")
    assert not part.passed and "first at [2]" in part.text and "oops" in part.text
