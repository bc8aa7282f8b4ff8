"""The cache of converted tensors: what it gives back is what was asked for, whatever happened to its files."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from harness.dtypes import to_device
from harness.expert import cache as cache_module
from harness.expert.cache import TensorCache
from harness.expert.conversions import Conversions, converter_of
from harness.targets import Target, open_target

KEY, OTHER = "0" * 32, "1" * 32


def put(cache: TensorCache, key: str, content: bytes, what: str = "thing") -> Path:
    cache.add(key, what, lambda aside: aside.write_bytes(content))
    (entry,) = [e for e in cache.entries() if e.key == key]
    return entry.path


def used(path: Path, seconds_ago: float) -> None:
    os.utime(path, (time.time() - seconds_ago,) * 2)


def test_what_was_added_is_found(tmp_path):
    cache = TensorCache(tmp_path)
    assert cache.find(KEY) is None
    path = put(cache, KEY, b"content")
    assert cache.find(KEY) == path and path.read_bytes() == b"content"
    assert cache.find(OTHER) is None
    (entry,) = TensorCache(tmp_path).entries()
    assert (entry.what, entry.size) == ("thing", 7)


@given(data=st.data(), content=st.binary(min_size=1, max_size=60))
def test_a_changed_file_is_never_used(tmp_path_factory, data, content):
    cache = TensorCache(tmp_path_factory.mktemp("cache"))
    path = put(cache, KEY, content)
    kind = data.draw(st.sampled_from(["cut", "flip", "grow"]))
    place = data.draw(st.integers(0, len(content) - 1))
    changed = {
        "cut": content[:place],
        "flip": content[:place] + bytes([content[place] ^ 1 << data.draw(st.integers(0, 7))]) + content[place + 1 :],
        "grow": content + data.draw(st.binary(min_size=1, max_size=9)),
    }[kind]
    path.write_bytes(changed)
    assert cache.find(KEY) is None
    assert not path.exists(), "it would be in the way for ever"


def test_a_file_of_another_key_is_never_used(tmp_path):
    """Not even a whole one, under a name that asks for it."""
    cache = TensorCache(tmp_path)
    path = put(cache, OTHER, b"other weights")
    path.rename(path.with_name(path.name.replace(OTHER, KEY)))
    assert cache.find(KEY) is None and cache.find(OTHER) is None


def test_files_of_others_are_left_alone(tmp_path):
    cache = TensorCache(tmp_path, limit=0)
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "weights.tensorbin").write_text("ttnn's")
    cache.add(KEY, "thing", lambda aside: aside.write_bytes(b"x"))
    assert cache.entries() == [], "the limit is 0"
    cache.clear()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["notes.txt", "weights.tensorbin"]


def test_what_was_not_used_for_longest_goes_first(tmp_path):
    cache = TensorCache(tmp_path, limit=30)
    keys = [str(n) * 32 for n in range(4)]
    for n, key in enumerate(keys[:3]):
        used(put(cache, key, bytes(10)), seconds_ago=100 - n)
    assert cache.find(keys[0])  # used just now
    put(cache, keys[3], bytes(10))
    assert {e.key for e in cache.entries()} == {keys[0], keys[2], keys[3]}


def test_what_a_killed_writer_left_goes_in_time(tmp_path):
    cache = TensorCache(tmp_path)
    left = tmp_path / f"{cache_module.UNFINISHED}abc.tensorbin"
    left.write_bytes(b"half")
    put(cache, KEY, b"x")
    assert cache.unfinished() == [left], "its writer may be at work"
    used(left, cache_module.ABANDONED_S + 1)
    put(cache, OTHER, b"y")
    assert cache.unfinished() == []


def test_a_full_disk_is_no_error(tmp_path):
    cache = TensorCache(tmp_path)

    def full(aside: Path) -> None:
        aside.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    cache.add(KEY, "thing", full)
    assert cache.find(KEY) is None and list(tmp_path.iterdir()) == []


def counted(target: Target, cache: TensorCache, converter: str = "") -> tuple[Conversions, list[tuple[int, ...]]]:
    """The view, and the shapes of what the ttnn below it is asked to convert."""
    asked: list[tuple[int, ...]] = []

    class Counting:
        def __getattr__(self, name):
            return getattr(target.ttnn, name)

        def from_torch(self, tensor, **options):
            asked.append(tuple(tensor.shape))
            return target.ttnn.from_torch(tensor, **options)

    return Conversions(Counting(), cache, converter or converter_of(target)), asked


def test_a_conversion_happens_once(emulator, tmp_path):
    ttnn, asked = counted(emulator, TensorCache(tmp_path))
    w = torch.randn(64, 96).bfloat16()
    first = ttnn.to_torch(to_device(ttnn, emulator.device, w, "bfp8"))
    again = to_device(ttnn, emulator.device, w.clone(), "bfp8")
    assert torch.equal(ttnn.to_torch(again), first) and asked == [(64, 96)]
    assert (tuple(again.shape), again.dtype, again.layout) == ((64, 96), ttnn.bfloat8_b, ttnn.TILE_LAYOUT)


def test_other_values_dtypes_shapes_and_converters_are_converted(emulator, tmp_path):
    cache = TensorCache(tmp_path)
    ttnn, asked = counted(emulator, cache)
    w = torch.randn(64, 96).bfloat16()
    to_device(ttnn, emulator.device, w, "bfp8")
    changed = w.clone()
    changed[5, 7] += 1
    for tensor, dtype in ((changed, "bfp8"), (w, "bfp4"), (w.reshape(96, 64), "bfp8"), (w.float(), "bfp8")):
        got = to_device(ttnn, emulator.device, tensor, dtype)
        want = to_device(emulator.ttnn, emulator.device, tensor, dtype)
        assert torch.equal(ttnn.to_torch(got), ttnn.to_torch(want))
    assert len(asked) == 5
    other, asked = counted(emulator, cache, converter="ttnn 0.0")
    to_device(other, emulator.device, w, "bfp8")
    assert len(asked) == 1


def test_bf16_and_host_tensors_pass_by(emulator, tmp_path):
    ttnn, asked = counted(emulator, TensorCache(tmp_path))
    w = torch.randn(64, 96).bfloat16()
    to_device(ttnn, emulator.device, w, "bf16")
    ttnn.from_torch(w, dtype=ttnn.bfloat8_b, layout=ttnn.TILE_LAYOUT)
    assert len(asked) == 2 and list(tmp_path.iterdir()) == []


WRITER = """
import sys, torch
from pathlib import Path
from harness.dtypes import to_device
from harness.expert.cache import TensorCache
from harness.expert.conversions import Conversions, converter_of
from harness.targets import open_target
with open_target("emulator") as target:
    cache = TensorCache(Path(sys.argv[1]))
    ttnn = Conversions(target.ttnn, cache, converter_of(target))
    files = {}
    for seed in range(4):
        w = torch.randn(512, 512, generator=torch.Generator().manual_seed(seed)).bfloat16()
        files[ttnn.key(w, "bfp8")] = to_device(target.ttnn, target.device, w, "bfp8").cpu()
    print("ready", flush=True)
    while True:
        cache.clear()
        for key, tensor in files.items():
            cache.add(key, "512x512-bfp8", lambda aside: target.ttnn.dump_tensor(str(aside), tensor))
"""


def killed_writer(folder: Path, seconds: float) -> None:
    """A process that writes the cache, and clears it, again and again, killed after `seconds` of that."""
    with subprocess.Popen([sys.executable, "-c", WRITER, str(folder)], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None and child.stdout.readline() == "ready\n"
        time.sleep(seconds)
        child.send_signal(signal.SIGKILL)


def right_after_a_kill(folder: Path) -> None:
    with open_target("emulator") as target:
        ttnn = Conversions(target.ttnn, TensorCache(folder), converter_of(target))
        for seed in range(4):
            w = torch.randn(512, 512, generator=torch.Generator().manual_seed(seed)).bfloat16()
            want = target.ttnn.to_torch(to_device(target.ttnn, target.device, w, "bfp8"))
            for _ in range(2):  # from what the killed one left, or converted; then from the cache
                assert torch.equal(ttnn.to_torch(to_device(ttnn, target.device, w, "bfp8")), want)


def kill_again_and_again(folder: Path, times: int) -> int:
    """How many of the kills came in the middle of a write."""
    delays, amid = random.Random(0), 0
    for _ in range(times):
        killed_writer(folder, delays.uniform(0.0, 0.1))
        amid += len(TensorCache(folder).unfinished())
        right_after_a_kill(folder)
    return amid


def test_a_writer_killed_at_any_moment_spoils_nothing(tmp_path):
    kill_again_and_again(tmp_path, times=1)


@pytest.mark.slow
def test_a_writer_killed_at_many_moments_spoils_nothing(tmp_path):
    assert kill_again_and_again(tmp_path, times=15) > 0, "no kill came in the middle of a write: it proves little"


def test_a_write_cut_in_its_middle_is_seen(tmp_path):
    """The kill that matters, made certain: in the middle of the file, and before the rename."""
    script = WRITER.replace(
        "    print(", "    import os\n    os.replace = Path.replace = lambda *_: os.kill(os.getpid(), 9)\n    print("
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert len(TensorCache(tmp_path).unfinished()) == 1 and TensorCache(tmp_path).entries() == []
    right_after_a_kill(tmp_path)


@pytest.mark.simulator
@pytest.mark.slow
def test_the_real_ttnns_tensors_come_back(tmp_path):
    with open_target("simulator") as target:
        ttnn, asked = counted(target, TensorCache(tmp_path))
        w = torch.randn(64, 96).bfloat16()
        first = ttnn.to_torch(to_device(ttnn, target.device, w, "bfp8"))
        again = to_device(ttnn, target.device, w, "bfp8")
        assert torch.equal(ttnn.to_torch(again), first) and len(asked) == 1
        assert tuple(again.shape) == (64, 96) and again.dtype == ttnn.bfloat8_b
        target.exit_code = 0
