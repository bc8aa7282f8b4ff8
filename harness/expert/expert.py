"""The whole action expert through any implementation of the layer: buffers, context, trace, and the Euler loop.

A step: the action to a hidden state (host), all layers and the final norm (device, one trace), the velocity (host).
Everything that a step needs is on the device before the first capture and never moves. What changes from one
trajectory to the next goes into `LayerContext`'s buffers; so one trace serves every S and every position.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import median
from typing import Any

import torch

from harness import breakdown, timing
from harness.breakdown import Breakdown
from harness.case import Case
from harness.context import LayerContext
from harness.dtypes import to_device
from harness.errors import UsageError
from harness.expert.cache import TensorCache
from harness.expert.conversions import Conversions, converter_of
from harness.expert.kv import Prompt
from harness.expert.progress import Layers, no_layers
from harness.expert.projections import ActionInProj, ActionOutProj
from harness.expert.sampling import STEPS, Point, euler
from harness.expert.trace import CapturedRun
from harness.expert.weights import ExpertWeights
from harness.implementation import LayerEnv
from harness.registry import Spec
from harness.targets import Target


@dataclass(frozen=True)
class Settings:
    """How an expert runs.

    Smax      rows of the caches
    weights   `bfp8` or `bf16`, how an implementation is to store the projections; cache: how the caches come
    exact     exact frequencies in the input projection, instead of those that the model was run with
    eager     launch every op instead of replaying a trace
    """

    Smax: int = 8192
    weights: str = "bfp8"
    cache: str = "bf16"
    exact: bool = False
    eager: bool = False


class Expert:
    """An expert on an open target. Weights go up one layer at a time, through `kept` if there is a cache.

    Raises `UsageError` for what the implementation cannot map.
    """

    def __init__(
        self,
        target: Target,
        spec: Spec,
        weights: ExpertWeights,
        settings: Settings,
        kept: TensorCache | None = None,
        layers: Layers = no_layers,
    ) -> None:
        ttnn, device, shape = target.ttnn, target.device, weights.shape
        self.target, self.spec, self.settings = target, spec, settings
        self.shape, self.n_layers = shape, weights.n_layers
        self.context = LayerContext(ttnn, device, shape, settings.Smax, lambda: target.recorder.live_traces)
        view = Conversions(ttnn, kept, converter_of(target)) if kept else ttnn
        env = LayerEnv(view, device, shape, self.context, settings.weights, settings.cache)
        self.implementation = spec.build(env)
        for i in range(self.n_layers):
            self.implementation.prepare(i, weights.layer(i))
            layers(i + 1, self.n_layers)
        self.gamma = to_device(ttnn, device, weights.tensor("norm.weight").reshape(1, 1, 1, -1), "bf16")
        self.x = to_device(ttnn, device, torch.zeros(1, 1, shape.tokens, shape.hidden), "bf16")
        self.in_proj = ActionInProj(weights.tensor, settings.exact)
        self.out_proj = ActionOutProj(weights.tensor)
        self.trace = CapturedRun(target)
        self._compiled: Hashable = None  # the kinds of caches for which everything has run once

    @property
    def eager(self) -> str | None:
        """Why steps run op by op instead of as a trace; None if they are traced."""
        if self.settings.eager:
            return "asked for"
        return None if self.target.traces else f"this {self.target.name} was opened without a region for traces"

    def set_context(self, prompt: Prompt, force: bool = False) -> None:
        """Load positions and mask for `prompt`. force: also if they seem to be loaded (another trace may have run)."""
        if len(prompt.caches) < self.n_layers:
            raise UsageError(f"the prompt has caches for {len(prompt.caches)} layers; the expert has {self.n_layers}")
        if self.trace.id is not None and prompt.Smax != self.context.Smax:
            self.trace.release()  # the masks will move
        self.context.set_context(prompt.S, prompt.rope_delta, prompt.Smax, force)

    def step(self, action: torch.Tensor, t: float, prompt: Prompt, layers: Layers = no_layers) -> torch.Tensor:
        """action [T, 2] at t -> velocity, fp32 [T, 2]."""
        self._enter(action, t, prompt)
        return self.out_proj(self._device_step(prompt, layers))

    def sample(
        self,
        x0: torch.Tensor,
        prompt: Prompt,
        n_steps: int = STEPS,
        record: Callable[[Point], None] = lambda point: None,
        layers: Layers = no_layers,
    ) -> torch.Tensor:
        """The action [T, 2] that `x0` flows to in `n_steps` Euler steps, each told to `record`."""
        self.set_context(prompt, force=True)
        return euler(lambda x, t: self.step(x, t, prompt, layers), x0, n_steps, record)

    def run_layers(
        self, x: torch.Tensor, prompt: Prompt, which: Sequence[int] | None = None, final_norm: bool = False
    ) -> torch.Tensor:
        """Op by op: a hidden state [T, hidden] -> that after the layers `which` (all unless told), fp32 [T, hidden]."""
        self.set_context(prompt)
        self._write(x)
        return self._read_and_free(self._run(prompt, range(self.n_layers) if which is None else which, final_norm))

    def observed_step(
        self, action: torch.Tensor, t: float, prompt: Prompt, layers: Layers = no_layers
    ) -> tuple[torch.Tensor, list[Breakdown]]:
        """One step op by op: the velocity, and the breakdown of each call for layers and of the final norm."""
        self._enter(action, t, prompt)
        observed: list[Breakdown] = []

        def look(i: int, run: Callable[[], Any]) -> Any:
            case = self._case(i, prompt)
            keep = {t.buffer_address() for pair in prompt.caches for t in pair}
            result, out = breakdown.observe(self.target, str(self.spec), case, run, keep)
            observed.append(_without_tensors(result))
            return out

        hidden = self._read_and_free(self._run(prompt, range(self.n_layers), True, layers, look))
        self._compiled = self._kinds(prompt)
        return self.out_proj(hidden), observed

    def bench_step(self, prompt: Prompt, repeats: int = 10) -> list[float]:
        """ms of the host for the device's part of a step: upload, all layers, download; warm."""
        action = torch.zeros(self.shape.tokens, 2)
        self.step(action, 0.0, prompt)
        samples = []
        for _ in range(repeats):
            start = time.perf_counter()
            self._device_step(prompt)
            samples.append((time.perf_counter() - start) * 1e3)
        return samples

    def layer_us(self, prompt: Prompt, rounds: int = timing.ROUNDS) -> float:
        """Median us of a layer in a trace of layers in a row, each with its own weights and caches."""
        self.set_context(prompt)
        calls = self._calls(range(self.n_layers))
        layers = len(calls[0])
        turn = itertools.cycle(call for call in calls if len(call) == layers)

        def next_layers() -> Any:
            return self._call(next(turn), self.x, prompt)

        with timing.captured(self.target, next_layers, set()) as trace:
            return median(timing.interleaved_us(self.target, [trace], rounds)[0]) / layers

    def close(self) -> None:
        """Give the trace back."""
        self.trace.release()

    def _enter(self, action: torch.Tensor, t: float, prompt: Prompt) -> None:
        self.set_context(prompt)
        self._write(self.in_proj(action, t))

    def _device_step(self, prompt: Prompt, layers: Layers = no_layers) -> torch.Tensor:
        """x on the device -> the hidden state after the final norm, on the host."""
        if self.target.programs:
            self.target.programs.counts.clear()
        if self.eager:
            return self._read_and_free(self._run(prompt, range(self.n_layers), True, layers))
        if self._compiled != self._kinds(prompt):
            self._read_and_free(self._run(prompt, range(self.n_layers), True))
            self._compiled = self._kinds(prompt)
        out = self.trace.replay(
            self._key(prompt), lambda: self._run(prompt, range(self.n_layers), True), self.n_layers, layers
        )
        return self._read(out)

    def _run(
        self,
        prompt: Prompt,
        which: Sequence[int],
        final_norm: bool,
        layers: Layers = no_layers,
        look: Callable[[int, Callable[[], Any]], Any] = lambda i, run: run(),
    ) -> Any:
        """The layers `which` on x; a new tensor. `look` runs each call for some of them, as its first layer, and the
        norm as layer n_layers."""
        ttnn, x = self.target.ttnn, self.x
        for call in self._calls(which):
            before, x = x, look(call[0], partial(self._call, call, x, prompt))
            self._free(before)
            layers(call[-1] + 1, self.n_layers)
        if final_norm:
            norm = look(self.n_layers, partial(ttnn.rms_norm, x, epsilon=self.shape.rms_eps, weight=self.gamma))
            self._free(x)
            return norm
        return x

    def _calls(self, which: Sequence[int]) -> list[list[int]]:
        """Layers in a row that the implementation takes together."""
        calls: list[list[int]] = []
        for i in which:
            if calls and calls[-1][-1] + 1 == i and len(calls[-1]) < self.implementation.layers_per_call:
                calls[-1].append(i)
            else:
                calls.append([i])
        return calls

    def _call(self, call: Sequence[int], x: Any, prompt: Prompt) -> Any:
        return self.implementation.layers_fn(call[0], x, [prompt.caches[i] for i in call])

    def _free(self, x: Any) -> None:
        if x is not self.x:
            self.target.ttnn.deallocate(x)

    def _write(self, x: torch.Tensor) -> None:
        ttnn = self.target.ttnn
        host = ttnn.from_torch(x.reshape(tuple(self.x.shape)).bfloat16(), dtype=self.x.dtype, layout=self.x.layout)
        ttnn.copy_host_to_device_tensor(host, self.x)

    def _read(self, x: Any) -> torch.Tensor:
        hidden: torch.Tensor = self.target.ttnn.to_torch(x)
        return hidden.float().reshape(self.shape.tokens, self.shape.hidden)

    def _read_and_free(self, x: Any) -> torch.Tensor:
        hidden = self._read(x)
        self._free(x)
        return hidden

    def _case(self, i: int, prompt: Prompt) -> Case:
        s = self.settings
        return Case(self.shape, i, prompt.S, prompt.Smax, prompt.rope_delta, s.weights, s.cache)

    def _kinds(self, prompt: Prompt) -> Hashable:
        return tuple((tuple(t.shape), str(t.dtype)) for pair in prompt.caches for t in pair)

    def _key(self, prompt: Prompt) -> Hashable:
        """Everything that a captured step has baked in and that may move."""
        own = (self.x, self.gamma, *self.context.buffers().values())
        caches = (t for pair in prompt.caches[: self.n_layers] for t in pair)
        return tuple(t.buffer_address() for t in (*own, *caches)), self._kinds(prompt)


def _without_tensors(b: Breakdown) -> Breakdown:
    """The breakdown holding no arguments of the calls: they would keep the weights on the device."""
    return replace(b, lines=tuple(replace(line, call=replace(line.call, args=(), kwargs={})) for line in b.lines))
