"""The whole expert: equal to its torch reference, traced and eager alike, and undisturbed by other traces."""

from __future__ import annotations

import pytest
import torch

from harness.costs import CHIPS
from harness.errors import UsageError
from harness.expert.cache import TensorCache
from harness.expert.checkpoint import Checkpoint, make_checkpoint
from harness.expert.expert import Expert, Settings
from harness.expert.kv import SyntheticKv, upload
from harness.expert.reference import Reference
from harness.expert.sampling import Point, euler, noise
from harness.expert.weights import RandomWeights
from harness.metrics import max_abs, pcc
from harness.registry import parse
from harness.shape import PRESETS
from harness.targets import Target, TraceHazard, open_target
from tests.test_trace_guard import captured, replay, tensor

SHAPE = PRESETS["tiny"]
KV = SyntheticKv(SHAPE, S=100, rope_delta=-40, seed=2)
X0 = noise(SHAPE.tokens, seed=0)


def expert(target: Target, n_layers: int = 2, impl: str = "op_graph", **settings) -> Expert:
    return Expert(target, parse(impl), RandomWeights(SHAPE, n_layers, 1), Settings(Smax=256, **settings))


def prompt(target: Target, n_layers: int = 2, kv: SyntheticKv = KV, Smax: int = 256):
    return upload(target, kv, SHAPE, n_layers, Smax, "bf16")


def test_euler_integrates():
    """A velocity that depends on time alone: a left Riemann sum; one that depends on x alone: (1 + dt)^n."""
    x0 = torch.ones(4, 2)
    assert torch.allclose(euler(lambda x, t: torch.full_like(x, t), x0, 10), x0 + 0.45)
    assert torch.allclose(euler(lambda x, t: x, x0, 10), x0 * 1.1**10)
    points: list[Point] = []
    euler(lambda x, t: x * 0 + 2, x0, 4, points.append)
    assert [p.t for p in points] == [0.0, 0.25, 0.5, 0.75]
    assert torch.equal(points[2].x, x0 + 1) and torch.equal(points[2].v, x0 * 2)


def test_the_reference_is_the_layers_in_a_row():
    """Written out once more, in fp64, with transformers' names straight from the weights."""
    weights = RandomWeights(SHAPE, 2, 1)
    fp32 = Reference(weights, KV).step(X0, 0.3)
    fp64 = Reference(weights, KV, dtype=torch.float64).step(X0, 0.3)
    assert fp32.shape == (32, 2) and 0 < max_abs(fp32, fp64) < 1e-4
    for changed in (RandomWeights(SHAPE, 1, 1), RandomWeights(SHAPE, 2, 9)):
        assert pcc(Reference(changed, KV).step(X0, 0.3), fp32) < 0.99


@pytest.mark.parametrize("impl", ["op_graph", "op_graph:attn=standard"])
def test_a_step_is_the_references(emulator, impl):
    e = expert(emulator, n_layers=3, impl=impl)
    want = Reference(RandomWeights(SHAPE, 3, 1), KV).step(X0, 0.4)
    got = e.step(X0, 0.4, prompt(emulator, 3))
    assert e.eager is None and e.trace.id is not None
    assert pcc(got, want) > 0.999
    # A frequency, a position or a layer taken for another shows.
    for wrong in (
        Reference(RandomWeights(SHAPE, 3, 1), KV, exact=True).step(X0, 0.4),
        Reference(RandomWeights(SHAPE, 3, 1), SyntheticKv(SHAPE, 100, -41, 2)).step(X0, 0.4),
    ):
        assert pcc(got, wrong) < pcc(got, want)


def test_traced_eager_and_observed_are_the_same_bits(emulator):
    p = prompt(emulator)
    traced, eager = expert(emulator), expert(emulator, eager=True)
    first = traced.step(X0, 0.2, p)
    assert torch.equal(traced.step(X0, 0.2, p), first)
    assert eager.eager == "asked for"
    assert torch.equal(eager.step(X0, 0.2, p), first) and eager.trace.id is None
    observed, breakdowns = eager.observed_step(X0, 0.2, p)
    assert torch.equal(observed, first)
    assert [len(b.lines) for b in breakdowns] == [19, 19, 1]
    assert all(b.predicted_us for b in breakdowns)
    assert not any(line.call.args for b in breakdowns for line in b.lines), "they would keep weights on the device"
    embedded = traced.in_proj(X0, 0.2)
    hidden = traced.run_layers(embedded, p, final_norm=True)
    assert torch.equal(traced.out_proj(hidden), first)
    half = traced.run_layers(embedded, p, [0])
    assert torch.equal(traced.run_layers(half, p, [1], final_norm=True), hidden)


@pytest.mark.parametrize("impl", ["partly_fused", "fused_blocks", "norm_residual:chain=true"])
def test_fused_kernels_run_in_it_as_they_are(emulator, impl):
    """Also one that makes the next layer's norm ahead, and so must be handed the very tensor that it returned."""
    p = prompt(emulator)
    traced, eager = expert(emulator, impl=impl), expert(emulator, impl=impl, eager=True)
    first, breakdowns = eager.observed_step(X0, 0.2, p)
    assert torch.equal(traced.step(X0, 0.2, p), first)
    assert pcc(first, Reference(RandomWeights(SHAPE, 2, 1), KV).step(X0, 0.2)) > 0.999
    assert [len(b.lines) for b in breakdowns] == {
        "partly_fused": [12, 12, 1],
        "fused_blocks": [3, 3, 1],
        "norm_residual:chain=true": [18, 17, 1],
    }[impl]


def test_sampling_twice_gives_the_same_bits_also_after_a_foreign_trace(emulator):
    """The foreign trace was captured before the expert's: what it frees inside lies where the expert's output does."""
    e, p = expert(emulator), prompt(emulator)
    foreign, _ = captured(emulator, tensor(emulator, 1.0))
    points: list[Point] = []
    first = e.sample(X0, p, 2, points.append)
    replay(emulator, foreign)
    assert torch.equal(e.sample(X0, p, 2), first)
    replay(emulator, foreign)
    assert torch.equal(e.sample(X0, p, 2), first)
    assert torch.equal(points[1].x, X0 + 0.5 * points[0].v)
    want = Reference(RandomWeights(SHAPE, 2, 1), KV).sample(X0, 2)
    assert pcc(first - X0, want - X0) > 0.998


def test_another_context_needs_no_other_trace(emulator):
    e, p, shorter = expert(emulator), prompt(emulator), prompt(emulator, kv=SyntheticKv(SHAPE, 37, 0, 5))
    got = e.step(X0, 0.0, p)
    trace = e.trace.id
    moved = type(p)(p.caches, 64, -7)  # the same caches, other rows and positions
    changed = e.step(X0, 0.0, moved)
    assert e.trace.id == trace and not torch.equal(changed, got)
    fresh = expert_of_its_own(moved.S, moved.rope_delta)
    assert torch.equal(changed, fresh)
    assert torch.equal(e.step(X0, 0.0, p), got) and e.trace.id == trace
    e.step(X0, 0.0, shorter)
    assert e.trace.id != trace, "other caches, other addresses"


def expert_of_its_own(S: int, rope_delta: int) -> torch.Tensor:
    """The step of a new expert, on a device of its own, whose caches hold KV but of which S rows count."""
    with open_target("emulator") as target:
        p = prompt(target)
        return expert(target).step(X0, 0.0, type(p)(p.caches, S, rope_delta))


def test_caches_of_another_length(emulator):
    e, p = expert(emulator), prompt(emulator)
    first = e.step(X0, 0.0, p)
    e.close()
    longer = prompt(emulator, Smax=512)
    assert pcc(e.step(X0, 0.0, longer), first) > 0.9999
    assert e.context.Smax == 512


def test_a_buffer_in_the_way_of_the_step_is_named(emulator):
    e, p = expert(emulator), prompt(emulator)
    first = e.step(X0, 0.0, p)
    e.step(X0, 0.0, p)
    late = tensor(emulator, 1.0)
    with pytest.raises(TraceHazard, match="was allocated after trace 0 was captured"):
        e.step(X0, 0.0, p)
    emulator.ttnn.deallocate(late)
    assert torch.equal(e.step(X0, 0.0, p), first)


def test_a_failed_capture_leaves_no_trace(emulator, monkeypatch):
    e, p = expert(emulator), prompt(emulator)
    calls = iter([None, None, None])  # two layers of the first run, one of the capture

    def fails(i, x, k, v, layer_fn=e.implementation.layer_fn):
        if next(calls, "stop") == "stop":
            raise RuntimeError("no such kernel")
        return layer_fn(i, x, k, v)

    monkeypatch.setattr(e.implementation, "layer_fn", fails)
    with pytest.raises(RuntimeError, match="no such kernel"):
        e.step(X0, 0.0, p)
    assert emulator.recorder.live_traces == 0 and not emulator.device.capturing


@pytest.mark.parametrize("impl, files", [("op_graph", 5), ("fused_blocks", 2)])
def test_weights_from_a_checkpoint_and_through_the_cache_are_the_same(emulator, tmp_path, impl, files):
    """Whatever layout an implementation gives them; files: of a layer."""
    p = prompt(emulator)
    first = expert(emulator, impl=impl, eager=True).step(X0, 0.0, p)
    make_checkpoint(tmp_path / "made", RandomWeights(SHAPE, 2, 1))
    kept = TensorCache(tmp_path / "kept")
    for _ in range(2):
        weights = Checkpoint(tmp_path / "made", SHAPE)
        again = Expert(emulator, parse(impl), weights, Settings(Smax=256, eager=True), kept)
        assert torch.equal(again.step(X0, 0.0, p), first)
        assert len(kept.entries()) == 2 * files


def test_weights_laid_out_for_one_card_are_not_taken_for_another(tmp_path):
    """The same weights in the order of 8 banks, then of 7: the cache holds both, and each card gets its own."""
    kept = TensorCache(tmp_path)
    for chip, files in (("p150", 4), ("p100a", 8), ("p150", 8)):
        with open_target("emulator", chip=CHIPS[chip]) as target:
            settings = Settings(Smax=256, eager=True)
            e = Expert(target, parse("fused_blocks"), RandomWeights(SHAPE, 2, 1), settings, kept)
            got = e.step(X0, 0.0, prompt(target))
        assert pcc(got, Reference(RandomWeights(SHAPE, 2, 1), KV).step(X0, 0.0)) > 0.999
        assert len(kept.entries()) == files


def test_times_are_taken(emulator):
    e, p = expert(emulator), prompt(emulator)
    assert len(e.bench_step(p, repeats=2)) == 2
    e.close()
    assert e.layer_us(p, rounds=2) > 0
    assert emulator.recorder.live_traces == 0


def test_progress_over_layers(emulator):
    seen: list[tuple[int, int]] = []
    e, p = expert(emulator, n_layers=3), prompt(emulator, 3)
    e.step(X0, 0.0, p)
    e.step(X0, 0.0, p, lambda done, of: seen.append((done, of)))
    assert seen[-1] == (3, 3) and [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert len(set(seen)) >= 3


def test_too_few_caches(emulator):
    with pytest.raises(UsageError, match="the prompt has caches for 1 layers; the expert has 2"):
        expert(emulator).step(X0, 0.0, prompt(emulator, 1))


@pytest.mark.simulator
@pytest.mark.slow
def test_the_real_ttnn_traced_and_eager():
    """Two layers on ttsim under fast dispatch: against the reference, traced and eager, with a foreign trace."""
    with open_target("simulator", trace_region=64 << 20) as target:
        x = tensor(target, 1.0)
        target.ttnn.add(x, x)
        e, eager, p = expert(target), expert(target, eager=True), prompt(target)
        want = Reference(RandomWeights(SHAPE, 2, 1), KV)
        by_op = eager.step(X0, 0.4, p)
        foreign, _ = captured(target, x)
        first = e.step(X0, 0.4, p)
        print("velocity", pcc(first, want.step(X0, 0.4)))
        assert pcc(first, want.step(X0, 0.4)) > 0.999
        assert torch.equal(by_op, first)
        sampled = e.sample(X0, p, 2)
        trace = e.trace.id
        replay(target, foreign)
        assert torch.equal(e.sample(X0, p, 2), sampled) and e.trace.id == trace
        moved = type(p)(p.caches, 64, -7)
        changed = e.step(X0, 0.4, moved)
        assert e.trace.id == trace
        assert torch.equal(eager.step(X0, 0.4, moved), changed)
        e.close()
        target.exit_code = 0


@pytest.mark.simulator
@pytest.mark.slow
def test_the_real_ttnn_without_traces_says_so():
    with open_target("simulator") as target:
        e, p = expert(target), prompt(target)
        assert e.eager == "this simulator was opened without a region for traces"
        assert pcc(e.step(X0, 0.4, p), Reference(RandomWeights(SHAPE, 2, 1), KV).step(X0, 0.4)) > 0.999
        target.exit_code = 0
