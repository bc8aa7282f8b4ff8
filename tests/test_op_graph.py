"""The op graph against the oracle: random legal shapes on the emulator, chosen ones on the real ttnn."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from harness.case import Case, Inputs
from harness.check import run_check
from harness.registry import parse
from harness.shape import LayerShape
from harness.strategies import cases
from harness.targets import open_target
from tests.conftest import run_cli
from tests.strategies import op_graphs
from tests.test_fused import UNEVEN


def assert_passes(target, spec: str, case: Case) -> None:
    result = run_check(target, parse(spec), Inputs.random(case))
    assert result.passed, "\n".join(f"{p.name}: {p.text}" for p in result.parts if not p.passed)


@given(case=cases(), spec=op_graphs)
@settings(max_examples=20)
def test_random_legal_shapes_pass_on_the_emulator(case, spec):
    with open_target("emulator") as target:
        assert_passes(target, spec, case)


VARIANTS = [
    ("op_graph", "bf16"),
    ("op_graph:attn=standard,fold=true,mask=bf16", "bfp8"),
    ("op_graph:attn=standard,matmul=default", "bf16"),
    ("op_graph:matmul=default", "bfp8"),
]


@pytest.mark.simulator
@pytest.mark.parametrize("spec, cache", VARIANTS)
def test_variants_pass_on_the_real_ttnn(spec, cache):
    size = ("--shape", "small", "--seq-len", "100", "--max-seq", "256", "--rope-delta", "-30")
    done = run_cli("check", spec, "--target", "simulator", "--cache", cache, *size)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.simulator
@pytest.mark.slow
def test_an_uneven_shape_passes_on_the_real_ttnn():
    done = run_cli("check", "op_graph", "--target", "simulator", "--shape", UNEVEN, "-S", "33", "--max-seq", "256")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.simulator
@pytest.mark.slow
@pytest.mark.parametrize("spec", ["op_graph", "op_graph:attn=standard"])
def test_the_real_size_passes_on_the_real_ttnn(spec):
    done = run_cli("check", spec, "--target", "simulator", "--seq-len", "4700", "--max-seq", "8192")
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_real_size_passes_on_the_emulator(emulator):
    assert_passes(emulator, "op_graph", Case())


def test_configs_follow_the_grid():
    shape = LayerShape(tokens=32, hidden=128, n_heads=8, n_kv_heads=8, head_dim=128, inter=12032)
    for grid in ((11, 10), (13, 10)):
        with open_target("emulator", grid=grid) as target:
            assert_passes(target, "op_graph", Case(shape, S=7, Smax=64))
