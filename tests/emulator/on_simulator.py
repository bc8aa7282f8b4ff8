"""Runs cases, and the border calls, on the real ttnn, writes what came out: ``python -m ... FILE calls|- CASE...``."""

from __future__ import annotations

import sys

import torch
import ttnn  # type: ignore[import-not-found]

from tests.emulator import block_floats
from tests.emulator.calls import CALLS
from tests.emulator.cases import CASES, run


def main(path: str, calls: str, *names: str) -> None:
    """Write {"values": inputs by case, "results": outputs by case, "refused": error by call, "blocks": conversions}."""
    device = ttnn.open_device(device_id=0)
    found: dict[str, dict] = {"values": {}, "results": {}, "refused": {}}
    for name in names:
        found["values"][name], found["results"][name] = run(ttnn, device, CASES[name])
        torch.save(found, path)
    found["blocks"] = {
        dtype: ttnn.to_torch(
            ttnn.from_torch(block_floats.samples(), dtype=getattr(ttnn, dtype), layout=ttnn.TILE_LAYOUT, device=device)
        )
        for dtype in block_floats.DTYPES
    }
    for name, call in CALLS.items() if calls == "calls" else ():
        try:
            call(ttnn, device)
        except Exception as error:  # noqa: BLE001
            found["refused"][name] = str(error)
        torch.save(found, path)
    torch.save(found | {"done": True}, path)
    ttnn.close_device(device)


if __name__ == "__main__":
    main(*sys.argv[1:])
