"""Programs for the tests: their kernels are in ``kernels`` here, some of the calibration's among them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.calibration import build, twins

KERNELS = Path(__file__).parent / "kernels"


class Builder(build.Builder):
    """A builder that finds kernels given by file name: the tests', or the calibration's where the tests have none."""

    def kernel(self, source: str | Path, *args: Any, **kwargs: Any) -> Any:
        """A kernel; see ``build.Builder.kernel``."""
        own = KERNELS / source
        return super().kernel(own if own.exists() else twins.KERNELS / source, *args, **kwargs)
