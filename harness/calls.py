"""The calls that a check makes of a layer, and what it looks at after each.

    first           layer i, its context, its caches
    next layer      layer i + 1 in another context: the same x, caches of the same contents in other memory
    new contents    layer i + 1 again; x and its caches hold other numbers in the same memory
    second run      layer i as at first, all tensors moved, other garbage, another order of threads: the same bits

So whoever keeps an answer, an address, a context or a layer from one call to the next gives it back where it is wrong.
The first three are judged by the oracle; the second layer's numbers show what the first one's hide.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import torch

from harness import verdict
from harness.bench import Bench
from harness.case import LAST_POSITION, Inputs
from harness.verdict import Part

# What long work reports: the stage it is in, and a detail of it.
Progress = Callable[[str, str], None]
NEXT, NEW, SECOND = "next layer", "new contents", "second run"
FEW = 16  # valid rows of which half would be too few to be interesting
POSITIONS_ON = 1009  # from the first context to the second
OUTSIDE = "the layer wrote outside its rows"
Snapshot = Mapping[str, torch.Tensor]
_SECOND: WeakKeyDictionary[Inputs, tuple[Inputs, Inputs]] = WeakKeyDictionary()


def no_progress(stage: str, detail: str) -> None:
    """For callers that show none."""


def second_layer(inputs: Inputs) -> tuple[Inputs, Inputs]:
    """The next layer in another context: half of the valid rows, or, of a few, many more. On the same x and caches, and
    on others. The same objects for the same inputs."""
    if inputs in _SECOND:
        return _SECOND[inputs]
    c = inputs.case
    S = c.S // 2 if c.S > FEW else c.Smax - c.shape.tokens
    delta = (c.S + c.rope_delta + POSITIONS_ON) % LAST_POSITION - S
    layer = (c.layer + 1) % 2**32
    new = Inputs.random(dataclasses.replace(c, layer=layer, S=S, rope_delta=delta, inputs="second_layer"))
    _SECOND[inputs] = dataclasses.replace(new, x=inputs.x, k=inputs.k, v=inputs.v), new
    return _SECOND[inputs]


class Calls:
    """Prepares both layers and judges the calls. Parts are appended one by one, for a later call may raise."""

    def __init__(self, bench: Bench, schedules: Sequence[int], parts: list[Part], progress: Progress) -> None:
        self.bench, self.schedules, self.parts, self.progress = bench, schedules, parts, progress
        same, self.new = second_layer(bench.inputs)
        self.second = bench.beside(same, bench.x, *bench.upload_caches(*bench.inputs.caches("sevens")))
        self.tail = bench.inputs.case.Smax - bench.inputs.case.shape.tokens
        self.old: tuple[Any, ...] = ()
        self.weights = self._fingerprints()
        self.before = self._snapshot(bench, self.second)
        bench.poison()

    def judge(self, out: Any) -> None:
        """All parts, from the output of the first call on."""
        first = self._judge("", self.bench, self.second, self.before, out)
        if first is None or self._call(NEXT) is None:
            return
        second = self.second
        second.inputs = self.new
        second.write(second.x, self.new.x)
        second.refill(*self.new.caches("sevens"))
        if self._call(NEW) is None:
            return
        self.parts.append(self._second_run(first))
        same = self._fingerprints() == self.weights
        self.parts.append(
            Part("weights unchanged", same, "bit-identical" if same else "the layer wrote into what `prepare` uploaded")
        )

    def close(self) -> None:
        """Free all inputs."""
        for tensor in (*self.old, self.bench.x, self.bench.k, self.bench.v, self.second.k, self.second.v):
            self.bench.target.ttnn.deallocate(tensor)

    def _call(self, name: str) -> Snapshot | None:
        """The second layer once more, judged."""
        self.progress(name, "")
        second, case = self.second, self.second.inputs.case
        second.context.set_context(case.S, case.rope_delta)
        before = self._snapshot(second, self.bench)
        second.poison()
        return self._judge(name, second, self.bench, before, second.run())

    def _snapshot(self, bench: Bench, other: Bench) -> Snapshot:
        """What a call of `bench` may read, and what it must leave alone."""
        tensors = {"x": bench.x, "K": bench.k, "V": bench.v, "other K": other.k, "other V": other.v}
        return {name: bench.read(t) for name, t in {**tensors, **bench.context.buffers()}.items()}

    def _own_rows(self, now: Snapshot) -> Snapshot:
        return {f"{name} rows": now[name][:, :, self.tail :] for name in "KV"}

    def _judge(self, call: str, bench: Bench, other: Bench, before: Snapshot, out_dev: Any) -> Snapshot | None:
        """What the call gave: output and own rows; None if the output is no such tensor."""
        found = [shape_and_dtype(bench, out_dev)]
        if found[0].passed:
            out, after = bench.read(out_dev), self._snapshot(bench, other)
            bench.target.ttnn.deallocate(out_dev)
            rows = self._own_rows(after)
            found += [
                verdict.finite("finite", out),
                *verdict.layer(bench.inputs, before["K"], before["V"], out, *(r[0] for r in rows.values())),
                *(
                    verdict.identical(
                        f"other {n} rows", after[n][:, :, : self.tail], before[n][:, :, : self.tail], OUTSIDE
                    )
                    for n in "KV"
                ),
                *self._left_alone(bench, before, after),
            ]
        self.parts += [dataclasses.replace(part, call=call) for part in found]
        return {"output": out, **rows} if found[0].passed else None

    def _left_alone(self, bench: Bench, before: Snapshot, after: Snapshot) -> list[Part]:
        """Parts about x, the context's buffers and the other layer's caches."""
        groups = {
            "x unchanged": (["x"], "the layer wrote into x"),
            "context unchanged": (list(bench.context.buffers()), "the layer wrote into a buffer of the context"),
            "other layer's caches": (["other K", "other V"], "the layer wrote into another layer's cache"),
        }
        result = []
        for title, (names, what) in groups.items():
            parts = [verdict.identical(title, after[n], before[n], f"{n}: {what}") for n in names]
            result.append(next((p for p in parts if not p.passed), parts[0]))
        return result

    def _second_run(self, first: Snapshot) -> Part:
        """Again with all tensors moved, in other schedules, with other garbage in every row that is not valid.

        The same bits must come out; if they do not, more runs tell what made the difference.
        """
        bench, case = self.bench, self.bench.inputs.case
        noise, sevens = bench.inputs.caches("noise"), bench.inputs.caches("sevens")
        self._move(noise)
        bench.context.set_context(case.S, case.rope_delta)
        for n, seed in enumerate(self.schedules, 1):
            self.progress(SECOND, f"{n} of {len(self.schedules)}")
            if self._difference(first, noise, seed) is None:
                continue
            self.progress(SECOND, "looking for what made a difference")
            if difference := self._difference(first, sevens, 0):
                now = self._difference(first, sevens, 0)
                why = (
                    "what ran before, or where tensors lie, changes the result"
                    if now == difference
                    else "no two runs agree"
                )
                return Part(SECOND, False, f"not deterministic, {why}: {difference}")
            if difference := self._difference(first, sevens, seed):
                return Part(SECOND, False, f"race: another order of threads and transfers (seed {seed}): {difference}")
            return Part(SECOND, False, "depends on cache rows that are not valid: other garbage, other result")
        again = f"{len(self.schedules)} times again" if len(self.schedules) > 1 else "again"
        ordered = bench.target.programs and bench.target.programs.counts
        order = ", in another order of threads and transfers" if ordered else ""
        return Part(SECOND, True, f"bit-identical {again}, tensors moved, other garbage in the rows not valid{order}")

    def _move(self, caches: tuple[torch.Tensor, torch.Tensor]) -> None:
        """x and caches to other memory, and nothing right where they were."""
        bench = self.bench
        self.old = (bench.x, bench.k, bench.v)
        bench.x, (bench.k, bench.v) = bench.upload_x(), bench.upload_caches(*caches)
        for tensor in self.old:
            bench.write(tensor, torch.full(tuple(tensor.shape), 7.0, dtype=torch.bfloat16))
        self.second.x = bench.x

    def _difference(self, first: Snapshot, caches: tuple[torch.Tensor, torch.Tensor], seed: int) -> str | None:
        """Run once more; what differs from the first run or was written to, None if nothing."""
        bench = self.bench
        if bench.target.programs:
            bench.target.programs.schedule_seed = seed
        bench.refill(*caches)
        before = self._snapshot(bench, self.second)
        bench.poison()
        out = bench.run()
        after = self._snapshot(bench, self.second)
        again = {"output": bench.read(out), **self._own_rows(after)}
        bench.target.ttnn.deallocate(out)
        parts = [verdict.identical(name, got, first[name]) for name, got in again.items()]
        parts += self._left_alone(bench, before, after)
        return next((f"{part.name}: {part.text}" for part in parts if not part.passed), None)

    def _fingerprints(self) -> list[bytes]:
        """Of what both layers' `prepare` put on the device."""
        uploads = [t for bench in (self.bench, self.second) for t in bench.weights if t.is_allocated()]
        bytes_of = (self.bench.read(t).contiguous().view(torch.uint8).numpy().data for t in uploads)
        return [hashlib.blake2b(data).digest() for data in bytes_of]


def shape_and_dtype(bench: Bench, out: Any) -> Part:
    """A new tensor like x."""
    ttnn, want = bench.target.ttnn, tuple(bench.inputs.x.shape)
    if not hasattr(out, "buffer_address"):
        return Part("shape and dtype", False, f"layer_fn returned {type(out).__name__}; it must return a tensor")
    if out is bench.x or out.buffer_address() == bench.x.buffer_address():
        return Part("shape and dtype", False, "layer_fn returned x itself; it must return a new tensor")
    got = tuple(out.shape)
    passed = got == want and out.dtype == ttnn.bfloat16 and out.layout == ttnn.TILE_LAYOUT
    text = f"{list(got)} {out.dtype} {out.layout}"
    return Part("shape and dtype", passed, text if passed else f"{text}; it must be {list(want)} BFLOAT16 TILE")
