"""Times layers of several implementations on a device, in turn, each in a trace that rotates over the layers.

A layer that is called again and again may find its weights in L1 by luck. So a trace calls several layers, whose
weights together fill what a Blackhole has of L1 (110 cores, 161 MB): none finds there what it left.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch

from harness import timing, verdict
from harness.bench import NAN, Bench
from harness.calls import Progress
from harness.case import Inputs
from harness.check import describe
from harness.errors import UsageError
from harness.registry import Spec
from harness.targets import Target
from harness.verdict import Part

LAYERS = 4  # 40 MB of bfp8 weights each
REPEATS = timing.REPEATS // LAYERS  # of the rotation in one trace
ROUNDS = 100
SECONDS = 120.0  # of timing: a slow layer gets fewer rounds
AFTER = "after timing"


class Untimed(Exception):
    """A layer that is right but cannot be timed: which, and why."""

    def __init__(self, implementation: str, why: str) -> None:
        super().__init__(f"{implementation}: {why}")
        self.implementation, self.why = implementation, why


@dataclass(frozen=True)
class Timed:
    """samples: us of a layer, one a round. parts: the layers' outputs once the samples were taken. clock_mhz: then."""

    samples: list[float]
    parts: tuple[Part, ...]
    clock_mhz: int | None = None


@dataclass
class Rotation:
    """Layers i, i + 1, ... of one implementation on the device, and what their last call gave."""

    benches: list[Bench]
    outputs: list[Any] = field(default_factory=list)

    def run(self) -> list[Any]:
        """Call each layer once."""
        self.outputs = [bench.run() for bench in self.benches]
        return self.outputs

    def judge(self, replay: Callable[[], object]) -> list[Part]:
        """Right after one more replay over outputs of NaN?"""
        for bench, out in zip(self.benches, self.outputs, strict=True):
            bench.write(out, torch.full(bench.inputs.x.shape, NAN, dtype=torch.bfloat16))
        replay()
        parts: list[Part] = []
        for n, (bench, out) in enumerate(zip(self.benches, self.outputs, strict=True)):
            k, v = bench.read(bench.k), bench.read(bench.v)
            rows = (cache[0, :, -bench.inputs.case.shape.tokens :] for cache in (k, v))
            found = verdict.layer(bench.inputs, k, v, bench.read(out), *rows)
            parts += [dataclasses.replace(part, call=f"{AFTER}, layer +{n}") for part in found]
        return parts


def time_layers(target: Target, specs: Sequence[Spec], inputs: Inputs, progress: Progress) -> list[Timed]:
    """Samples for each of `specs`, and whether what was timed was right. Raises `Untimed`."""
    progress("timing", "inputs of the layers")
    numbers = [(inputs.case.layer + n) % 2**32 for n in range(1, LAYERS)]
    others = [Inputs.random(dataclasses.replace(inputs.case, layer=n)) for n in numbers]
    # Every buffer exists before the first capture, those of a first call too: one allocated later could lie where a
    # trace writes.
    rotations: list[Rotation] = []
    for spec in specs:
        progress("timing", f"weights of {spec}")
        with _naming(spec):
            rotations.append(_prepare(target, spec, [inputs, *others]))
            for out in rotations[-1].run():
                target.ttnn.deallocate(out)
    with ExitStack() as stack:
        traces = []
        for spec, rotation in zip(specs, rotations, strict=True):
            progress("timing", f"capture of {spec}")
            with _naming(spec):
                traces.append(stack.enter_context(timing.captured(target, rotation.run, set(), REPEATS)))
        progress("timing", "replays")
        samples = timing.interleaved_us(target, traces, ROUNDS, SECONDS)
        clock = timing.clock_mhz()
        progress(AFTER, "")
        parts = [
            tuple(rotation.judge(partial(timing.replay_us, target, trace)))
            for rotation, trace in zip(rotations, traces, strict=True)
        ]
    for rotation in rotations:
        for bench in rotation.benches:
            bench.close()
    return [Timed(*both, clock) for both in zip(samples, parts, strict=True)]


def _prepare(target: Target, spec: Spec, layers: Sequence[Inputs]) -> Rotation:
    first = Bench.prepare(target, spec, layers[0])
    benches = [first]
    for inputs in layers[1:]:
        bench = first.beside(inputs, None, *first.upload_caches(*inputs.caches("sevens")))
        bench.x = bench.upload_x()
        benches.append(bench)
    return Rotation(benches)


@contextmanager
def _naming(spec: Spec) -> Iterator[None]:
    """Says whose exception it is."""
    try:
        yield
    except UsageError:
        raise
    except Exception as error:
        raise Untimed(str(spec), describe(error)) from error
