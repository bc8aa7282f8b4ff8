"""The tile core against what the real ttnn computed on a simulator, bit for bit."""

from __future__ import annotations

import hashlib
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from tests.emulator.record_tile import GOLDEN, STRIDE, Recorder, digest
from tests.emulator.tile_cases import CASES
from tests.emulator.tile_core import Core, build, core


@pytest.fixture(scope="module")
def golden() -> dict[str, np.ndarray]:
    with np.load(GOLDEN) as data:
        return {name: data[name] for name in data.files}


def differs(tile: Core, name: str, recorded: np.ndarray) -> bool:
    return not np.array_equal(digest(CASES[name].run(tile)), recorded[:32])


def test_every_case_is_recorded(golden: dict[str, np.ndarray]) -> None:
    assert set(golden) == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_matches_the_simulator_bit_for_bit(golden: dict[str, np.ndarray], name: str) -> None:
    got = CASES[name].run(core())
    sample = got.reshape(-1)[::STRIDE]
    wrong = np.flatnonzero(sample != golden[name][32:])
    assert wrong.size == 0, f"{wrong.size} of {sample.size} sampled bytes differ, the first at {wrong[0] * STRIDE}"
    assert np.array_equal(hashlib.sha256(got.tobytes()).digest(), golden[name][:32].tobytes())


# Each fault: file, text, its replacement, and cases that must notice.
FAULTS = {
    "one fidelity phase too few": ("matmul.cpp", "int(fidelity);", "int(fidelity) - 1;", ["matmul16_2", "matmul32_4"]),
    "phases in another order": ("dot.h", "phase & a.late ?", "phase & b.late ?", ["matmul16_2", "matmul32_3"]),
    "operands swapped": ("matmul.cpp", "split<true>(a, in1);", "split<true>(a, in0);", ["matmul16_1", "matmul32_2"]),
    "pack rounds toward zero": ("format.cpp", "(x + 0x8000) >> 16", "x >> 16", ["copy_to_dest_Float16_b"]),
    "block mantissas cut": ("format.cpp", "fraction + (splat(1) << shift)", "fraction", ["copy16_Float16_b_Bfp8_b"]),
    "faces in another order": ("matmul.cpp", "half * 2 * kFaceDatums", "half * kFaceDatums", ["matmul16_1"]),
    "ties of products to even": ("dot.h", "1.0f + 1.0f / 8192", "1.0f", ["matmul32_1", "reduce32_SUM_COL_1"]),
    "sums cut, not rounded": ("accumulate.h", "(t + 1) >> 1", "t >> 1", ["matmul32_4"]),
    "16-bit DEST keeps more bits": ("accumulate.h", "(t + 0x2001) >> 14", "(t + 1) >> 14", ["matmul16_2"]),
    "SFPU product in full": ("lanes.h", "lost == 0 ? p : p | 1", "p", ["rsqrt32", "recip32"]),
    "store rounds": ("sfpu.cpp", "? x & 0xFFFF0000u : x;", "? (x + 0x8000) & 0xFFFF0000u : x;", ["add_unary16"]),
}  # fmt: skip


def test_planted_faults_are_noticed(golden: dict[str, np.ndarray]) -> None:
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        cores = list(pool.map(lambda fault: build(edits=(fault[:3],)), FAULTS.values()))
    for (fault, (*_, cases)), tile in zip(FAULTS.items(), cores, strict=True):
        for name in cases:
            assert differs(tile, name, golden[name]), f"{name} does not notice: {fault}"


@pytest.mark.slow
@pytest.mark.parametrize("flags", [(), ("-ffp-contract=off",), ("-O3", "-march=native")], ids=" ".join)
def test_compiler_flags_change_nothing(golden: dict[str, np.ndarray], flags: tuple[str, ...]) -> None:
    tile = build(flags)
    assert [name for name in CASES if differs(tile, name, golden[name])] == []


SIMULATOR = Path(os.environ.get("TT_METAL_SIMULATOR", "~/sim/libttsim_bh.so")).expanduser()
SAMPLE = ["copy16_Bfp8_b_Bfp4_b", "matmul16_2", "mul32_3", "reduce32_MAX_ROW", "silu16", "rsqrt32"]


@pytest.mark.simulator
def test_the_simulator_still_computes_what_was_recorded(
    golden: dict[str, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ttnn")
    if not SIMULATOR.exists():
        pytest.skip(f"no simulator at {SIMULATOR}")
    for key, value in {
        "TT_METAL_SIMULATOR": str(SIMULATOR),
        "TT_METAL_SLOW_DISPATCH_MODE": "1",
        "TT_METAL_DISABLE_SFPLOADMACRO": "1",
    }.items():
        monkeypatch.setenv(key, value)
    with Recorder() as recorder:
        for name in SAMPLE:
            assert np.array_equal(digest(recorder.run(CASES[name])), golden[name][:32]), name
