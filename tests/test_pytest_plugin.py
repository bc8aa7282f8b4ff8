"""`pytest --layer-impl`: passes the right, fails the wrong in words, and is not there unless asked for."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from harness import battery
from harness.registry import Spec
from layer_impls.op_graph import OpGraph, OpGraphOptions

pytest_plugins = ["pytester"]
ROOT = Path(__file__).parents[1]
# pytester gives each test a home of its own, where all would be compiled anew.
CACHE = os.environ.get("LAYERBENCH_CACHE", str(Path.home() / ".cache" / "layerbench"))
CHOSEN = "test_check and tiny or moved"  # of the battery; all of it takes minutes
WRONG = """
import layer_impls
layer_impls.__path__.append({folder!r})
"""
SCALED = """
from tests.wrong_layers import FAULTS
Base = FAULTS["Scaled"].layer
class Wrong(Base):
    pass
"""


@pytest.fixture
def run_battery(pytester, monkeypatch):
    """pytest with the plugin and `args`, in a process of its own and in a folder with an author's `wrong.py`."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("LAYERBENCH_CACHE", CACHE)
    mine = pytester.mkdir("mine")
    (mine / "wrong.py").write_text(SCALED)
    pytester.makeconftest(WRONG.format(folder=str(mine)))
    # Where layerbench is installed, its entry point would load the plugin too, and pytest refuses it twice.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    return lambda *args: pytester.run(sys.executable, "-m", "pytest", "-p", "harness.pytest_plugin", *args)


def test_a_right_implementation_passes(run_battery):
    run_battery("--layer-impl", "heads_rope", "-k", CHOSEN).assert_outcomes(passed=2, deselected=19)


def test_a_wrong_one_fails_in_words(run_battery):
    done = run_battery("--layer-impl", "wrong", "-k", CHOSEN)
    done.assert_outcomes(failed=2, deselected=19)
    done.stdout.fnmatch_lines(["wrong is wrong at LayerShape(tokens=32,*", "output: *", "first call: output: *"])
    done.stdout.no_fnmatch_line("*Traceback*")


class Baked(OpGraph):
    """Chooses by S on the host, so that a trace has what S was at its capture."""

    def layer_fn(self, i, x, k_cache, v_cache):
        out = super().layer_fn(i, x, k_cache, v_cache)
        return self.env.ttnn.add(out, out) if self.env.context.S > battery.TINY.S else out


def test_a_trace_that_does_not_follow_the_context_fails_in_words():
    with pytest.raises(pytest.fail.Exception) as failed:
        battery.test_trace("emulator", Spec("baked", Baked, OpGraphOptions()))
    lines = str(failed.value).splitlines()
    assert len(lines) == 2 and lines[1].startswith("replay in another context, on other contents: other bits"), lines


@pytest.mark.parametrize(
    "args, message",
    [
        (("--layer-impl", "op_grph"), "unknown implementation 'op_grph'; did you mean op_graph?"),
        (("--layer-impl", "op_graph", "--layer-target", "moon"), "unknown target 'moon'; known: emulator, simulator"),
    ],
)
def test_bad_usage_takes_one_line(run_battery, args, message):
    done = run_battery(*args)
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines([f"*{message}*"])


def test_without_the_option_it_imports_nothing_heavy(pytester, run_battery):
    pytester.makepyfile("import sys\ndef test_light(): assert not {'torch', 'hypothesis.core'} & set(sys.modules)")
    (pytester.path / "conftest.py").unlink()
    run_battery().assert_outcomes(passed=1)
