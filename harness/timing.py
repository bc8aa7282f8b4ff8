"""Device time by trace: captured once, replayed many times, so that no host work is in it."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness.targets import Target

ORIGIN = "measured on this device, trace-timed"
TRACE_REGION = 64 << 20  # bytes set aside for the commands of the captured layers
REPEATS = 8  # calls in one trace
ROUNDS = 16  # samples
CLOCK = Path("/sys/class/tenstorrent/tenstorrent!0/tt_aiclk")  # MHz, by Tenstorrent's driver
WARM_UP = 2  # rounds whose samples are thrown away


@contextmanager
def captured(target: Target, call: Callable[[], Any], keep: set[int], repeats: int = REPEATS) -> Iterator[Any]:
    """A trace of `repeats` calls, its id yielded; released with its outputs at the end.

    keep   addresses of buffers that `call` may return and that must not be freed
    """
    ttnn, device = target.ttnn, target.device
    _free(ttnn, call(), keep)  # compiles; nothing may be compiled or allocated by a replay
    target.synchronize()
    trace = ttnn.begin_trace_capture(device, cq_id=0)
    outputs: list[Any] = []
    try:
        try:
            for _ in range(repeats):
                outputs.append(call())
        finally:
            ttnn.end_trace_capture(device, trace, cq_id=0)
            target.synchronize()
        yield trace
    finally:
        ttnn.release_trace(device, trace)
        for output in outputs:
            _free(ttnn, output, keep)


def replay_us(target: Target, trace: Any, repeats: int = REPEATS) -> float:
    """Device us of one call, from one replay of a trace of `repeats`."""
    start = time.perf_counter()
    with target.recorder.watched("the replay of a trace"):
        target.ttnn.execute_trace(target.device, trace, cq_id=0, blocking=True)
    return (time.perf_counter() - start) * 1e6 / repeats


def interleaved_us(
    target: Target, traces: list[Any], rounds: int = ROUNDS, seconds: float = float("inf")
) -> list[list[float]]:
    """Samples for each trace, one a round. Each two rounds run in opposite orders, so that a drift meets all alike,
    and the orders change at random, so that no rhythm of the machine meets one of them.

    seconds   after so many, no further two rounds begin; there are two at least
    """
    samples: list[list[float]] = [[] for _ in traces]
    order, orders = list(range(len(traces))), random.Random(0)
    end = time.perf_counter() + seconds
    for n in range(WARM_UP + rounds):
        if n % 2 == 0 and n > WARM_UP and time.perf_counter() > end:
            break
        order = order[::-1] if n % 2 else orders.sample(order, len(order))
        for which in order:
            us = replay_us(target, traces[which])
            if n >= WARM_UP:
                samples[which].append(us)
    return samples


def clock_mhz() -> int | None:
    """Of the card now: it is slower when idle. None where its driver does not tell."""
    try:
        return int(CLOCK.read_text())
    except (OSError, ValueError):
        return None


def _free(ttnn: Any, outputs: Any, keep: set[int]) -> None:
    for tensor in outputs if isinstance(outputs, (list, tuple)) else (outputs,):
        if hasattr(tensor, "buffer_address") and tensor.is_allocated() and tensor.buffer_address() not in keep:
            ttnn.deallocate(tensor)
