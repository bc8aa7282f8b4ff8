"""What this machine has for each target, and what to do about what it has not."""

from __future__ import annotations

import platform
import subprocess
import sys
from dataclasses import dataclass
from importlib import metadata, util
from pathlib import Path

from harness.emulator import toolchain
from harness.errors import UsageError
from harness.targets.target import CARDS, SIM_DIR, TTNN_VERSION, find_simulator

SFPI = Path("/opt/tenstorrent/sfpi")
IMPORT_SECONDS = 120


@dataclass(frozen=True)
class Finding:
    """One thing looked for: what was found, what it is for, and the advice where it is missing."""

    name: str
    found: bool
    text: str
    needed_for: str
    advice: str = ""


def examine() -> list[Finding]:
    """All findings, the emulator's needs first."""
    return [_python(), _torch(), _compiler(), _ttnn(), _sfpi(), _ttsim(), _wolfpine(), _card()]


def _python() -> Finding:
    good = (3, 10) <= sys.version_info[:2] <= (3, 13)
    return Finding("Python", good, platform.python_version(), "all", "" if good else "use Python 3.10 to 3.13")


def _torch() -> Finding:
    version = _version("torch")
    return Finding("torch", version is not None, version or "not installed", "all", "pip install torch")


def _compiler() -> Finding:
    needed = "kernels on the emulator"
    try:
        _, version = toolchain.compiler()
    except UsageError as error:
        return Finding("C++ compiler", False, "none", needed, str(error))
    return Finding("C++ compiler", True, (version.splitlines() or ["says no version"])[0], needed)


def _ttnn() -> Finding:
    needed = "simulator, device"
    version = _version("ttnn")
    if version is None:
        has_wheel = sys.version_info[:2] in ((3, 10), (3, 12)) and sys.platform == "linux"
        advice = "pip install 'layerbench[ttnn]'" if has_wheel else "needs Python 3.10 or 3.12 on Linux: make test"
        return Finding("ttnn", False, "not installed", needed, advice)
    if version != TTNN_VERSION:
        return Finding("ttnn", False, version, needed, f"pip install ttnn=={TTNN_VERSION}: others are not tried")
    run = subprocess.run([sys.executable, "-c", "import ttnn"], capture_output=True, text=True, timeout=IMPORT_SECONDS)
    if run.returncode:
        last = (run.stderr.strip().splitlines() or ["no message"])[-1]
        return Finding("ttnn", False, f"{version} does not import", needed, last)
    return Finding("ttnn", True, version, needed)


def _sfpi() -> Finding:
    places = [SFPI]
    spec = util.find_spec("ttnn")
    if spec and spec.origin:
        places.append(Path(spec.origin).parent / "runtime" / "sfpi")
    for place in places:
        if (place / "compiler" / "bin" / "riscv-tt-elf-g++").exists():
            return Finding("sfpi (kernel compiler)", True, str(place), "simulator, device")
    advice = f"install a release of Tenstorrent's sfpi into {SFPI}"
    return Finding("sfpi (kernel compiler)", False, "none", "simulator, device", advice)


def _ttsim() -> Finding:
    library = find_simulator()
    if library is None:
        advice = f"put libttsim_bh.so of a ttsim release and soc_descriptor.yaml into {SIM_DIR}"
        return Finding("ttsim", False, "none", "simulator", advice)
    if library.is_file() and not (library.parent / "soc_descriptor.yaml").exists():
        advice = f"copy blackhole_140_arch.yaml of tt-metal there as {library.parent / 'soc_descriptor.yaml'}"
        return Finding("ttsim", False, f"{library} without soc_descriptor.yaml", "simulator", advice)
    return Finding("ttsim", True, str(library), "simulator")


def _wolfpine() -> Finding:
    version = _version("wolfpine")
    advice = "optional: pip install wolfpine, and TT_METAL_SIMULATOR=<site-packages>/framework/sim/blackhole"
    return Finding("wolfpine", version is not None, version or "not installed", "simulator (with cycles)", advice)


def _card() -> Finding:
    cards = sorted(p.name for p in CARDS.iterdir()) if CARDS.is_dir() else []
    text = f"{len(cards)} in {CARDS}" if cards else "none"
    return Finding("card", bool(cards), text, "device", "install the card and Tenstorrent's driver")


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
