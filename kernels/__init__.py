"""tt-metal C++ kernels, a folder for each; launched by the files in `layer_impls/`."""

from pathlib import Path

from harness.places import folders

__path__ = folders("kernels")


def source(kernel: str, file: str) -> str:
    """Path of a source file of a kernel, as a descriptor takes it."""
    paths = [Path(folder) / kernel / file for folder in __path__]
    return str(next((path for path in paths if path.exists()), paths[0]))
