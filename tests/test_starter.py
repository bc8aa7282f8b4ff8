"""`layerbench new` writes what runs as it is, where layerbench finds it, and overwrites nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_cli import run_main

ROOT = Path(__file__).parents[1]
TINY = ("--shape", "tiny", "-S", "40", "--max-seq", "128")


def copy_tree(to: Path, *files: str) -> Path:
    """The packages, and `files`, in a folder of their own."""
    for package in ("harness", "kernels", "layer_impls"):
        shutil.copytree(ROOT / package, to / package, ignore=shutil.ignore_patterns("__pycache__", "my_add*"))
    for file in files:
        shutil.copy(ROOT / file, to / file)
    return to


def run_in(tree: Path, *args: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """`layerbench ARGS` of that tree."""
    env = {**os.environ, "PYTHONPATH": str(tree), "LAYERBENCH_RESULTS": str(tree / "results")}
    # -P would do, but not before Python 3.11: the current folder must not hide the tree.
    code = f"import sys; sys.path[0] = {str(tree)!r}; from harness.cli import main; main()"
    command = [sys.executable, "-c", code, *args]
    return subprocess.run(command, cwd=cwd or tree, env=env, capture_output=True, text=True, timeout=600)


def test_what_new_writes_passes_in_a_tree(tmp_path):
    tree = copy_tree(tmp_path, "pyproject.toml")
    done = run_in(tree, "new", "my_add")
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 1 and "next: layerbench check my_add" in done.stdout
    written = [*(tree / "kernels" / "my_add").iterdir(), tree / "layer_impls" / "my_add.py"]
    assert {path.name for path in written} == {"cbs.h", "reader.cpp", "compute.cpp", "writer.cpp", "my_add.py"}
    assert not any("tarter" in path.read_text() for path in written), "everything goes by the new name"
    done = run_in(tree, "check", "my_add", *TINY)
    assert done.returncode == 0 and "PASS my_add on the emulator: 19 ops" in done.stdout, done.stdout + done.stderr


def test_where_layerbench_is_installed_new_writes_to_the_current_folder(tmp_path):
    installed, here = copy_tree(tmp_path / "site-packages"), tmp_path / "mine"
    here.mkdir()
    done = run_in(installed, "new", "my_add", cwd=here)
    assert done.returncode == 0, done.stderr
    assert {p.name for p in here.iterdir()} == {"kernels", "layer_impls"} and str(here) in done.stdout
    assert not (installed / "kernels" / "my_add").exists()
    done = run_in(installed, "check", "my_add", *TINY, cwd=here)
    assert done.returncode == 0 and "PASS my_add" in done.stdout, done.stdout + done.stderr


@pytest.mark.simulator
def test_what_new_writes_passes_on_the_real_ttnn(tmp_path):
    tree = copy_tree(tmp_path, "pyproject.toml")
    assert run_in(tree, "new", "my_add").returncode == 0
    done = run_in(tree, "check", "my_add", *TINY, "--target", "simulator")
    assert done.returncode == 0 and "PASS my_add on the simulator: 19 ops" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize(
    "name, message",
    [
        ("op_graph", "op_graph.py is there already; take another name"),
        ("shared", "shared is there already; take another name"),
        ("My-Add", "'My-Add' is no name for an implementation; write one like my_add"),
        ("_hidden", "'_hidden' is no name"),
        ("lambda", "'lambda' is no name"),
        ("../up", "'../up' is no name"),
    ],
)
def test_bad_names_take_one_line_and_write_nothing(name, message, monkeypatch, capsys):
    before = {path: path.stat().st_mtime_ns for d in ("kernels", "layer_impls") for path in (ROOT / d).iterdir()}
    code, _, stderr = run_main(monkeypatch, capsys, "new", name)
    assert code == 2 and message in stderr and len(stderr.splitlines()) == 1, stderr
    assert before == {
        path: path.stat().st_mtime_ns for d in ("kernels", "layer_impls") for path in (ROOT / d).iterdir()
    }


def test_a_folder_that_cannot_be_written_keeps_nothing(tmp_path, monkeypatch, capsys):
    (tmp_path / "kernels").mkdir()
    (tmp_path / "layer_impls").write_text("a file in the way")
    monkeypatch.setattr("harness.starter.authors_root", lambda: tmp_path)
    code, _, stderr = run_main(monkeypatch, capsys, "new", "my_add")
    assert code == 2 and "cannot write" in stderr and len(stderr.splitlines()) == 1, stderr
    assert not list((tmp_path / "kernels").iterdir())
