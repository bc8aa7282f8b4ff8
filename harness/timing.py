"""Device time by trace: captured once, replayed many times, so that no host work is in it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from harness.targets import Target

ORIGIN = "measured on this device, trace-timed"
TRACE_REGION = 64 << 20  # bytes set aside for the commands of the captured layers
REPEATS = 8  # calls in one trace
REPLAYS = 15  # samples


@contextmanager
def captured(target: Target, call: Callable[[], Any], keep: set[int], repeats: int = REPEATS) -> Iterator[Any]:
    """A trace of `repeats` calls, its id yielded; released with its outputs at the end.

    keep   addresses of buffers that `call` may return and that must not be freed
    """
    ttnn, device = target.ttnn, target.device
    _free(ttnn, call(), keep)  # compiles; nothing may be compiled or allocated by a replay
    target.synchronize()
    trace = ttnn.begin_trace_capture(device, cq_id=0)
    outputs = [call() for _ in range(repeats)]
    ttnn.end_trace_capture(device, trace, cq_id=0)
    target.synchronize()
    try:
        yield trace
    finally:
        ttnn.release_trace(device, trace)
        for output in outputs:
            _free(ttnn, output, keep)


def replay_us(target: Target, trace: Any, repeats: int = REPEATS) -> float:
    """Device us of one call, from one replay of a trace of `repeats`."""
    start = time.perf_counter()
    target.ttnn.execute_trace(target.device, trace, cq_id=0, blocking=True)
    return (time.perf_counter() - start) * 1e6 / repeats


def interleaved_us(target: Target, traces: list[Any], replays: int = REPLAYS) -> list[list[float]]:
    """Samples for each trace, taken in turn and in alternating order, so that a drift meets all of them alike."""
    samples: list[list[float]] = [[] for _ in traces]
    for trace in traces:
        replay_us(target, trace)
    for n in range(replays):
        order = range(len(traces)) if n % 2 == 0 else reversed(range(len(traces)))
        for which in order:
            samples[which].append(replay_us(target, traces[which]))
    return samples


def _free(ttnn: Any, outputs: Any, keep: set[int]) -> None:
    for tensor in outputs if isinstance(outputs, (list, tuple)) else (outputs,):
        if hasattr(tensor, "buffer_address") and tensor.is_allocated() and tensor.buffer_address() not in keep:
            ttnn.deallocate(tensor)
