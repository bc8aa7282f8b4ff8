"""Tensors of the emulated ttnn: transfers, views, lifetime, addresses."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.emulator import open_device, ttnn
from harness.emulator.ttnn import Device


@pytest.fixture
def device() -> Iterator[Device]:
    device = open_device()
    yield device
    ttnn.close_device(device)


def random(*shape: int) -> torch.Tensor:
    """bf16 noise, always the same."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(1)).bfloat16()


def on_device(device: Device, values: torch.Tensor, dtype: ttnn.DataType = ttnn.bfloat16) -> ttnn.Tensor:
    """``values`` as a tiled device tensor."""
    return ttnn.from_torch(values, dtype=dtype, layout=ttnn.TILE_LAYOUT, device=device)


@settings(max_examples=25, deadline=None)
@given(
    shape=st.lists(st.integers(1, 70), min_size=1, max_size=4).filter(lambda s: torch.Size(s).numel() < 60000),
    dtype=st.sampled_from([ttnn.bfloat16, ttnn.float32, ttnn.int32, ttnn.bfloat8_b, ttnn.bfloat4_b]),
    tiled=st.booleans(),
)
def test_values_come_back_from_the_device(shape: list[int], dtype: ttnn.DataType, tiled: bool) -> None:
    device = open_device()
    values = torch.randint(-7, 8, shape)
    values[..., ::16] = 7
    tiled = tiled or dtype in (ttnn.bfloat8_b, ttnn.bfloat4_b)
    layout = ttnn.TILE_LAYOUT if tiled else ttnn.ROW_MAJOR_LAYOUT
    source = values.to(torch.int32 if dtype is ttnn.int32 else torch.float32)
    tensor = ttnn.from_torch(source, dtype=dtype, layout=layout, device=device)
    assert tensor.shape == shape
    assert torch.equal(ttnn.to_torch(tensor).float(), values.float())
    assert torch.equal(ttnn.to_torch(ttnn.from_device(tensor)).float(), values.float())
    ttnn.close_device(device)


def test_dtypes_that_to_torch_gives(device: Device) -> None:
    values = random(1, 1, 32, 64)
    assert ttnn.to_torch(on_device(device, values)).dtype is torch.bfloat16
    assert ttnn.to_torch(on_device(device, values, ttnn.bfloat8_b)).dtype is torch.float32
    assert ttnn.to_torch(on_device(device, values), dtype=torch.float64).dtype is torch.float64


def test_copy_overwrites_in_place(device: Device) -> None:
    target = ttnn.allocate_tensor_on_device(ttnn.Shape([1, 1, 64, 64]), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    assert ttnn.to_torch(target).isnan().all(), "fresh memory is poisoned"
    address, values = target.buffer_address(), random(1, 1, 64, 64)
    ttnn.copy_host_to_device_tensor(ttnn.from_torch(values, layout=ttnn.TILE_LAYOUT), target)
    assert target.buffer_address() == address
    assert torch.equal(ttnn.to_torch(target), values)


def test_a_view_shares_the_bytes(device: Device) -> None:
    tensor = on_device(device, random(1, 8, 64, 64))
    view = ttnn.view(tensor, (8, 1, 64, 64))
    assert view.buffer_address() == tensor.buffer_address()
    ttnn.fill_cache(tensor, on_device(device, torch.zeros(1, 8, 32, 64)), 0, update_idx=32)
    assert torch.equal(ttnn.to_torch(view).view(1, 8, 64, 64), ttnn.to_torch(tensor))
    assert ttnn.to_torch(view)[:, :, 32:].count_nonzero() == 0
    view.deallocate()
    assert not tensor.is_allocated(), "deallocate frees the buffer, whoever else looks at it"


def test_a_tensor_frees_its_buffer_when_it_goes(device: Device) -> None:
    tensor = on_device(device, random(1, 1, 32, 32))
    address = tensor.buffer_address()
    view = ttnn.view(tensor, (1, 1, 1, 32, 32))
    del tensor
    assert view.is_allocated()
    del view
    assert on_device(device, random(1, 1, 32, 32)).buffer_address() == address


def test_decoded_values_follow_writes_by_address(device: Device) -> None:
    tensor = on_device(device, random(1, 1, 32, 32))
    assert tensor.load() is not None
    start = tensor.buffer_address()
    device.dram.bytes[0, start : start + 2048] = 0
    device.dram.wrote(start, 2048)
    assert ttnn.to_torch(tensor).count_nonzero() == 0


def test_l1_tensors_are_spread_over_the_cores(device: Device) -> None:
    values = random(1, 1, 64, 64)
    tensor = ttnn.from_torch(values, layout=ttnn.TILE_LAYOUT, device=device, memory_config=ttnn.L1_MEMORY_CONFIG)
    assert tensor.buffer_address() == 1570816
    assert torch.equal(ttnn.to_torch(ttnn.add(tensor, tensor)), values + values)


@pytest.mark.parametrize("wide", [True, False])
def test_unwritten_memory_shows_in_every_result(device: Device, wide: bool) -> None:
    poison = ttnn.allocate_tensor_on_device(ttnn.Shape([1, 1, 64, 64]), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    good = on_device(device, random(1, 1, 64, 64))
    precision = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi2, fp32_dest_acc_en=wide)
    heads = ttnn.view(poison, (1, 1, 64, 64))
    for result in (
        ttnn.add(poison, good),
        ttnn.multiply(good, poison),
        ttnn.silu(poison),
        ttnn.linear(poison, good, compute_kernel_config=precision),
        ttnn.linear(good, poison, compute_kernel_config=precision),
        ttnn.rms_norm(poison, epsilon=1e-6, compute_kernel_config=precision),
        ttnn.experimental.rotary_embedding_hf(heads, heads, heads, compute_kernel_config=precision),
        ttnn.transformer.scaled_dot_product_attention(
            good, good, poison, is_causal=False, compute_kernel_config=precision
        ),
        ttnn.transformer.scaled_dot_product_attention(
            good, poison, good, is_causal=False, compute_kernel_config=precision
        ),
    ):
        assert ttnn.to_torch(result).isnan().all()


def test_names_that_are_not_modelled_say_so(device: Device) -> None:
    for module in (ttnn, ttnn.experimental, ttnn.transformer):
        with pytest.raises(AttributeError, match="not modelled by the emulator"):
            module.conv2d  # noqa: B018


def test_a_closed_device_takes_no_ops() -> None:
    device = open_device(grid=(13, 10))
    assert (device.compute_with_storage_grid_size().x, device.compute_with_storage_grid_size().y) == (13, 10)
    tensor = on_device(device, random(1, 1, 32, 32))
    ttnn.close_device(device)
    assert not tensor.is_allocated()
    with pytest.raises(RuntimeError):
        ttnn.add(tensor, tensor)
    with pytest.raises(RuntimeError, match="11x10 or 13x10"):
        open_device(grid=(8, 8))
