"""Records: whole whatever happens, kept by every check and compare, read by `history` and `diff`."""

from __future__ import annotations

import copy
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness import files, history, record, results, timing
from harness.errors import UsageError
from tests.test_cli import run_main

TINY = ("--shape", "tiny", "--seq-len", "40", "--max-seq", "128")
WRITER = """
import sys, itertools
from pathlib import Path
from harness import results
print("ready", flush=True)
for n in itertools.count():
    time = "2026-01-01T00:00:00+00:00"
    record = {"schema": 2, "command": "check", "time": time, "result": {"rows": list(range(3000)), "end": n}}
    results.append(Path(sys.argv[1]), record)
"""


def test_a_record_is_whole_whenever_its_writer_is_killed(tmp_path):
    moments = random.Random(0)
    for _ in range(12):
        child = subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE)
        assert child.stdout and child.stdout.readline() == b"ready\n"
        time.sleep(moments.uniform(0.01, 0.15))
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        child.stdout.close()
    paths = results.records(tmp_path)
    assert len(paths) > 12
    for path in paths:
        assert results.read(path)["result"]["rows"][-1] == 2999


def test_a_file_gets_the_mode_that_any_new_file_gets(tmp_path):
    before = os.umask(0o027)
    try:
        files.write_json(tmp_path / "a.json", {"a": 1})
    finally:
        os.umask(before)
    assert (tmp_path / "a.json").stat().st_mode & 0o777 == 0o640


def test_what_is_not_finite_is_null(tmp_path):
    files.write_json(tmp_path / "a.json", {"a": [1.5, float("nan")], "b": {"c": float("inf")}})
    assert json.loads((tmp_path / "a.json").read_text()) == {"a": [1.5, None], "b": {"c": None}}


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "a.json"
    files.write_json(path, {"a": 1})
    monkeypatch.setattr(os, "fsync", lambda fd: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(UsageError, match="No space left"):
        files.write_json(path, {"a": 2})
    assert [p.name for p in tmp_path.iterdir()] == ["a.json"] and json.loads(path.read_text()) == {"a": 1}


def test_check_and_compare_keep_records_that_history_and_diff_read(monkeypatch, capsys, results_folder):
    code, out, _ = run_main(monkeypatch, capsys, "check", "op_graph", *TINY)
    (first,) = results.records(results_folder)
    assert code == 0 and f"record: {first.stem}" in out
    code, _, _ = run_main(monkeypatch, capsys, "compare", "op_graph", "op_graph:attn=standard", *TINY, "--seed", "1")
    (second,) = set(results.records(results_folder)) - {first}
    made = results.read(first)
    environment = made["environment"]
    assert environment["grid"] == "11x10" and environment["clock_mhz"] == 1350 and environment["chip"] == "p150"
    assert "published constants" in environment["calibration"] and environment["torch"]

    code, out, _ = run_main(monkeypatch, capsys, "history", "op_graph")
    assert code == 0 and out.count("PASS") == 3 and "FAST to op_graph" in out and "predicted" in out
    assert out.index(first.stem) < out.index(second.stem), "oldest first"
    us = results.entries(made)[0]["breakdown"]["predicted_us"]
    assert f"{us:.1f}" in out and "seed 1" in out
    code, out, _ = run_main(monkeypatch, capsys, "history", "op_graph:attn=standard")
    assert code == 0 and out.count("PASS") == 1

    code, out, _ = run_main(monkeypatch, capsys, "diff", first.stem[-6:], str(second))
    assert code == 0 and "case seed" in out and "op_graph: output pcc" in out and "attn=standard: is" in out
    assert "op_graph: us" not in out, "the same ops take the same time"
    code, out, _ = run_main(monkeypatch, capsys, "diff", first.stem, first.stem)
    assert code == 0 and "nothing differs" in out


def test_what_changed(monkeypatch, capsys, results_folder):
    run_main(monkeypatch, capsys, "check", "op_graph", *TINY)
    before = results.read(results.records(results_folder)[0])
    after = copy.deepcopy(before)
    entry = after["result"]["entries"][0]
    entry["breakdown"]["predicted_us"] *= 1.1
    entry["breakdown"]["ops"][3]["predicted"]["us"] *= 2
    entry["check"]["parts"][0]["passed"] = entry["check"]["passed"] = False
    after["environment"]["ttnn"] = "0.99"
    found = {c.what: c for c in history.changes(before, after)}
    assert set(found) == {"ttnn", "op_graph: check", "op_graph: us", "op_graph: shape and dtype",
                          "op_graph: rms_norm (2) us"}  # fmt: skip
    assert found["op_graph: check"].after == "FAIL" and found["op_graph: us"].after is None, "what is wrong has no time"
    assert found["op_graph: rms_norm (2) us"].share == pytest.approx(1)


def test_a_folder_that_cannot_be_written(monkeypatch, capsys, tmp_path):
    (tmp_path / "file").write_text("")
    folder = str(tmp_path / "file" / "results")
    code, _, err = run_main(monkeypatch, capsys, "check", "op_graph", *TINY, "--results", folder)
    assert code == 2 and "cannot keep records in" in err and "--results DIR" in err
    monkeypatch.delenv(results.VARIABLE)
    monkeypatch.setattr(results, "FOLDER", Path(folder))
    code, out, err = run_main(monkeypatch, capsys, "check", "op_graph", *TINY)
    assert code == 0 and "no record of this" in err and "PASS op_graph" in out, "nobody asked for one"


def test_what_is_no_record_is_named(monkeypatch, capsys, results_folder):
    code, _, err = run_main(monkeypatch, capsys, "history", "op_graph")
    assert code == 2 and "has no record of 'op_graph'" in err
    (results_folder / "x.json").write_text('{"schema": 1}')
    for args, message in (
        (("diff", "x", "x"), "is no record of a check or compare in schema 2"),
        (("diff", "y", "x"), "which record is 'y'? "),
        (("diff", str(results_folder / "x.json"), "/no/such"), "which record is '/no/such'"),
    ):
        code, _, err = run_main(monkeypatch, capsys, *args)
        assert code == 2 and message in err and len(err.splitlines()) == 1


def test_git_state(tmp_path, monkeypatch):
    assert record.git_state(tmp_path) is None

    def git(*args):
        subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e", *args], cwd=tmp_path, check=True)

    git("init", "-q")
    (tmp_path / "a").write_text("1")
    git("add", "a")
    git("commit", "-qm", "a")
    clean = record.git_state(tmp_path)
    assert clean and clean["commit"] and clean["changes"] is None
    (tmp_path / "a").write_text("2")
    one = record.git_state(tmp_path)
    (tmp_path / "a").write_text("3")
    assert one["changes"] and record.git_state(tmp_path)["changes"] not in (None, one["changes"])


def test_the_clock_of_a_card(tmp_path, monkeypatch):
    monkeypatch.setattr(timing, "CLOCK", tmp_path / "tt_aiclk")
    assert timing.clock_mhz() is None
    timing.CLOCK.write_text("1350\n")
    assert timing.clock_mhz() == 1350
