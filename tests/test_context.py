"""The context rewrites its buffers in place, and never moves one while a trace lives."""

from __future__ import annotations

import pytest
import torch

from harness.context import LayerContext
from harness.errors import UsageError
from harness.positions import MASK_MIN
from harness.shape import PRESETS

SHAPE = PRESETS["tiny"]


@pytest.fixture
def context(emulator):
    return LayerContext(emulator.ttnn, emulator.device, SHAPE, 256, lambda: emulator.recorder.live_traces)


def addresses(context: LayerContext) -> list[int]:
    tensors = [context.cos, context.sin, context.valid_rows, context.mask(32, "bfp4"), context.mask(64, "bf16")]
    return [t.buffer_address() for t in tensors]


def read(context: LayerContext, tensor) -> torch.Tensor:
    return context.ttnn.to_torch(tensor).float()


def test_a_new_context_rewrites_every_buffer_in_place(context):
    context.set_context(100, -40)
    before = addresses(context)
    context.set_context(33, 7)
    assert addresses(context) == before
    assert int(read(context, context.valid_rows).flatten()[0]) == 33
    angle = torch.tensor(40.0)  # the first own position; frequency 0 is 1
    assert read(context, context.cos)[0, 0, 0, 0] == pytest.approx(angle.cos().item(), abs=4e-3)
    assert read(context, context.sin)[0, 0, 0, 0] == pytest.approx(angle.sin().item(), abs=4e-3)
    for rows, dtype in ((32, "bfp4"), (64, "bf16")):
        mask = read(context, context.mask(rows, dtype))
        assert mask.shape == (1, 1, rows, 256)
        assert (mask[..., :33] == 0).all() and (mask[..., 224:] == 0).all()
        assert (mask[..., 33:224] < 0.9 * MASK_MIN).all()


def test_an_unchanged_context_is_not_uploaded_unless_forced(context):
    context.set_context(100, 0)
    spoiled = context.ttnn.from_torch(torch.zeros(1, 1, 32, 64), dtype=context.cos.dtype, layout=context.cos.layout)
    context.ttnn.copy_host_to_device_tensor(spoiled, context.cos)
    context.set_context(100, 0)
    assert (read(context, context.cos) == 0).all()
    context.set_context(100, 0, force=True)
    assert (read(context, context.cos) != 0).any()


def test_a_mask_asked_for_later_is_filled(context):
    context.set_context(100, 0)
    mask = read(context, context.mask(96, "bf16"))
    assert (mask[..., :100] == 0).all() and (mask[..., 100:224] < 0).all()


def test_nothing_is_allocated_while_a_trace_lives(context, emulator):
    context.set_context(100, 0)
    context.mask(32, "bfp4")
    trace = emulator.ttnn.begin_trace_capture(emulator.device, cq_id=0)
    emulator.ttnn.end_trace_capture(emulator.device, trace, cq_id=0)
    before = context.mask(32, "bfp4").buffer_address()
    context.set_context(50, 3)  # in place: fine
    with pytest.raises(UsageError, match="cannot allocate a mask of 64 rows in bf16 while a captured trace lives"):
        context.mask(64, "bf16")
    with pytest.raises(UsageError, match="cannot allocate masks for a cache of 512 rows instead of 256"):
        context.set_context(50, 3, Smax=512)
    assert context.mask(32, "bfp4").buffer_address() == before
    emulator.ttnn.release_trace(emulator.device, trace)
    context.set_context(50, 3, Smax=512)
    assert tuple(context.mask(32, "bfp4").shape) == (1, 1, 32, 512)
    assert (read(context, context.mask(32, "bfp4"))[..., 480:] == 0).all()


def test_a_context_that_does_not_fit_is_refused_and_changes_nothing(context):
    context.set_context(100, 0)
    with pytest.raises(UsageError, match=r"seq-len is 225; it must lie in 1\.\.224"):
        context.set_context(225, 0)
    assert (context.S, context.Smax) == (100, 256)
