"""LayerShape refuses what the device cannot tile, in one line that says what would be right."""

from __future__ import annotations

import pytest

from harness.case import Case
from harness.errors import UsageError
from harness.shape import PRESETS, LayerShape, parse_shape
from harness.weights import LayerWeights


@pytest.mark.parametrize(
    "fields, message",
    [
        ({"tokens": 33}, "tokens is 33; it must be a multiple of the tile, 32 (try 32 or 64)"),
        ({"hidden": 100}, "try 96 or 128"),
        ({"inter": 16}, "(try 32)"),
        ({"head_dim": 96}, "head_dim is 96; it must be 64 or 128"),
        ({"n_heads": 6, "n_kv_heads": 4}, "n_heads 6 is not a multiple of n_kv_heads 4"),
        ({"n_kv_heads": 0}, "n_kv_heads is 0; it must be positive"),
        ({"rms_eps": 0.0}, "rms_eps"),
        ({"rope_theta": 1.0}, "rope_theta"),
    ],
)
def test_illegal_shapes_say_what_is_wrong(fields, message):
    with pytest.raises(UsageError) as error:
        LayerShape(**fields)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_reference_shape_has_the_published_dimensions():
    s = PRESETS["alpamayo2_super"]
    assert (s.q_dim, s.kv_dim, s.qkv_dim, s.group) == (2048, 1024, 4096, 2)
    matmul = sum(a * b for a, b in (d for d in LayerWeights.shapes(s).values() if len(d) == 2))
    assert matmul == 37_748_736


def test_parse_shape_takes_a_preset_and_changes():
    assert parse_shape("tiny,inter=512").inter == 512
    assert parse_shape("alpamayo2_super") == LayerShape()


@pytest.mark.parametrize("text", ["huge", "tiny,colour=3", "tiny,inter=x", "tiny,inter=100"])
def test_parse_shape_refuses(text):
    with pytest.raises(UsageError):
        parse_shape(text)


@pytest.mark.parametrize(
    "fields, message",
    [
        ({"S": 8129}, "seq-len is 8129; it must lie in 1..8128"),
        ({"S": 0}, "seq-len is 0"),
        ({"Smax": 8200}, "max-seq is 8200; it must be a multiple"),
        ({"S": 1, "Smax": 64}, "max-seq is 64; it must exceed"),
        ({"cache": "fp8"}, "cache is 'fp8'; it must be one of bf16, bfp8"),
        ({"weights": "int8"}, "weights is 'int8'"),
        ({"layer": -1}, "layer is -1"),
        ({"S": 100, "rope_delta": -101}, "rope-delta is -101; at 100 valid rows it must lie in -100.."),
        ({"seed": -1}, "seed is -1"),
        ({"Smax": 1 << 30}, "the card has 32"),
    ],
)
def test_illegal_cases_say_what_is_wrong(fields, message):
    with pytest.raises(UsageError) as error:
        Case(**fields)
    assert message in str(error.value)
