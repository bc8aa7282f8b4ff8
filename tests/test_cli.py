"""The commands as a user has them: what they print, what they exit with, what they refuse."""

from __future__ import annotations

import json

import pytest

import layer_impls
from harness.cli import main
from tests.conftest import run_cli


def run_main(monkeypatch, capsys, *args: str) -> tuple[int, str, str]:
    """`layerbench ARGS` in this process: exit code, stdout, stderr."""
    monkeypatch.setattr("sys.argv", ["layerbench", *args])
    with pytest.raises(SystemExit) as exit_:
        main()
    captured = capsys.readouterr()
    return exit_.value.code, captured.out, captured.err


SMALL = ("--shape", "small", "--seq-len", "100", "--max-seq", "256")


def test_check_passes_and_writes_its_record(tmp_path):
    path = tmp_path / "check.json"
    done = run_cli("check", "op_graph", *SMALL, "--json", str(path))
    assert done.returncode == 0, done.stderr
    assert "PASS op_graph on the emulator: 19 ops" in done.stdout
    record = json.loads(path.read_text())
    assert record["schema"] == 1 and record["command"] == "check" and record["target"] == "emulator"
    parts = {p["name"]: p for p in record["result"]["parts"]}
    assert parts["output"]["pcc"] > 0.9998 and all(p["passed"] for p in parts.values())
    assert record["result"]["case"]["shape"]["hidden"] == 512
    assert list(tmp_path.iterdir()) == [path], "nothing else is left behind"


def test_compare_shows_both_beside_each_other_with_the_origin_of_the_times(tmp_path):
    path = tmp_path / "compare.json"
    done = run_cli("compare", "op_graph", "op_graph:attn=standard", "--json", str(path))
    assert done.returncode == 0, done.stderr
    assert "521.0" in done.stdout and "861.7" in done.stdout
    assert "published us: published: measured on silicon with an older ttnn" in done.stdout
    assert "predicted us (ttnn 0.81.1): predicted, not measured on silicon; calibration p150" in done.stdout
    assert "DRAM floor: 120.1 us for the layer's 60.0 MB at 500 GB/s" in done.stdout
    entries = json.loads(path.read_text())["result"]["entries"]
    assert [e["device_us"] for e in entries] == [pytest.approx(521.0), pytest.approx(861.7)]
    assert all(e["check"]["passed"] for e in entries)
    predicted = [e["breakdown"]["predicted_us"] for e in entries]
    assert 400 < predicted[0] < predicted[1], "beside the published times, never instead of them"
    assert all("not measured" in e["breakdown"]["predicted_origin"] for e in entries)


def test_compare_at_another_shape_has_no_time_and_says_why():
    done = run_cli("compare", "op_graph", "op_graph:matmul=default", *SMALL)
    assert done.returncode == 0, done.stderr
    assert "published us: none (ops without a published time at this shape and config" in done.stdout


def test_breakdown_has_a_line_per_op():
    done = run_cli("breakdown", "op_graph", "--seq-len", "1", "--max-seq", "8192")
    assert done.returncode == 0, done.stderr
    for label in ("create_qkv_heads", "w1 + silu", "add2"):
        assert label in done.stdout
    assert "sum of the ops" in done.stdout and "521.0" in done.stdout and "older ttnn" in done.stdout
    for label in ("published us", "predicted us", "not measured on silicon", "binds", "DRAM floor"):
        assert label in done.stdout


def test_programs_of_kernels_show_what_dram_gave_them(tmp_path):
    path = tmp_path / "layer.json"
    shown = ("programs of kernels; all predicted", "% of DRAM", "% of floor", "512 GB/s")
    done = run_cli("breakdown", "norm_residual", *SMALL, "--json", str(path))
    assert done.returncode == 0 and all(text in done.stdout for text in shown), done.stdout + done.stderr
    ops = json.loads(path.read_text())["result"]["ops"]
    assert sum(op["counts"]["tile_ops"]["add_tiles bf16 x bf16"] for op in ops[1:] if op["counts"]) == 32
    programs = [op["program"] for op in ops if op["program"]]
    assert len(programs) == 2 and all(0 < p["floor_share"] < p["dram_share"] * 1.03 < 1 for p in programs)
    done = run_cli("compare", "op_graph", "norm_residual", *SMALL)
    assert done.returncode == 0 and all(text in done.stdout for text in shown), done.stdout + done.stderr


def test_list_and_doctor():
    done = run_cli("list")
    assert done.returncode == 0 and "op_graph" in done.stdout and "attn=decode|standard" in done.stdout
    done = run_cli("doctor")
    assert done.returncode == 0
    for thing in ("Python", "ttnn", "C++ compiler", "sfpi", "ttsim", "wolfpine", "card"):
        assert thing in done.stdout


@pytest.mark.parametrize(
    "args, message",
    [
        (("check", "nothing"), "unknown implementation 'nothing'; known: heads_rope, norm_residual, op_graph"),
        (("check", "op_graph:warp=9"), "op_graph has no option 'warp'"),
        (("check", "op_graph", "--seq-len", "8129"), "seq-len is 8129; it must lie in 1..8128"),
        (("check", "op_graph", "--max-seq", "1000"), "max-seq is 1000; it must be a multiple of the tile"),
        (("check", "op_graph", "--shape", "tiny,hidden=100"), "hidden is 100; it must be a multiple of the tile"),
        (("check", "op_graph", "--shape", "vast"), "unknown shape 'vast'; known: alpamayo2_super, small, tiny"),
        (("check", "op_graph", "--cache", "fp32"), "cache is 'fp32'; it must be one of bf16, bfp8"),
        (("check", "op_graph", "--weights", "int4"), "weights is 'int4'; it must be one of bfp8, bf16"),
        (("check", "op_graph", "--target", "moon"), "unknown target 'moon'; known: emulator, simulator, device"),
        (("check", "op_graph", *SMALL, "--json", "/no/such/folder/x.json"), "cannot write /no/such/folder/x.json"),
        (("check", "op_graph", "--seed", "x"), "'--seed'"),
        (("check", "op_graph", "--frobnicate"), "--frobnicate"),
        (("check",), "Missing argument"),
        (("compare", "op_graph"), "Missing argument"),
        (("breakdown", "op_graph", "--chip", "p300"), "unknown chip 'p300'; known: p150, p100a"),
        (("breakdown", "op_graph", "--chip", "p100a", "--target", "simulator"),
         "the simulator is what it is; --chip and --calibration are for the emulator's predictions"),
        (("calibrate", "/no/such/folder/x.json"), "cannot write /no/such/folder/x.json"),
        (("calibrate", "x.json", "--target", "simulator"), "a functional simulator has no clock"),
        (("compare", "op_graph", "op_graph", "--calibration", "/no/such/file"), "cannot read the calibration /no/such"),
        (("fly",), "No such command 'fly'"),
        (("check", "op_graph", "--shape", "tiny,tokens=128,n_heads=32,n_kv_heads=4", "--max-seq", "256", "-S", "9"),
         "decode attention cannot hold 1024 query rows a KV head; use attn=standard"),
    ],
)  # fmt: skip
def test_bad_usage_takes_one_line_and_exits_with_2(args, message, monkeypatch, capsys):
    code, _, stderr = run_main(monkeypatch, capsys, *args)
    assert code == 2
    assert message in stderr and stderr.startswith("layerbench: ")
    assert len(stderr.splitlines()) == 1, stderr


def test_a_wrong_layer_exits_with_1_and_is_not_timed(tmp_path, monkeypatch, capsys):
    (tmp_path / "doubled.py").write_text(
        "from layer_impls.op_graph import OpGraph\n"
        "class Doubled(OpGraph):\n"
        "    def layer_fn(self, i, x, k, v):\n"
        "        out = super().layer_fn(i, x, k, v)\n"
        "        return self.env.ttnn.add(out, out)\n"
    )
    monkeypatch.setattr(layer_impls, "__path__", [*layer_impls.__path__, str(tmp_path)])
    code, stdout, _ = run_main(monkeypatch, capsys, "compare", "op_graph", "doubled", *SMALL)
    assert code == 1
    assert "doubled: output: relative L2" in stdout
    assert "published us: none (a check failed, and what is wrong is not timed)" in stdout
