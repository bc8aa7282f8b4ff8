"""What an implementation has to pass; `pytest --layer-impl NAME --layer-target T` runs it.

A shape that the implementation refuses with a `UsageError` is skipped, the real one and the smallest excepted.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, Phase, given, reject, settings

from harness import timing, verdict
from harness.bench import NAN, Bench
from harness.case import Case, Inputs
from harness.check import describe, run_check
from harness.distributions import DISTRIBUTIONS
from harness.errors import UsageError
from harness.registry import Spec, parse
from harness.rotation import Rotation
from harness.shape import PRESETS, parse_shape
from harness.strategies import cases
from harness.targets import Target, open_target
from harness.verdict import Part

TINY = Case(PRESETS["tiny"], S=40, Smax=128)
SCHEDULES = range(1, 51)
TOGETHER = range(4)  # of layers in one call
EXAMPLES = 10  # random shapes
TRACE_REGION = 4 << 20  # for all: a process keeps the way of dispatch of its first device, and only one has traces
REPLAYS = ("replay", "replay in another context, on other contents", "replay as at first")
CASES = {
    "tiny": TINY,
    "one valid row": dataclasses.replace(TINY, S=1),
    "no hidden rows": dataclasses.replace(TINY, S=96),
    "S at the edge of a tile": dataclasses.replace(TINY, S=64),
    "negative rope delta": dataclasses.replace(TINY, rope_delta=-40),
    "bfp8 cache": dataclasses.replace(TINY, cache="bfp8"),
    "bf16 weights": dataclasses.replace(TINY, weights="bf16"),
    "uneven": Case(parse_shape("small,tokens=96,hidden=352,n_heads=6,n_kv_heads=2,inter=416"), S=33, Smax=256),
    "real": Case(),
}
NEEDED = ("tiny", "real")


@pytest.fixture(scope="module")
def spec(request: pytest.FixtureRequest) -> Spec:
    """The implementation, with its options."""
    return parse(request.config.getoption("--layer-impl"))


@pytest.fixture(scope="module")
def target_name(request: pytest.FixtureRequest) -> str:
    """Where to run it."""
    name: str = request.config.getoption("--layer-target")
    return name


def failures(parts: Sequence[Part]) -> list[str]:
    """A line for each part that failed."""
    return [f"{part.title}: {part.failure}" for part in parts if not part.passed]


def report(spec: Spec, case: Case, wrong: Sequence[str]) -> None:
    """Fail with what was wrong, and on which inputs; without a traceback, which would be of this file."""
    if wrong:
        pytest.fail("\n".join([f"{spec} is wrong at {case.shape}, {case}", *wrong]), pytrace=False)


def check(target_name: str, spec: Spec, case: Case, schedules: Sequence[int] = (1,)) -> None:
    """`layerbench check`."""
    with open_target(target_name, TRACE_REGION) as target:
        result = run_check(target, spec, Inputs.random(case), schedules=schedules)
        target.exit_code = 0 if result.passed else 1
    report(spec, case, failures(result.parts))


@pytest.mark.parametrize("name", CASES)
def test_check(target_name: str, spec: Spec, name: str) -> None:
    """Right at the real shape, and where S, formats and sizes are at their edges."""
    try:
        check(target_name, spec, CASES[name])
    except UsageError as error:
        (pytest.fail if name in NEEDED else pytest.skip)(f"refused: {error}")


@pytest.mark.parametrize("inputs", [name for name in DISTRIBUTIONS if name != "normal"])
def test_inputs(target_name: str, spec: Spec, inputs: str) -> None:
    """Right whatever the sizes of what it is given."""
    check(target_name, spec, dataclasses.replace(TINY, inputs=inputs))


@given(case=cases())
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    phases=[Phase.generate],  # a smaller example costs more time than it tells
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
def test_random_shapes(target_name: str, spec: Spec, case: Case) -> None:
    """Right at legal shapes in legal contexts."""
    try:
        check(target_name, spec, case)
    except UsageError:
        reject()


def test_schedules(target_name: str, spec: Spec) -> None:
    """The same bits under 50 orders of threads and transfers."""
    if target_name != "emulator":
        pytest.skip(f"the {target_name} has one schedule, its own")
    check(target_name, spec, TINY, SCHEDULES)


def test_moved_tensors_and_context(target_name: str, spec: Spec, case: Case = TINY) -> None:
    """Two layers of one implementation: the second in another context, with tensors that lie elsewhere."""
    first, other = pair(case)
    with collecting(target_name, spec, case) as (target, wrong):
        bench = Bench.prepare(target, spec, first)
        bench.implementation.prepare(other.case.layer, other.weights)
        before = judged(bench, "first call", wrong)
        bench.context.set_context(other.case.S, other.case.rope_delta)
        judged(bench.elsewhere(other), "second layer, moved tensors, another context", wrong)
        bench.context.set_context(first.case.S, first.case.rope_delta)
        if not torch.equal(judged(bench, "back again", wrong), before):
            wrong.append("back again: other bits than in the first call; something of the second stays behind")


def test_trace(target_name: str, spec: Spec, case: Case = TINY) -> None:
    """A captured trace gives the bits of an eager run, in another context and on other contents of its inputs too."""
    first, other = pair(case)
    with collecting(target_name, spec, case) as (target, wrong):
        bench = Bench.prepare(target, spec, first)
        layer = Rotation([bench])
        eager = []
        for inputs in (first, other):
            load(bench, inputs)
            eager.append(written(bench, layer.run()[0]))
            target.ttnn.deallocate(layer.outputs[0])
        load(bench, first)
        with timing.captured(target, layer.run, set(), repeats=1) as trace:
            for name, inputs, want in zip(REPLAYS, (first, other, first), (*eager, eager[0]), strict=True):
                load(bench, inputs)
                bench.write(layer.outputs[0], torch.full(inputs.x.shape, NAN, dtype=torch.bfloat16))
                timing.replay_us(target, trace)
                got = written(bench, layer.outputs[0])
                parts = [verdict.identical(tensor, got[tensor], want[tensor]) for tensor in want]
                wrong += [f"{name}: other bits than an eager run's: {line}" for line in failures(parts)]


def test_layers_in_one_call(target_name: str, spec: Spec, case: Case = TINY) -> None:
    """As many layers as the implementation takes in one call are the same layers in as many calls, to the bit."""
    with collecting(target_name, spec, case) as (target, wrong):
        first = case.layer
        bench = Bench.prepare(target, spec, Inputs.random(case))
        layer = bench.implementation
        if layer.layers_per_call == 1:
            pytest.skip("it takes one layer a call")
        layers = [Inputs.random(dataclasses.replace(case, layer=first + i)) for i in range(layer.layers_per_call)]
        for inputs in layers[1:]:
            layer.prepare(inputs.case.layer, inputs.weights)
        x, caches = bench.x, [bench.upload_caches(*inputs.caches("noise")) for inputs in layers]
        for i, pair in enumerate(caches):
            x = layer.layer_fn(first + i, x, *pair)
        want = [bench.read(t) for t in (x, *chain(*caches))]
        for seed in TOGETHER if target.programs else TOGETHER[:1]:
            if target.programs:
                target.programs.schedule_seed = seed
            caches = [bench.upload_caches(*inputs.caches("noise")) for inputs in layers]
            x = layer.layers_fn(first, bench.x, caches)
            same = [torch.equal(bench.read(t), w) for t, w in zip((x, *chain(*caches)), want, strict=True)]
            if not all(same):
                wrong.append(
                    f"schedule {seed}: other bits than in calls of their own (output, K and V of each): {same}"
                )


def pair(case: Case) -> tuple[Inputs, Inputs]:
    """A layer's inputs, and the next layer's in another context."""
    S = (case.S + 17) % (case.Smax - case.shape.tokens) or 1
    there = dataclasses.replace(case, layer=case.layer + 1, S=S, rope_delta=case.rope_delta + 900)
    return Inputs.random(case), Inputs.random(there)


@contextmanager
def collecting(target_name: str, spec: Spec, case: Case) -> Iterator[tuple[Target, list[str]]]:
    """An open target, and what is found wrong inside the block; an exception is, too. Fails if there is any."""
    wrong: list[str] = []
    with open_target(target_name, TRACE_REGION) as target:
        try:
            yield target, wrong
        except (Exception, SystemExit) as error:
            wrong.append(describe(error))
        target.exit_code = 1 if wrong else 0
    report(spec, case, wrong)


def load(bench: Bench, inputs: Inputs) -> None:
    """The context, x and caches of other inputs into the same memory; the layer stays."""
    bench.context.set_context(inputs.case.S, inputs.case.rope_delta)
    bench.write(bench.x, inputs.x)
    bench.refill(*inputs.caches("sevens"))


def written(bench: Bench, out: Any) -> dict[str, torch.Tensor]:
    """What a call has written."""
    own = slice(-bench.inputs.case.shape.tokens, None)
    return {
        "output": bench.read(out),
        "K rows": bench.read(bench.k)[:, :, own],
        "V rows": bench.read(bench.v)[:, :, own],
    }


def judged(bench: Bench, call: str, wrong: list[str]) -> torch.Tensor:
    """Run once; what the oracle finds wrong is added to `wrong`. Returns the output."""
    inputs, case = bench.inputs, bench.inputs.case
    sent = bench.read(bench.k), bench.read(bench.v)
    out = bench.read(bench.run())
    rows = (bench.read(cache)[0, :, case.Smax - case.shape.tokens :] for cache in (bench.k, bench.v))
    wrong += [f"{call}: {line}" for line in failures(verdict.layer(inputs, *sent, out, *rows))]
    return out
