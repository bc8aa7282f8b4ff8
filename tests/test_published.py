"""Published times go to the ops they were measured for, and to no other."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness import published
from harness.breakdown import from_calls, run_breakdown
from harness.case import Case, Inputs
from harness.registry import parse
from harness.shape import PRESETS


def labelled(target, spec: str, case: Case):
    return run_breakdown(target, parse(spec), Inputs.random(case))


@pytest.mark.parametrize(
    "spec, case, total",
    [
        ("op_graph", Case(), 521.0),
        ("op_graph", Case(S=100), 521.0),  # the op graph's time does not depend on S
        ("op_graph", Case(Smax=5120), 521.0 - 175.3 + 149.0),
        ("op_graph:attn=standard", Case(), 521.0 - 175.3 + 516.0),
        ("op_graph:attn=standard,fold=true", Case(), 521.0 - 175.3 + 708.0),
        ("op_graph:matmul=default", Case(), 521.0 - 166.3 + 284.0),
        ("op_graph:mask=bf16", Case(), None),  # measured with a bfp4 mask only
        ("op_graph", Case(weights="bf16"), None),
        ("op_graph", Case(cache="bfp8"), None),  # two typecasts more, never measured
        ("op_graph", Case(Smax=4864), None),
        ("op_graph", Case(PRESETS["small"], S=100, Smax=256), None),
    ],
    ids=str,
)
def test_totals(emulator, spec, case, total):
    result = labelled(emulator, spec, case)
    assert result.total_us == (pytest.approx(total) if total else None)


def test_every_op_of_the_reference_layer_has_its_name_and_time(emulator):
    lines = labelled(emulator, "op_graph", Case()).lines
    assert [(line.label, line.us) for line in lines] == [
        ("rms_norm", 17.3), ("wqkv", 25.6), ("create_qkv_heads", 52.8), ("q_norm", 6.5), ("k_norm", 5.8),
        ("rope q", 11.0), ("rope k", 9.1), ("fill k", 3.9), ("fill v", 3.8), ("attention", 175.3),
        ("concat_heads", 27.7), ("wo", 18.6), ("add", 6.5), ("rms_norm2", 17.4), ("w1 + silu", 40.2), ("w3", 37.3),
        ("mul", 10.9), ("w2", 44.6), ("add2", 6.7),
    ]  # fmt: skip


def test_the_bfp8_cache_keeps_its_published_attention(emulator):
    lines = labelled(emulator, "op_graph", Case(cache="bfp8")).lines
    assert {line.label: line.us for line in lines}["attention"] == 143.0
    assert [line.label for line in lines].count("typecast") == 2


def test_times_are_shown_for_the_emulator_only(emulator):
    calls = tuple(line.call for line in labelled(emulator, "op_graph", Case()).lines)
    here = from_calls("op_graph", emulator, Case(), calls, [None] * len(calls))
    assert here.origin == published.ORIGIN and here.predicted_us
    on_simulator = from_calls("op_graph", replace(emulator, name="simulator"), Case(), calls, [None] * len(calls))
    assert on_simulator.origin is None and on_simulator.total_us is None and on_simulator.predicted_us is None


def test_the_last_add_keeps_its_name_where_the_first_is_fused_away(emulator):
    lines = labelled(emulator, "norm_residual", Case()).lines
    assert (lines[-1].label, lines[-1].us) == ("add2", 6.7)
