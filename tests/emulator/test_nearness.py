"""Op by op and for whole layers: the emulator beside the real ttnn on a simulator, on the same inputs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pytest
import torch

from harness.emulator import open_device, toolchain, ttnn
from harness.emulator.formats import DataType, Layout, Rounding, decode, encode
from harness.emulator.numerics import matmul
from harness.emulator.ttnn import Device
from tests.emulator import block_floats
from tests.emulator.cases import CASES, VARIANTS, kernel, linear, run
from tests.emulator.refused import REFUSED

pytestmark = pytest.mark.simulator


def by_name(names: Iterable[str]) -> pytest.MarkDecorator:
    """A test a case; each variant is more to compile."""
    slow = pytest.mark.slow
    return pytest.mark.parametrize("name", [pytest.param(n, marks=slow if n in VARIANTS else ()) for n in names])


@pytest.fixture
def device() -> Iterator[Device]:
    device = open_device(grid=(13, 10))
    yield device
    ttnn.close_device(device)


def distances(a: torch.Tensor, b: torch.Tensor) -> tuple[float, float]:
    """Largest and root mean square difference."""
    difference = a.double() - b.double()
    return difference.abs().max().item(), difference.pow(2).mean().sqrt().item()


def assert_nearer(emulated: torch.Tensor, simulated: torch.Tensor, formula: torch.Tensor) -> None:
    """The emulator is nearer to the simulator than the fp32 formula is, or both are on the spot."""
    ours, theirs = distances(emulated, simulated), distances(formula, simulated)
    assert ours == (0, 0) or (ours[0] < theirs[0] and ours[1] < theirs[1]), f"{ours} against the formula's {theirs}"


@by_name(CASES)
def test_the_emulator_is_nearer_than_the_formula(name: str, device: Device, simulated: dict[str, Any]) -> None:
    values, results = run(ttnn, device, CASES[name])
    for key, value in simulated["values"][name].items():
        assert torch.equal(values[key], value), f"{key} did not reach both devices alike"
    theirs = simulated["results"][name]
    assert [(r.shape, r.dtype) for r in results] == [(r.shape, r.dtype) for r in theirs]
    assert_nearer(results[0], theirs[0], CASES[name].formula(values))


@pytest.mark.skipif(
    toolchain.find_compiler() is None, reason="without a C++ compiler products are formed with less detail"
)
@by_name(CASES)
def test_with_a_compiler_the_emulator_gives_the_same_bits(name: str, device: Device, simulated: dict[str, Any]) -> None:
    _, results = run(ttnn, device, CASES[name])
    for ours, theirs in zip(results, simulated["results"][name], strict=True):
        if name == "linear with SiLU" or name.startswith("layer"):  # the accurate SiLU may differ in a last bit
            assert (ours != theirs).float().mean() < 1e-3
        else:
            assert torch.equal(ours, theirs)


@by_name(["linear", "linear in 16 bits", "decode", "standard attention", "layer"])
def test_without_a_compiler_it_is_still_nearer(
    name: str, device: Device, simulated: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matmul, "_library", lambda: None)
    values, results = run(ttnn, device, CASES[name])
    theirs = simulated["results"][name][0]
    formula = CASES[name].formula(values)
    # Single last bits flip, so the largest difference can be a whole unit of the last place, the formula's half of one.
    assert distances(results[0], theirs)[1] < distances(formula, theirs)[1]


def test_planted_faults_are_not_nearer(device: Device, simulated: dict[str, Any]) -> None:
    theirs = simulated["results"]
    values, (good,) = run(ttnn, device, CASES["linear"])
    tensors = {
        n: ttnn.from_torch(values[n], dtype=dtype, layout=ttnn.TILE_LAYOUT, device=device)
        for n, dtype in (("x", ttnn.bfloat16), ("wqkv", ttnn.bfloat8_b))
    }
    formula = CASES["linear"].formula(values)
    assert_nearer(good, theirs["linear"][0], formula)
    for fidelity in ("LoFi", "HiFi4"):
        wrong = ttnn.to_torch(linear(ttnn, device, tensors["x"], tensors["wqkv"], block=8, fidelity=fidelity))
        with pytest.raises(AssertionError):
            assert_nearer(wrong, theirs["linear"][0], formula)
    for name, config in (("rms_norm", "HiFi4"), ("rms_norm", "HiFi2")):  # 32-bit DEST: the rounding to bf16 is missing
        values, _ = run(ttnn, device, CASES[name])
        x, gamma = (
            ttnn.from_torch(values[n].bfloat16(), layout=ttnn.TILE_LAYOUT, device=device) for n in ("x", "gamma")
        )
        wrong = ttnn.rms_norm(x, epsilon=1e-6, weight=gamma, compute_kernel_config=kernel(ttnn, config))
        with pytest.raises(AssertionError):
            assert_nearer(ttnn.to_torch(wrong), theirs[name][0], CASES[name].formula(values))


@pytest.mark.parametrize("name", block_floats.DTYPES)
def test_host_conversion_is_the_real_one(name: str, simulated: dict[str, Any]) -> None:
    dtype = {"bfloat16": DataType.BFLOAT16, "bfloat8_b": DataType.BFLOAT8_B, "bfloat4_b": DataType.BFLOAT4_B}[name]
    values = block_floats.samples()
    ours = decode(encode(values, dtype, Layout.TILE, Rounding.HOST), values.shape, dtype, Layout.TILE)
    assert torch.equal(ours.float(), simulated["blocks"][name].float())


@pytest.mark.slow  # what it does not refuse has to be compiled
def test_the_real_ttnn_refuses_the_same(simulated: dict[str, Any]) -> None:
    assert set(simulated["refused"]) == REFUSED
