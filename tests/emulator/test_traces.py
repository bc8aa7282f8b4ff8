"""Traces: recorded, not run; baked addresses; memory that a replay shares with whatever lies there now."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from harness.emulator import open_device, ttnn
from harness.emulator.ttnn import Device


@pytest.fixture
def device() -> Iterator[Device]:
    device = open_device()
    yield device
    ttnn.close_device(device)


def filled(device: Device, value: float) -> ttnn.Tensor:
    """A tile of ``value``."""
    return ttnn.from_torch(
        torch.full((1, 1, 32, 32), value), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device
    )


def refill(tensor: ttnn.Tensor, value: float) -> None:
    """Overwrite ``tensor`` from the host."""
    host = ttnn.from_torch(torch.full((1, 1, 32, 32), value), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT)
    ttnn.copy_host_to_device_tensor(host, tensor)


def value(tensor: ttnn.Tensor) -> float:
    """The value that fills ``tensor``; NaN if it is not one."""
    values = ttnn.to_torch(tensor)
    return float(values.flatten()[0]) if values.unique().numel() == 1 else float("nan")


def test_capture_records_and_does_not_run(device: Device) -> None:
    x = filled(device, 3)
    ran: list[str] = []
    device.listeners.append(lambda launch: ran.append(launch.name))
    trace = ttnn.begin_trace_capture(device, cq_id=0)
    y = ttnn.add(x, x)
    ttnn.end_trace_capture(device, trace, cq_id=0)
    assert ran == []
    assert ttnn.to_torch(y).isnan().all()
    ttnn.execute_trace(device, trace, cq_id=0, blocking=True)
    assert ran == ["add"]
    assert value(y) == 6


def test_replay_reads_the_memory_again(device: Device) -> None:
    x = filled(device, 3)
    trace = ttnn.begin_trace_capture(device)
    y = ttnn.multiply(ttnn.add(x, x), x)
    ttnn.end_trace_capture(device, trace)
    for v in (1.0, 2.0, 5.0):
        refill(x, v)
        ttnn.execute_trace(device, trace, blocking=False)
        assert value(y) == 2 * v * v


def test_in_place_writes_are_replayed(device: Device) -> None:
    cache = ttnn.from_torch(torch.zeros(1, 1, 64, 32), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    row = filled(device, 1)
    trace = ttnn.begin_trace_capture(device)
    ttnn.fill_cache(cache, row, 0, update_idx=32)
    ttnn.end_trace_capture(device, trace)
    assert ttnn.to_torch(cache).count_nonzero() == 0
    refill(row, 4)
    ttnn.execute_trace(device, trace)
    assert ttnn.to_torch(cache)[0, 0, :, 0].tolist() == [0.0] * 32 + [4.0] * 32


def test_intermediates_freed_in_the_capture_share_memory(device: Device) -> None:
    x = filled(device, 1)
    trace = ttnn.begin_trace_capture(device)
    first = ttnn.add(x, x)
    address = first.buffer_address()
    second = ttnn.add(first, x)
    first.deallocate()
    third = ttnn.add(second, x)
    ttnn.end_trace_capture(device, trace)
    assert third.buffer_address() == address
    ttnn.execute_trace(device, trace)
    assert value(third) == 4


def test_a_buffer_allocated_after_the_capture_is_overwritten_by_the_replay(device: Device) -> None:
    x = filled(device, 1)
    trace = ttnn.begin_trace_capture(device)
    middle = ttnn.add(x, x)
    last = ttnn.add(middle, x)
    middle.deallocate()
    ttnn.end_trace_capture(device, trace)
    later = filled(device, 7)
    assert value(later) == 7
    ttnn.execute_trace(device, trace)
    assert value(last) == 3
    assert value(later) == 2, "it lies where the trace keeps its intermediate"


def test_a_trace_keeps_no_tensor_alive(device: Device) -> None:
    x = filled(device, 1)
    before = len(device.dram.live)
    trace = ttnn.begin_trace_capture(device)
    ttnn.add(ttnn.add(x, x), x)
    ttnn.end_trace_capture(device, trace)
    assert len(device.dram.live) == before


def test_what_a_capture_refuses(device: Device) -> None:
    x = filled(device, 1)
    trace = ttnn.begin_trace_capture(device)
    for forbidden in (
        lambda: ttnn.to_torch(x),
        lambda: refill(x, 2),
        lambda: filled(device, 2),
        lambda: ttnn.begin_trace_capture(device),
        lambda: ttnn.execute_trace(device, trace),
    ):
        with pytest.raises(RuntimeError):
            forbidden()
    ttnn.end_trace_capture(device, trace)
    ttnn.release_trace(device, trace)
    for forbidden in (lambda: ttnn.execute_trace(device, trace), lambda: ttnn.release_trace(device, trace)):
        with pytest.raises(RuntimeError, match="no trace"):
            forbidden()
    assert value(x) == 1
