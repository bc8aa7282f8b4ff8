"""tt-metal C++ kernels, a folder for each; launched by the files in `layer_impls/`."""

from pathlib import Path


def source(kernel: str, file: str) -> str:
    """Path of a source file of a kernel, as a descriptor takes it."""
    return str(Path(__file__).parent / kernel / file)
