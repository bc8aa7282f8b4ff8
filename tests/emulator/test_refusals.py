"""What the emulator refuses; test_nearness.py asks the real ttnn."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness.emulator import open_device, ttnn
from harness.emulator.ttnn import Device
from tests.emulator.calls import CALLS, gone, host
from tests.emulator.refused import REFUSED, STRICTER

NOT_MODELLED = "not modelled by the emulator"


@pytest.fixture(scope="module")
def device() -> Iterator[Device]:
    device = open_device(grid=(13, 10))
    yield device
    ttnn.close_device(device)


def refusal(device: Device, name: str) -> str | None:
    """The emulator's error, or None."""
    try:
        CALLS[name](ttnn, device)
    except RuntimeError as error:
        return str(error)
    return None


@pytest.mark.parametrize("name", CALLS)
def test_refused_in_one_line_or_accepted(name: str, device: Device) -> None:
    error = refusal(device, name)
    if name in REFUSED or name in STRICTER:
        assert error is not None
    elif error is not None:
        assert NOT_MODELLED in error, "the real ttnn takes it"
    if error is not None:
        assert "\n" not in error and len(error) > 20


def test_use_after_deallocate_where_the_real_ttnn_crashes(device: Device) -> None:
    for call in (
        lambda gone: ttnn.rms_norm(gone, epsilon=1e-6),
        lambda gone: ttnn.silu(gone),
        lambda gone: ttnn.typecast(gone, ttnn.bfloat8_b),
        lambda gone: ttnn.to_torch(gone),
        lambda gone: ttnn.copy_host_to_device_tensor(host(ttnn, 1, 1, 32, 64), gone),
    ):
        with pytest.raises(RuntimeError, match="deallocated"):
            call(gone(ttnn, device, 1, 1, 32, 64))
    with pytest.raises(RuntimeError, match="host tensor"):
        ttnn.silu(host(ttnn, 1, 1, 32, 64))
    with pytest.raises(RuntimeError, match="host tensor"):
        ttnn.copy_host_to_device_tensor(host(ttnn, 1, 1, 32, 64), host(ttnn, 1, 1, 32, 64))


def test_the_lists_name_calls() -> None:
    assert set(CALLS) >= REFUSED | STRICTER
    assert not REFUSED & STRICTER
