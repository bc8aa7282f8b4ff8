"""The commands `step` and `sample`: their threshold sees faults of the whole expert, and they say what happened."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass

import pytest
import torch
from safetensors.torch import save_file

from harness import cli
from harness.expert import render
from harness.expert.kv import SyntheticKv
from harness.expert.reference import Reference
from harness.expert.runs import LEAST_PCC, SampleResult
from harness.expert.sampling import Point, noise
from harness.expert.unicycle import drive
from harness.expert.weights import RandomWeights
from harness.metrics import pcc
from harness.oracle import Arithmetic
from harness.report import make_console
from harness.shape import PRESETS
from layer_impls.op_graph import OpGraph

SHAPE = PRESETS["tiny"]
SMALL = ("--shape", "tiny", "--layers", "2", "-S", "100", "--max-seq", "256", "--rope-delta", "-40")


@dataclass
class Done:
    """How a command ended, and what it printed."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def run_cli(monkeypatch, capsys):
    """`layerbench ARGS`, in this process."""

    def run(*args: str, **env: str) -> Done:
        for name, value in env.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(sys, "argv", ["layerbench", *args])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        return Done(int(ended.value.code or 0), *capsys.readouterr())

    return run


class OtherCaches(SyntheticKv):
    """Layer 1 gets the cache of layer 2."""

    def rows(self, i: int) -> tuple[torch.Tensor, torch.Tensor]:
        return super().rows(2 if i == 1 else i)


class OneLeftOut(RandomWeights):
    """Layer 1 is layer 2."""

    def layer(self, i: int):
        return super().layer(2 if i == 1 else i)


class NoFinalNorm(Arithmetic):
    """The norm after the last layer is left out."""

    def norm(self, x: torch.Tensor, gamma: torch.Tensor, eps: float) -> torch.Tensor:
        final = RandomWeights(SHAPE, 3, 1).tensor("norm.weight").float()
        return x if torch.equal(gamma, final) else super().norm(x, gamma, eps)


@pytest.mark.parametrize("fault", ["cache", "layer", "time", "norm"])
def test_the_threshold_sees_a_fault_of_the_whole_expert(fault):
    weights, kv, x = RandomWeights(SHAPE, 3, 1), SyntheticKv(SHAPE, 100, -40, 2), noise(32, 0)
    want = Reference(weights, kv).step(x, 0.4)
    wrong = Reference(
        OneLeftOut(SHAPE, 3, 1) if fault == "layer" else weights,
        OtherCaches(SHAPE, 100, -40, 2) if fault == "cache" else kv,
        arithmetic=NoFinalNorm() if fault == "norm" else None,
    )
    assert pcc(wrong.step(x, 0.5 if fault == "time" else 0.4), want) < LEAST_PCC


def test_step_judges_implementations_beside_each_other(tmp_path, run_cli):
    out = tmp_path / "step.json"
    done = run_cli("step", *SMALL, "--impl", "op_graph", "--impl", "op_graph:matmul=default", "--no-keep", "--json",
                   str(out))  # fmt: skip
    assert done.returncode == 0, done.stderr
    for text in ("2 layers, S 100", "predicted, not measured on silicon", "peak memory", "op_graph:matmul=default",
                 "final norm", "DRAM floor"):  # fmt: skip
        assert text in done.stdout
    first, second = json.loads(out.read_text())["result"]["steps"]
    assert first["passed"] and first["ops"] == 39 and first["predicted_ms"] > 0 and first["eager"] is None
    assert len(first["velocity"]) == 32
    assert second["predicted_ms"] != first["predicted_ms"]


def test_step_fails_where_the_implementation_does(run_cli, monkeypatch):
    """A layer without its MLP: the velocity is another, and the exit code says so."""
    monkeypatch.setattr(OpGraph, "_last_add", lambda self, i, x1, down: self.env.ttnn.add(x1, x1))
    done = run_cli("step", *SMALL, "--no-keep", "--eager")
    assert done.returncode == 1 and "FAIL" in done.stdout
    assert "eager, no trace: asked for" in done.stdout


def test_rows_that_are_not_finite_are_nobodys_fault(tmp_path, run_cli):
    """A file of NaN, also of another S than the option's default: `step` cannot judge, the sample fails."""
    rows = torch.full((1, 90, 64), float("nan")).bfloat16()
    save_file({f"layers.{i}.{k}": rows.clone() for i in range(2) for k in ("key", "value")}, tmp_path / "kv",
              metadata={"rope_delta": "0"})  # fmt: skip
    from_file = ("--shape", "tiny", "--layers", "2", "--max-seq", "256", "--kv", str(tmp_path / "kv"), "--eager")
    done = run_cli("step", *from_file, "--no-keep")
    assert done.returncode == 2 and "the reference's own velocity is not finite" in done.stderr
    done = run_cli("sample", *from_file, "--no-keep", "--steps", "1")
    assert done.returncode == 1 and "FAIL: the action is not finite" in done.stdout


def test_sample_shows_a_trajectory_from_a_checkpoint(tmp_path, run_cli):
    pytest.importorskip("matplotlib")
    made = run_cli("make-checkpoint", str(tmp_path / "made"), "--shape", "tiny", "--layers", "2", "--seed", "7")
    assert made.returncode == 0 and "2 layers of tiny, seed 7" in made.stdout
    outs = [tmp_path / "a.json", tmp_path / "b.json"]
    common = (*SMALL, "--steps", "2", "--seed", "7", "--no-keep", "--reference", "--json")
    drawn = tmp_path / "drive.png"
    with_file = run_cli("sample", *common, str(outs[0]), "--checkpoint", str(tmp_path / "made"), "--plot", str(drawn))
    assert with_file.returncode == 0, with_file.stderr
    for text in ("heading deg", "2 Euler steps", "against the fp32 reference", "no device time"):
        assert text in with_file.stdout
    assert drawn.read_bytes().startswith(b"\x89PNG")
    assert run_cli("sample", *common, str(outs[1])).returncode == 0
    a, b = (json.loads(out.read_text())["result"] for out in outs)
    assert a["action"] == b["action"], "a checkpoint of a seed is that seed's weights"
    assert a["action_pcc"] > 0.99 and len(a["steps"]) == 2
    assert a["trajectory"]["x"] == drive(torch.tensor(a["action"]), 10.0).x.tolist()


def test_the_cache_is_listed_and_cleared(tmp_path, run_cli):
    env = {"LAYERBENCH_CACHE": str(tmp_path)}
    assert run_cli("step", *SMALL, "--eager", **env).returncode == 0
    listed = run_cli("cache", "list", **env)
    assert run_cli("cache", **env).stdout == listed.stdout
    assert "128x256-bfp8" in listed.stdout and "10 tensors" in listed.stdout
    assert "given back" in run_cli("cache", "clear", **env).stdout
    assert "0 tensors, 0.00 GB" in run_cli("cache", "list", **env).stdout


@pytest.mark.parametrize(
    "args, message",
    [
        (("step", "--layers", "0"), "layers is 0; it must be 1 or more"),
        (("step", "--time", "1.5"), "time is 1.5; it must lie in 0..1"),
        (("step", "--impl", "nothing"), "unknown implementation 'nothing'"),
        (("step", "-S", "9000"), "seq-len is 9000; it must lie in 1..8128"),
        (("step", "--checkpoint", "/nowhere"), "no checkpoint in /nowhere"),
        (("step", "--weights", "fp8"), "weights is 'fp8'; it must be one of bfp8, bf16"),
        (("sample", "--steps", "0"), "steps is 0; it must be 1 or more"),
        (("sample", "--v0", "nan"), "v0 is nan; it must be a speed in m/s"),
        (("sample", "--temperature", "-1"), "temperature is -1.0; it must be 0 or more"),
        (("sample", "--impl", "op_graph", "--impl", "swiglu"), "sample takes one implementation, not 2"),
        (("sample", "--plot", "way.txt"), "the name must end with .png, .svg or .pdf"),
        (("make-checkpoint", "/tmp", "--layers", "1", "--shape", "tiny"), "/tmp is there already"),
        (("make-checkpoint", "new", "--scheme", "mine"), "unknown scheme 'mine'; known: Alpamayo 2, Alpamayo R1"),
    ],
)  # fmt: skip
def test_bad_usage_is_one_line(args, message, run_cli):
    done = run_cli(*args)
    assert done.returncode == 2 and message in done.stderr and done.stderr.count("\n") == 1


def test_waypoints_that_no_car_drives_are_counted():
    action = torch.zeros(32, 2)
    action[3] = 100.0
    result = SampleResult("op_graph", action, (Point(0.0, action, action),), drive(action, 5.0), 0.0, None)
    console = make_console()
    with console.capture() as shown:
        console.print(render.render_sample(result, None, "a test"))
    assert "1 of 32 waypoints ask for more" in shown.get()
