"""Writes a first kernel for an author to edit: the files beside this one, under a name of his own."""

from __future__ import annotations

import contextlib
import keyword
import re
import shutil
from pathlib import Path

from harness.errors import UsageError
from harness.places import authors_root, folders

HERE = Path(__file__).parent


def write(name: str) -> tuple[Path, Path]:
    """Make `kernels/NAME/` and `layer_impls/NAME.py`; returns both. Raises `UsageError`, and then leaves nothing."""
    _check(name)
    kernel, implementation = authors_root() / "kernels" / name, authors_root() / "layer_impls" / f"{name}.py"
    with contextlib.ExitStack() as undo:
        try:
            kernel.parent.mkdir(exist_ok=True)
            implementation.parent.mkdir(exist_ok=True)
            kernel.mkdir()
            undo.callback(shutil.rmtree, kernel)
            for source in sorted([*HERE.glob("*.cpp"), *HERE.glob("*.h")]):
                (kernel / source.name).write_text(_named(source, name))
            with implementation.open("x") as file:
                undo.callback(implementation.unlink)
                file.write(_named(HERE / "implementation.py", name))
        except OSError as error:
            raise UsageError(f"cannot write {error.filename}: {error.strerror}") from error
        undo.pop_all()
    return kernel, implementation


def _named(source: Path, name: str) -> str:
    title = "".join(part.capitalize() for part in name.split("_"))
    return source.read_text().replace("starter", name).replace("Starter", title)


def _check(name: str) -> None:
    if not re.fullmatch("[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        raise UsageError(f"{name!r} is no name for an implementation; write one like my_add, of a-z, 0-9 and _")
    taken = [*(Path(f) / name for f in folders("kernels")), *(Path(f) / f"{name}.py" for f in folders("layer_impls"))]
    for path in taken:
        if path.exists():
            raise UsageError(f"{path} is there already; take another name")
