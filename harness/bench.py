"""A layer on an open target with its inputs on the device, ready to be run."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

import torch

from harness.case import Case, Inputs
from harness.context import LayerContext
from harness.dtypes import to_device
from harness.implementation import Implementation, LayerEnv
from harness.registry import Spec
from harness.targets import Target

NAN = float("nan")
# What `poison` leaves in free DRAM: so many tensors like the output, and one as large as so many.
POISONED, POISONED_BLOCK = 32, 64


@dataclass
class Bench:
    """A prepared layer and its inputs on the device.

    weights   what the implementation put on the device in `prepare`
    """

    target: Target
    inputs: Inputs
    implementation: Implementation
    context: LayerContext
    x: Any
    k: Any
    v: Any
    weights: list[Any] = field(default_factory=list)

    @staticmethod
    def plan(target: Target, spec: Spec, case: Case) -> list[str]:
        """How an implementation would map the layer, without weights or inputs."""
        return _build(target, spec, case)[0].plan()

    @classmethod
    def prepare(cls, target: Target, spec: Spec, inputs: Inputs) -> Bench:
        """Build the implementation, prepare its layer, and upload the inputs."""
        case = inputs.case
        implementation, context = _build(target, spec, case)
        with target.recorder.uploading() as weights:
            implementation.prepare(case.layer, inputs.weights)
        return cls(target, inputs, implementation, context, None, None, None, weights).elsewhere(inputs)

    def beside(self, inputs: Inputs, x: Any, k: Any, v: Any) -> Bench:
        """Another layer of the same implementation, prepared, with inputs on the device."""
        with self.target.recorder.uploading() as weights:
            self.implementation.prepare(inputs.case.layer, inputs.weights)
        return dataclasses.replace(self, inputs=inputs, x=x, k=k, v=v, weights=weights)

    def elsewhere(self, inputs: Inputs) -> Bench:
        """The same prepared implementation on other inputs, in tensors of their own."""
        bench = dataclasses.replace(self, inputs=inputs)
        bench.x, (bench.k, bench.v) = bench.upload_x(), bench.upload_caches(*inputs.caches("sevens"))
        return bench

    def upload_x(self) -> Any:
        """A new device tensor of x."""
        return to_device(self.target.ttnn, self.target.device, self.inputs.x, "bf16")

    def upload_caches(self, k: torch.Tensor, v: torch.Tensor) -> tuple[Any, Any]:
        """New device tensors of k and v."""
        ttnn, device, cache = self.target.ttnn, self.target.device, self.inputs.case.cache
        return to_device(ttnn, device, k, cache), to_device(ttnn, device, v, cache)

    def run(self) -> Any:
        """One call of the layer."""
        return self.implementation.layer_fn(self.inputs.case.layer, self.x, self.k, self.v)

    def read(self, tensor: Any) -> torch.Tensor:
        """A device tensor on the host."""
        return self.target.ttnn.to_torch(tensor)

    def write(self, tensor: Any, host: torch.Tensor) -> None:
        """Overwrite a device tensor in place."""
        ttnn = self.target.ttnn
        if tensor.dtype == ttnn.bfloat16:
            source = ttnn.from_torch(host, dtype=tensor.dtype, layout=tensor.layout)
            ttnn.copy_host_to_device_tensor(source, tensor)
        else:  # the real ttnn makes block floats on the device
            fresh = to_device(ttnn, self.target.device, host, self.inputs.case.cache)
            ttnn.copy_host_to_device_tensor(fresh.cpu(), tensor)
            ttnn.deallocate(fresh)

    def refill(self, k: torch.Tensor, v: torch.Tensor) -> None:
        """Overwrite both caches in place."""
        self.write(self.k, k)
        self.write(self.v, v)

    def poison(self) -> None:
        """Leave NaN in the free DRAM that the next tensors will lie in, on the real ttnn too."""
        nan, ttnn = torch.full(self.inputs.x.shape, NAN, dtype=torch.bfloat16), self.target.ttnn
        block = nan.expand(POISONED_BLOCK, 1, *nan.shape[2:])
        held = [to_device(ttnn, self.target.device, t, "bf16") for t in [nan] * POISONED + [block]]
        for tensor in held:
            ttnn.deallocate(tensor)

    def close(self) -> None:
        """Free the inputs."""
        for tensor in (self.x, self.k, self.v):
            self.target.ttnn.deallocate(tensor)


def _build(target: Target, spec: Spec, case: Case) -> tuple[Implementation, LayerContext]:
    ttnn = target.ttnn
    context = LayerContext(ttnn, target.device, case.shape, case.Smax, lambda: target.recorder.live_traces)
    context.set_context(case.S, case.rope_delta)
    return spec.build(LayerEnv(ttnn, target.device, case.shape, context, case.weights, case.cache)), context
