"""The linters, as the project sets them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = [p for d in ("harness", "kernels", "tests") for s in ("*.h", "*.hpp", "*.cpp") for p in (ROOT / d).rglob(s)]


def run(*command: str) -> None:
    done = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_ruff():
    pytest.importorskip("ruff")
    run("ruff", "check", ".")
    run("ruff", "format", "--check", ".")


def test_mypy():
    pytest.importorskip("mypy")
    run("mypy")


@pytest.mark.skipif(not SOURCES, reason="no C++ yet")
def test_clang_format():
    tool = Path(sys.executable).with_name("clang-format")
    if not tool.exists() and not shutil.which("clang-format"):
        pytest.skip("clang-format is not installed")
    command = [str(tool if tool.exists() else "clang-format"), "--dry-run", "-Werror", *map(str, SOURCES)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
