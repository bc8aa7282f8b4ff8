"""Runs one layer of an implementation and judges all that the contract promises."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from harness import verdict
from harness.case import Case, Garbage, Inputs
from harness.context import LayerContext
from harness.dtypes import to_device
from harness.errors import UsageError
from harness.implementation import Implementation, LayerEnv
from harness.registry import Spec
from harness.targets import OpCall, Target
from harness.verdict import Part

if TYPE_CHECKING:
    from harness.emulator.programs import ProgramCounts

REPORT_LINES = 40  # of an exception: a deadlock of many threads takes some
# What long work reports: the stage it is in, and a detail of it.
Progress = Callable[[str, str], None]


def no_progress(stage: str, detail: str) -> None:
    """For callers that show none."""


@dataclass(frozen=True)
class CheckResult:
    """The verdict on one implementation.

    parts     what was looked at; all must pass
    calls     the ops of one call of `layer_fn`
    counts    for each of them what the emulator counted, None for what is no program of kernels
    host_s    seconds of the host for that call: never a device time
    """

    implementation: str
    case: Case
    target: str
    parts: tuple[Part, ...]
    calls: tuple[OpCall, ...]
    counts: tuple[ProgramCounts | None, ...]
    host_s: float

    @property
    def passed(self) -> bool:
        """True if every part passed."""
        return all(p.passed for p in self.parts)

    def part(self, name: str) -> Part | None:
        """The part of that name, None where the run did not get that far."""
        return next((p for p in self.parts if p.name == name), None)


@dataclass
class Bench:
    """A prepared layer on an open target with its inputs on the device, ready to be run again and again."""

    target: Target
    inputs: Inputs
    implementation: Implementation
    context: LayerContext
    x: Any
    k: Any
    v: Any

    @classmethod
    def prepare(cls, target: Target, spec: Spec, inputs: Inputs) -> Bench:
        """Build the implementation, prepare its layer, and upload the inputs."""
        case, ttnn = inputs.case, target.ttnn
        context = LayerContext(ttnn, target.device, case.shape, case.Smax, lambda: target.recorder.live_traces)
        context.set_context(case.S, case.rope_delta)
        implementation = spec.build(LayerEnv(ttnn, target.device, case.shape, context, case.weights, case.cache))
        implementation.prepare(case.layer, inputs.weights)
        k, v = inputs.caches("sevens")
        return cls(
            target,
            inputs,
            implementation,
            context,
            to_device(ttnn, target.device, inputs.x, "bf16"),
            to_device(ttnn, target.device, k, case.cache),
            to_device(ttnn, target.device, v, case.cache),
        )

    def run(self) -> Any:
        """One call of the layer."""
        return self.implementation.layer_fn(self.inputs.case.layer, self.x, self.k, self.v)

    def read(self, tensor: Any) -> torch.Tensor:
        """A device tensor on the host."""
        return self.target.ttnn.to_torch(tensor)

    def refill(self, k: torch.Tensor, v: torch.Tensor) -> None:
        """Overwrite both caches in place."""
        ttnn = self.target.ttnn
        for host, cache in ((k, self.k), (v, self.v)):
            if self.inputs.case.cache == "bf16":
                source = ttnn.from_torch(host, dtype=cache.dtype, layout=cache.layout)
                ttnn.copy_host_to_device_tensor(source, cache)
            else:  # the real ttnn makes block floats on the device
                fresh = to_device(ttnn, self.target.device, host, self.inputs.case.cache)
                ttnn.copy_host_to_device_tensor(fresh.cpu(), cache)
                ttnn.deallocate(fresh)

    def close(self) -> None:
        """Free the inputs."""
        for tensor in (self.x, self.k, self.v):
            self.target.ttnn.deallocate(tensor)


def run_check(
    target: Target,
    spec: Spec,
    inputs: Inputs,
    progress: Progress = no_progress,
    schedules: Sequence[int] = (1,),
    timeline: bool = False,
) -> CheckResult:
    """Judge `spec` on `inputs`. An exception of the implementation is a failed check, bad input an error.

    schedules   the layer runs again once for each; on the emulator they are the seeds of the order in which kernels'
                threads and transfers go (the first run's is the strictest, seed 0)
    timeline    keep what programs of kernels did when, in the first run; the emulator only
    """
    calls: list[OpCall] = []
    counts: list[ProgramCounts | None] = []
    parts: list[Part] = []
    seconds = 0.0
    if target.programs:
        target.programs.schedule_seed = 0
        target.programs.counts.clear()
    try:
        progress("upload", "weights and inputs")
        bench = Bench.prepare(target, spec, inputs)
        progress("first run", "")

        def observe(call: OpCall) -> None:
            calls.append(call)
            counts.append(program_counts(target, call))
            progress("first run", f"op {len(calls)}, {call.name}")

        with target.recorder.observe(observe), keeping_timelines(target, timeline):
            start = time.perf_counter()
            out = bench.run()
            target.synchronize()
            seconds = time.perf_counter() - start
        _judge(bench, out, schedules, parts, progress)
        bench.close()
    except UsageError:
        raise
    except (Exception, SystemExit) as error:
        parts.append(Part("runs", False, describe(error)))
    return CheckResult(str(spec), inputs.case, target.name, tuple(parts), tuple(calls), tuple(counts), seconds)


@contextmanager
def keeping_timelines(target: Target, on: bool) -> Iterator[None]:
    """Programs that run inside the block keep their timelines, if `on`."""
    if target.programs:
        target.programs.timeline = on
    try:
        yield
    finally:
        if target.programs:
            target.programs.timeline = False


def program_counts(target: Target, call: OpCall) -> ProgramCounts | None:
    """What the emulator counted of the program that `call` has just run; None if it was no program of kernels."""
    return target.programs.counts[-1] if target.programs and call.name == "generic_op" else None


def _judge(bench: Bench, out_dev: Any, schedules: Sequence[int], parts: list[Part], progress: Progress) -> None:
    """Append the parts of the verdict one by one, so that what was found stays when a later run raises."""
    case, inputs = bench.inputs.case, bench.inputs
    want_shape = tuple(inputs.x.shape)
    parts.append(_shape_and_dtype(bench, out_dev, want_shape))
    if not parts[0].passed:
        return
    out = bench.read(out_dev)
    k, v = bench.read(bench.k), bench.read(bench.v)

    progress("oracle", "")
    # What the device was given: for a bfp8 cache that is the rounded one.
    sent_k, sent_v = _as_sent(bench, *inputs.caches("sevens"))
    want = inputs.oracle(sent_k, sent_v)
    x = inputs.x.double()
    got = out.double().reshape(want.out.shape)
    tail = case.Smax - case.shape.tokens
    rows = verdict.CACHE_ROWS[case.cache]
    parts += [
        verdict.finite("finite", out),
        verdict.close("output", got, want.out, verdict.OUTPUT),
        verdict.close("update", got - x[0, 0], want.out.double() - x[0, 0], verdict.UPDATE),
        verdict.close("K rows", k[0, :, tail:], want.k, rows),
        verdict.close("V rows", v[0, :, tail:], want.v, rows),
        verdict.identical("other K rows", k[:, :, :tail], sent_k[:, :, :tail], "the layer wrote outside its rows"),
        verdict.identical("other V rows", v[:, :, :tail], sent_v[:, :, :tail], "the layer wrote outside its rows"),
        verdict.identical("x unchanged", bench.read(bench.x), inputs.x, "the layer wrote into x"),
    ]
    bench.target.ttnn.deallocate(out_dev)
    first = {"output": out, "K rows": k[:, :, tail:], "V rows": v[:, :, tail:]}
    parts.append(_second_run(bench, first, schedules, progress))


def _second_run(bench: Bench, first: dict[str, torch.Tensor], schedules: Sequence[int], progress: Progress) -> Part:
    """Again on the same buffers, in other schedules and with other garbage in every row that is not valid.

    The same bits must come out; if they do not, more runs tell what made the difference.
    """
    name = "second run"
    for n, seed in enumerate(schedules, 1):
        progress(name, f"{n} of {len(schedules)}")
        if _difference(bench, first, "noise", seed) is None:
            continue
        progress(name, "looking for what made a difference")
        if difference := _difference(bench, first, "sevens", 0):
            return Part(name, False, f"not deterministic: {difference}")
        if difference := _difference(bench, first, "sevens", seed):
            return Part(name, False, f"race: another order of threads and transfers (seed {seed}): {difference}")
        return Part(name, False, "depends on cache rows that are not valid: other garbage, other result")
    again = f"{len(schedules)} times again" if len(schedules) > 1 else "again"
    ordered = bench.target.programs and bench.target.programs.counts
    order = ", in another order of threads and transfers" if ordered else ""
    return Part(name, True, f"bit-identical {again}, with other garbage in the rows that are not valid{order}")


def _difference(bench: Bench, first: dict[str, torch.Tensor], garbage: Garbage, seed: int) -> str | None:
    """Run once more; what differs from the first run, None if nothing does."""
    if bench.target.programs:
        bench.target.programs.schedule_seed = seed
    tail = bench.inputs.case.Smax - bench.inputs.case.shape.tokens
    bench.refill(*bench.inputs.caches(garbage))
    out = bench.run()
    again = {
        "output": bench.read(out),
        "K rows": bench.read(bench.k)[:, :, tail:],
        "V rows": bench.read(bench.v)[:, :, tail:],
    }
    bench.target.ttnn.deallocate(out)
    parts = (verdict.identical(name, got, first[name]) for name, got in again.items())
    return next((f"{part.name}: {part.text}" for part in parts if not part.passed), None)


def _as_sent(bench: Bench, k: torch.Tensor, v: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    if bench.inputs.case.cache == "bf16":
        return k, v
    sent = []
    for host in (k, v):
        tensor = to_device(bench.target.ttnn, bench.target.device, host, bench.inputs.case.cache)
        sent.append(bench.read(tensor))
        bench.target.ttnn.deallocate(tensor)
    return sent[0], sent[1]


def _shape_and_dtype(bench: Bench, out: Any, want: tuple[int, ...]) -> Part:
    ttnn = bench.target.ttnn
    if not hasattr(out, "buffer_address"):
        return Part("shape and dtype", False, f"layer_fn returned {type(out).__name__}; it must return a tensor")
    if out is bench.x or out.buffer_address() == bench.x.buffer_address():
        return Part("shape and dtype", False, "layer_fn returned x itself; it must return a new tensor")
    got = tuple(out.shape)
    passed = got == want and out.dtype == ttnn.bfloat16 and out.layout == ttnn.TILE_LAYOUT
    text = f"{list(got)} {out.dtype} {out.layout}"
    return Part("shape and dtype", passed, text if passed else f"{text}; it must be {list(want)} BFLOAT16 TILE")


def describe(error: BaseException) -> str:
    """What went wrong, and the line of the implementation it came from."""
    lines = [line.rstrip() for line in str(error).splitlines() if line.strip()] or [""]
    # tt-metal's exceptions open with their own place; what is wrong stands after the last "info:", before a backtrace.
    if "info:" in lines[:-1]:
        lines = lines[len(lines) - lines[::-1].index("info:") :]
    if "backtrace:" in lines:
        lines = lines[: lines.index("backtrace:")]
    if len(lines) > REPORT_LINES:
        lines[REPORT_LINES:] = [f"... and {len(lines) - REPORT_LINES} lines more"]
    files = [(Path(f.filename), f.lineno) for f in traceback.extract_tb(error.__traceback__)]
    own = [(path.name, n) for path, n in files if path.parent.name == "layer_impls" and not path.name.startswith("_")]
    where = "\n({}:{})".format(*own[-1]) if own else ""
    return f"{type(error).__name__}: {chr(10).join(lines)}{where}"
