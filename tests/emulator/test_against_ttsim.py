"""The good programs and the twins on the real ttnn over the functional simulator: equal bit for bit, live and to what
was recorded. Of the twins that are matmuls the smallest, for the others take minutes there.

``python -m tests.emulator.test_against_ttsim`` records the digests of the simulator's outputs anew.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import torch

from harness.calibration.twins import TWINS
from tests.emulator.build import Builder
from tests.emulator.good import GOOD

SMALL = {name: twin for name, twin in TWINS.items() if not name.startswith(("w2", "w3"))}
PROGRAMS = {**GOOD, **{name: lambda b, twin=twin: b.run(*twin.build(b)) for name, twin in SMALL.items()}}
SIMULATOR = Path(os.environ.get("TT_METAL_SIMULATOR", Path.home() / "sim" / "libttsim_bh.so"))
RECORDED = Path(__file__).parent / "data" / "ttsim_programs.json"
RUN = """
import sys, torch, ttnn
from tests.emulator.build import Builder
from tests.emulator.test_against_ttsim import PROGRAMS
device = ttnn.open_device(device_id=0)
torch.save({name: run(Builder(ttnn, device)) for name, run in PROGRAMS.items()}, sys.argv[1])
ttnn.close_device(device)
"""


def digest(values: torch.Tensor) -> str:
    """A digest of the values as fp32."""
    return hashlib.sha256(values.float().contiguous().numpy().tobytes()).hexdigest()[:16]


def simulate(path: Path) -> dict[str, torch.Tensor]:
    """Every good program's output on the simulator."""
    settings = {
        "TT_METAL_SIMULATOR": str(SIMULATOR),
        "TT_METAL_SLOW_DISPATCH_MODE": "1",
        "TT_METAL_DISABLE_SFPLOADMACRO": "1",
        "TT_LOGGER_LEVEL": "error",
    }
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", RUN, str(path)]
    done = subprocess.run(
        command, env={**os.environ, **settings}, cwd=root, timeout=1500, capture_output=True, text=True
    )
    assert path.exists(), done.stdout[-2000:] + done.stderr[-2000:]
    outputs: dict[str, torch.Tensor] = torch.load(path)
    return outputs


@pytest.fixture(scope="module")
def simulated_programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, torch.Tensor]:
    """The outputs on the simulator, from one run of it."""
    pytest.importorskip("ttnn")
    if not SIMULATOR.exists():
        pytest.skip(f"needs a simulator: {SIMULATOR} is not there (set TT_METAL_SIMULATOR)")
    return simulate(tmp_path_factory.mktemp("ttsim") / "outputs.pt")


@pytest.mark.simulator
@pytest.mark.parametrize("name", PROGRAMS)
def test_equal_to_ttsim(builder: Builder, simulated_programs: dict[str, torch.Tensor], name: str) -> None:
    assert torch.equal(PROGRAMS[name](builder).float(), simulated_programs[name].float())


@pytest.mark.parametrize("name", PROGRAMS)
def test_equal_to_what_ttsim_gave(builder: Builder, name: str) -> None:
    assert digest(PROGRAMS[name](builder)) == json.loads(RECORDED.read_text())[name]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        digests = {name: digest(values) for name, values in simulate(Path(folder) / "outputs.pt").items()}
    RECORDED.write_text(json.dumps(digests, indent=1) + "\n")
