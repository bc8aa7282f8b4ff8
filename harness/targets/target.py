"""Opens and closes the three targets."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.costs import P150, Chip
from harness.errors import UsageError
from harness.targets.recorder import Recorder
from harness.targets.traces import Extent, TraceGuard

if TYPE_CHECKING:
    from harness.emulator.programs import Programs

TARGETS = ("emulator", "simulator", "device")
SIM_DIR = Path("~/sim")  # where ttsim's README puts its files
CARDS = Path("/dev/tenstorrent")
TTNN_VERSION = "0.81.1"
LAUNCH_SECONDS = 900  # the longest op at the real size takes about 30 on ttsim
CLOSE_SECONDS = 60  # after a failed launch the real ttnn can hang when its device closes


@dataclass
class Target:
    """An open target.

    name       `emulator`, `simulator` or `device`
    ttnn       the module for implementations; every op through it is seen by `recorder`
    device     the open device
    opened     one line for people: what was opened
    chip       the card that predictions are for
    programs   the emulator's programs: `schedule_seed` to set, `counts` of every run; None on the real ttnn
    traces     whether it can capture traces: the real ttnn only where a region was set aside for them
    exit_code  what the process is to end with, should the device never close
    """

    name: str
    recorder: Recorder
    device: Any
    opened: str
    chip: Chip = P150
    programs: Programs | None = None
    traces: bool = True
    exit_code: int = 1

    @property
    def ttnn(self) -> Any:
        """The module implementations get."""
        return self.recorder.ttnn

    @contextmanager
    def watch_replays(self, seen: Callable[[], None]) -> Iterator[None]:
        """Call `seen` at each op that a replay runs: on the emulator, the one that can tell and takes long enough."""
        if self.name != "emulator":
            yield
            return

        def listener(launch: object) -> None:
            seen()

        self.device.listeners.append(listener)
        try:
            yield
        finally:
            self.device.listeners.remove(listener)

    def synchronize(self) -> None:
        """Wait until the device has done all it was given."""
        self.recorder.module.synchronize_device(self.device)


@contextmanager
def open_target(
    name: str, trace_region: int = 0, grid: tuple[int, int] | None = None, chip: Chip = P150
) -> Iterator[Target]:
    """Open `name`, yield it, close it.

    trace_region   bytes of DRAM to set aside for traces
    grid           worker columns and rows; the emulator only, which takes the chip's unless told
    chip           the card that the emulator is to be; a real target finds its own
    Raises `UsageError` saying what is missing and how to get it.
    """
    if name == "emulator":
        with _open_emulator(grid or chip.grid, chip) as target:
            yield target
        return
    if name not in TARGETS:
        raise UsageError(f"unknown target {name!r}; known: {', '.join(TARGETS)}")
    if chip is not P150:
        raise UsageError(f"the {name} is what it is; --chip and --calibration are for the emulator's predictions")
    library = _simulator_environment(fast_dispatch=bool(trace_region)) if name == "simulator" else None
    if name == "device":
        os.environ.pop("TT_METAL_SIMULATOR", None)
        if not CARDS.exists():
            raise UsageError(f"no card: {CARDS} is not there; install Tenstorrent's driver, or use --target emulator")
    ttnn = _import_ttnn()
    options = {"trace_region_size": trace_region} if trace_region else {}
    device = ttnn.open_device(device_id=0, **options)
    size = device.compute_with_storage_grid_size()
    where = f"ttnn {TTNN_VERSION} on {library}" if library else f"ttnn {TTNN_VERSION} on a card"
    recorder = Recorder(ttnn, lambda: ttnn.synchronize_device(device), TraceGuard(lambda: _live_buffers(ttnn, device)))
    target = Target(name, recorder, device, f"{where}, grid {size.x}x{size.y}", traces=bool(trace_region))
    # ttnn waits for a hung kernel in C++, where Python hears no Ctrl-C: let the signal end the process itself.
    interrupt = signal.signal(signal.SIGINT, signal.SIG_DFL)
    threading.Thread(target=_watch, args=(target,), daemon=True).start()
    try:
        yield target
    finally:
        _close(target)
        signal.signal(signal.SIGINT, interrupt)


@contextmanager
def _open_emulator(grid: tuple[int, int], chip: Chip) -> Iterator[Target]:
    from harness import emulator
    from harness.emulator import ttnn
    from harness.emulator.programs import programs_of

    device = emulator.open_device(grid, chip.banks)
    programs = programs_of(device)
    programs.constants = chip.machine
    try:
        opened = f"emulated Blackhole {chip.name}, grid {grid[0]}x{grid[1]}, {chip.banks} DRAM banks"
        guard = TraceGuard(lambda: [Extent(t.name, *span) for t, m in device.memories.items() for span in m.spans()])
        yield Target("emulator", Recorder(ttnn, guard=guard), device, opened, chip, programs)
    finally:
        ttnn.close_device(device)


def find_simulator() -> Path | None:
    """The simulator that TT_METAL_SIMULATOR names, or the one in ~/sim; None where there is neither."""
    named = os.environ.get("TT_METAL_SIMULATOR")
    path = Path(named) if named else (SIM_DIR / "libttsim_bh.so").expanduser()
    return path if path.exists() else None


def _simulator_environment(fast_dispatch: bool) -> Path:
    """Set what the real ttnn reads at import; traces exist under fast dispatch only."""
    library = find_simulator()
    if library is None:
        named = os.environ.get("TT_METAL_SIMULATOR")
        where = f"TT_METAL_SIMULATOR names {named}, which is not there" if named else f"none in {SIM_DIR}"
        raise UsageError(f"no simulator: {where}; put ttsim's libttsim_bh.so and soc_descriptor.yaml into {SIM_DIR}")
    os.environ["TT_METAL_SIMULATOR"] = str(library)
    os.environ["TT_METAL_DISABLE_SFPLOADMACRO"] = "1"
    if fast_dispatch:
        os.environ.pop("TT_METAL_SLOW_DISPATCH_MODE", None)
    else:
        os.environ["TT_METAL_SLOW_DISPATCH_MODE"] = "1"
    return library


def _live_buffers(ttnn: Any, device: Any) -> list[Extent]:
    """What the real ttnn has allocated now."""
    buffers = ttnn._ttnn.reports.get_buffers([device])
    return [Extent(b.buffer_type.name, b.address, b.address + b.max_size_per_bank) for b in buffers]


def _import_ttnn() -> Any:
    os.environ.setdefault("TT_LOGGER_LEVEL", "error")
    os.environ.setdefault("LOGURU_LEVEL", "WARNING")
    try:
        import ttnn
    except ImportError as error:
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        hint = (
            "pip install 'layerbench[ttnn]'"
            if version in ("3.10", "3.12")
            else f"ttnn {TTNN_VERSION} has wheels for Python 3.10 and 3.12, and this is {version}"
        )
        raise UsageError(f"the real ttnn does not import ({error}); {hint}") from error
    return ttnn


def _watch(target: Target) -> None:
    """End the process when an op does not end: the real ttnn waits for ever for a kernel that waits for ever."""
    while True:
        time.sleep(1)
        running = target.recorder.running
        if running and time.monotonic() - running[1] > LAUNCH_SECONDS:
            print(
                f"layerbench: {running[0]} did not end within {LAUNCH_SECONDS} s on the {target.name}; a kernel may "
                "wait for what never comes: the emulator names it (--target emulator)",
                file=sys.stderr,
                flush=True,
            )
            os._exit(1)


def _close(target: Target) -> None:
    """Close, but not for ever: an exit code that arrives beats a clean close that does not."""

    def give_up() -> None:
        print(f"layerbench: the device did not close within {CLOSE_SECONDS} s; leaving", file=sys.stderr, flush=True)
        os._exit(target.exit_code)

    timer = threading.Timer(CLOSE_SECONDS, give_up)
    timer.daemon = True
    timer.start()
    try:
        target.recorder.module.close_device(target.device)
    finally:
        timer.cancel()
