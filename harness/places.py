"""Where kernels and implementations lie."""

from __future__ import annotations

from pathlib import Path

TREE = Path(__file__).parents[1]


def authors_root() -> Path:
    """The folder whose `kernels/` and `layer_impls/` an author writes to: this tree, or, where layerbench is
    pip-installed without one, the current folder."""
    return TREE if (TREE / "pyproject.toml").exists() else Path.cwd()


def folders(package: str) -> list[str]:
    """All folders of `kernels` or `layer_impls`, the package's own first."""
    own, authors = TREE / package, authors_root() / package
    return [str(own)] if own == authors else [str(own), str(authors)]
