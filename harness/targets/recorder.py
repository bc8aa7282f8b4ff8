"""A view of a ttnn module that knows which ops an implementation launched, and keeps buffers out of traces' way.

It works the same over the emulator and over the real ttnn, so neither implementations nor targets need to log.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from harness.targets.traces import TraceGuard, device_tensors, places

# Callables of ttnn that launch no program: tensor plumbing, device and trace control, configuration.
NOT_OPS = {
    "from_torch", "to_torch", "as_tensor", "view", "reshape", "deallocate", "copy_host_to_device_tensor",
    "copy_device_to_host_tensor", "allocate_tensor_on_device", "open_device", "close_device", "synchronize_device",
    "begin_trace_capture", "end_trace_capture", "execute_trace", "release_trace", "get_memory_config", "to_device",
    "from_device", "to_dtype", "dump_tensor", "load_tensor",
}  # fmt: skip
# Of these, what may allocate on the device, what brings values there, and what reads from it.
ALLOCATES = {"from_torch", "as_tensor", "reshape", "allocate_tensor_on_device", "to_device", "to_dtype", "load_tensor"}
READS = {"to_torch", "from_device", "copy_device_to_host_tensor"}
TRACE_CALLS = {"begin_trace_capture", "end_trace_capture", "execute_trace", "release_trace"}
UPLOADS = {"from_torch", "as_tensor", "to_device"}
NAMESPACES = ("experimental", "transformer")


@dataclass(frozen=True)
class TensorInfo:
    """Shape and dtype (`bf16`, `bfp8`, ...) of a tensor at the moment of a call."""

    shape: tuple[int, ...]
    dtype: str

    def __str__(self) -> str:
        dims = list(self.shape)
        while len(dims) > 2 and dims[0] == 1:
            dims.pop(0)
        return f"{'x'.join(map(str, dims))} {self.dtype}"


@dataclass(frozen=True)
class OpCall:
    """One op launch: its name under ttnn, its arguments, what went in and out, and the host's seconds for it."""

    name: str
    fn: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    inputs: tuple[TensorInfo, ...]
    outputs: tuple[TensorInfo, ...]
    host_s: float


SHORT = {"BFLOAT16": "bf16", "BFLOAT8_B": "bfp8", "BFLOAT4_B": "bfp4", "FLOAT32": "fp32", "UINT32": "uint32"}


def _info(value: Any) -> TensorInfo | None:
    if not hasattr(value, "buffer_address") or not hasattr(value, "dtype"):
        return None
    dtype = getattr(value.dtype, "name", str(value.dtype))
    return TensorInfo(tuple(value.shape), SHORT.get(dtype, dtype.lower()))


def _infos(values: Any) -> tuple[TensorInfo, ...]:
    flat: list[Any] = []
    for v in values:
        flat.extend(v if isinstance(v, (list, tuple)) else [v])
    return tuple(i for i in map(_info, flat) if i is not None)


@dataclass
class Recorder:
    """Stands before a ttnn module: `recorder.ttnn` is what implementations get."""

    module: Any
    synchronize: Callable[[], None] = lambda: None
    guard: TraceGuard = field(default_factory=lambda: TraceGuard(tuple))
    launched: int = 0  # ops so far; replays of traces are none
    running: tuple[str, float] | None = None  # the op under way, and since when on the monotonic clock
    _observer: Callable[[OpCall], None] | None = field(default=None, repr=False)
    _uploads: list[Any] | None = field(default=None, repr=False)

    @property
    def live_traces(self) -> int:
        """Traces captured and not released."""
        return self.guard.live_traces

    @property
    def ttnn(self) -> Any:
        """The module as implementations see it."""
        return _View(self, self.module, "")

    @contextmanager
    def observe(self, observer: Callable[[OpCall], None]) -> Iterator[None]:
        """Call `observer` after each op launched inside the block."""
        self._observer, before = observer, self._observer
        try:
            yield
        finally:
            self._observer = before

    @contextmanager
    def recording(self) -> Iterator[list[OpCall]]:
        """The list of the ops launched inside the block."""
        calls: list[OpCall] = []
        with self.observe(calls.append):
            yield calls

    @contextmanager
    def uploading(self) -> Iterator[list[Any]]:
        """The list of the tensors with values that the block puts on the device."""
        self._uploads, before = [], self._uploads
        try:
            yield self._uploads
        finally:
            self._uploads = before

    def upload(self, name: str, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Make a tensor; remember it when someone asks and it lies on the device."""
        tensor = self.guarded(name, fn, args, kwargs)
        if self._uploads is not None and tensor.storage_type() == self.module.StorageType.DEVICE:
            self._uploads.append(tensor)
        return tensor

    def launch(self, name: str, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run one op; report it when someone observes."""
        self.launched += 1
        self.running = (name, time.monotonic())
        try:
            return self.guarded(name, lambda *a, **k: self._launch(name, fn, a, k), args, kwargs)
        finally:
            self.running = None

    def guarded(self, name: str, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call `fn` in sight of the guard, while there are traces."""
        if not self.live_traces:
            return fn(*args, **kwargs)
        inputs = places((*args, *kwargs.values()))
        self.guard.before_read(inputs)
        result = fn(*args, **kwargs)
        self.guard.called(name, inputs, device_tensors((result,)))
        return result

    def _launch(self, name: str, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        observer = self._observer
        if observer is None:
            return fn(*args, **kwargs)
        inputs = _infos((*args, *kwargs.values()))
        start = time.perf_counter()
        result = fn(*args, **kwargs)
        self.synchronize()
        host_s = time.perf_counter() - start
        outputs = _infos(result if isinstance(result, (list, tuple)) else (result,))
        # While the observer looks at this op (and may run it again) it must not see its own launches.
        self._observer = None
        try:
            observer(OpCall(name, fn, args, kwargs, inputs, outputs, host_s))
        finally:
            self._observer = observer
        return result


class _View:
    """Attribute access to a ttnn namespace, with its ops wrapped."""

    def __init__(self, recorder: Recorder, module: Any, prefix: str) -> None:
        self._recorder, self._module, self._prefix = recorder, module, prefix

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._module, name)
        if isinstance(value, ModuleType) or name in NAMESPACES:
            return _View(self._recorder, value, f"{self._prefix}{name}.") if name in NAMESPACES else value
        if name in TRACE_CALLS:
            return self._trace_call(name, value)
        if name == "copy_host_to_device_tensor":
            return self._host_write(value)
        if name in UPLOADS:
            return lambda *args, **kwargs: self._recorder.upload(name, value, args, kwargs)
        if name in ALLOCATES | READS:
            return lambda *args, **kwargs: self._recorder.guarded(name, value, args, kwargs)
        if isinstance(value, type) or not callable(value) or name in NOT_OPS or not name.islower():
            return value
        recorder, full = self._recorder, self._prefix + name

        def op(*args: Any, **kwargs: Any) -> Any:
            return recorder.launch(full, value, args, kwargs)

        return op

    def _trace_call(self, name: str, fn: Callable[..., Any]) -> Callable[..., Any]:
        guard = self._recorder.guard

        def call(*args: Any, **kwargs: Any) -> Any:
            if name == "begin_trace_capture":
                trace = fn(*args, **kwargs)
                guard.begin(trace)
                return trace
            trace = args[1] if len(args) > 1 else kwargs["trace_id"]
            if name == "execute_trace":
                guard.before_replay(trace)
            result = fn(*args, **kwargs)
            if name == "end_trace_capture":
                guard.end(trace)
            elif name == "release_trace":
                guard.release(trace)
            return result

        return call

    def _host_write(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            result = fn(*args, **kwargs)
            if self._recorder.live_traces:
                self._recorder.guard.written(places((*args, *kwargs.values())))
            return result

        return call
