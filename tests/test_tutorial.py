"""Everything that docs/tutorial.md tells the reader to do, done."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.test_starter import copy_tree, run_in

TUTORIAL = Path(__file__).parents[1] / "docs" / "tutorial.md"


def blocks() -> list[tuple[str, str]]:
    """The code blocks, with what stands after the fence."""
    return re.findall(r"^```([^\n]+)\n(.*?)^```$", TUTORIAL.read_text(), flags=re.M | re.S)


@pytest.mark.slow
def test_every_command_and_every_edit_works(tmp_path):
    tree = copy_tree(tmp_path, "pyproject.toml")
    shown, commands = "", 0
    for kind, text in blocks():
        if kind == "diff":
            subprocess.run(["git", "apply", "-"], cwd=tree, input=text, text=True, check=True)
        elif kind == "text":
            for line in text.splitlines():
                assert " ".join(line.split()) in shown, f"not in the output: {line}"
        else:
            assert kind in ("sh", "sh fails"), f"a block of {kind} is nothing to run"
            for line in text.splitlines():
                program, *args = shlex.split(line)
                assert program == "layerbench"
                done = run_in(tree, *args)
                shown, commands = " ".join(done.stdout.split()), commands + 1
                assert done.returncode == (1 if kind == "sh fails" else 0), done.stdout + done.stderr
    assert commands >= 9
    assert (tree / "my_add.json").stat().st_size > 0
