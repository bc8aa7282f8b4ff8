"""The emulated device and the real one, each behind a Builder."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from harness.emulator import programs, ttnn
from tests.emulator.build import Builder


@pytest.fixture
def builder() -> Iterator[Builder]:
    """A fresh emulated device of 11x10 cores."""
    device = ttnn.open_device(device_id=0)
    yield Builder(SimpleNamespace(**{**vars(ttnn), **vars(programs)}), device)
    ttnn.close_device(device)
