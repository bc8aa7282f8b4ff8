"""Trace safety: the guard names the buffer before a replay runs over it, and is silent where nothing can happen."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.dtypes import to_device
from harness.targets import Target, TraceHazard, open_target


def tensor(target: Target, value: float, tiles: int = 1):
    return to_device(target.ttnn, target.device, torch.full((32, 32 * tiles), value).bfloat16(), "bf16")


def captured(target: Target, x, keep: bool = False):
    """A trace of last = x + x + x, whose x + x is freed in the capture."""
    ttnn = target.ttnn
    trace = ttnn.begin_trace_capture(target.device, cq_id=0)
    middle = ttnn.add(x, x)
    last = ttnn.add(middle, x)
    if not keep:
        ttnn.deallocate(middle)
    ttnn.end_trace_capture(target.device, trace, cq_id=0)
    return trace, last


def replay(target: Target, trace) -> None:
    target.ttnn.execute_trace(target.device, trace, cq_id=0, blocking=True)


def value(target: Target, x) -> float:
    (only,) = target.ttnn.to_torch(x).float().unique().tolist()
    return only


def hazard(target: Target) -> None:
    """A buffer where a trace works is named before it is overwritten; without the guard it is overwritten."""
    x = tensor(target, 1.0)
    trace, last = captured(target, x)
    replay(target, trace)
    later = tensor(target, 7.0)
    with pytest.raises(TraceHazard, match=r"BFLOAT16 \[32, 32\] from from_torch at test_trace_guard.py:\d+ \(address 0x"
                       r"\w+\) was allocated after trace .* was captured, in memory that this trace uses"):  # fmt: skip
        replay(target, trace)
    assert value(target, later) == 7.0, "it was named before it was hurt"
    target.recorder.module.execute_trace(target.device, trace, cq_id=0, blocking=True)
    assert value(target, later) == 2.0, "and it would have been"
    target.ttnn.deallocate(later)
    replay(target, trace)
    assert value(target, last) == 3.0
    target.ttnn.release_trace(target.device, trace)


def test_a_buffer_in_the_way_is_named_before_it_is_overwritten(emulator):
    hazard(emulator)


def test_a_buffer_elsewhere_is_in_nobodys_way(emulator):
    x = tensor(emulator, 1.0)
    trace, last = captured(emulator, x)
    filler = tensor(emulator, 0.0)  # takes the place of the freed one
    later = tensor(emulator, 7.0)
    emulator.ttnn.deallocate(filler)
    replay(emulator, trace)
    assert (value(emulator, later), value(emulator, last)) == (7.0, 3.0)


def test_what_is_freed_before_the_replay_is_no_hazard(emulator):
    x = tensor(emulator, 1.0)
    trace, last = captured(emulator, x)
    emulator.ttnn.deallocate(emulator.ttnn.multiply(x, x))
    replay(emulator, trace)
    assert value(emulator, last) == 3.0


def test_memory_that_the_trace_reads_counts_too(emulator):
    """An input that was freed: on replay the trace would take for it whatever lies there now."""
    x = tensor(emulator, 1.0)
    trace, _ = captured(emulator, x, keep=True)
    emulator.ttnn.deallocate(x)
    tensor_there = tensor(emulator, 9.0)
    with pytest.raises(TraceHazard, match="was allocated after trace 0 was captured"):
        replay(emulator, trace)
    assert value(emulator, tensor_there) == 9.0


def test_an_output_of_another_trace_may_lie_there(emulator):
    x, y = tensor(emulator, 1.0), tensor(emulator, 10.0)
    foreign, _ = captured(emulator, x)
    trace, last = captured(emulator, y, keep=True)  # its middle lies where the foreign one has its own
    replay(emulator, foreign)
    replay(emulator, trace)
    assert value(emulator, last) == 30.0
    replay(emulator, foreign)
    assert value(emulator, last) == 30.0, "it lies elsewhere"


def test_an_output_that_was_run_over_is_not_read(emulator):
    ttnn = emulator.ttnn
    x = tensor(emulator, 1.0)
    foreign, _ = captured(emulator, x)
    trace = ttnn.begin_trace_capture(emulator.device, cq_id=0)
    out = ttnn.multiply(x, x)  # the first free place: the foreign trace's intermediate
    ttnn.end_trace_capture(emulator.device, trace, cq_id=0)
    replay(emulator, trace)
    assert value(emulator, out) == 1.0
    replay(emulator, foreign)
    with pytest.raises(TraceHazard, match=r"\[32, 32\] from multiply at .* is read after trace 0 has run over it"):
        ttnn.to_torch(out)
    with pytest.raises(TraceHazard, match="is read after"):
        ttnn.add(out, x)
    replay(emulator, trace)
    assert value(emulator, out) == 1.0
    replay(emulator, foreign)
    host = ttnn.from_torch(torch.full((32, 32), 5.0).bfloat16(), layout=ttnn.TILE_LAYOUT)
    ttnn.copy_host_to_device_tensor(host, out)
    assert value(emulator, out) == 5.0, "the host has written it since"


def test_buffers_made_behind_its_back_are_found_too(emulator):
    x = tensor(emulator, 1.0)
    trace, _ = captured(emulator, x)
    raw = emulator.recorder.module
    unseen = to_device(raw, emulator.device, torch.zeros(32, 32), "bf16")
    emulator.ttnn.deallocate(tensor(emulator, 0.0, tiles=1))  # any allocation makes it look again
    with pytest.raises(TraceHazard, match=r"a buffer of 2048 B a bank \(address"):
        replay(emulator, trace)
    assert unseen.is_allocated()


PRIMES = [float(n) for n in range(5, 256) if all(n % d for d in range(2, n))]  # exact in bf16
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("make"), st.sampled_from([1, 3, 9, 20])),
        st.tuples(st.just("free"), st.integers(0, 30)),
        st.tuples(st.just("capture"), st.integers(0, 30)),
        st.tuples(st.just("replay"), st.integers(0, 5)),
    ),
    min_size=4,
    max_size=40,
)


@settings(max_examples=60)
@given(steps=STEPS)
def test_the_guard_is_right_about_every_buffer(steps):
    """Whatever is made, freed, captured and replayed: what the guard lets pass, no replay changes."""
    with open_target("emulator") as target:
        made: list = []
        traces: list = []
        primes = iter(PRIMES)  # none is twice or three times another, which is what traces write
        for what, which in steps:
            if what == "make":
                prime = next(primes)
                made.append((tensor(target, prime, which), prime))
            elif what == "free" and made:
                target.ttnn.deallocate(made.pop(which % len(made))[0])
            elif what == "capture" and made and len(traces) < 3:
                x = made[which % len(made)][0]
                traces.append((captured(target, x)[0], x))
            elif what == "replay" and traces:
                trace, x = traces[which % len(traces)]
                try:
                    replay(target, trace)
                except TraceHazard:
                    target.recorder.module.execute_trace(target.device, trace)
                    hurt = [t for t, v in made if not (target.recorder.module.to_torch(t).float() == v).all()]
                    assert hurt or not x.is_allocated(), "nothing would have happened"
                    break
                assert all(value(target, t) == v for t, v in made), "a replay changed what the guard let pass"


@pytest.mark.simulator
@pytest.mark.slow
def test_the_real_ttnn_has_the_hazard_and_the_guard_sees_it():
    with open_target("simulator", trace_region=1 << 20) as target:
        target.ttnn.add(tensor(target, 1.0), tensor(target, 1.0))  # compiled before the capture
        hazard(target)
        target.exit_code = 0
