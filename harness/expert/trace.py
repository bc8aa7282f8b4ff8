"""One captured run, captured again when something that it baked in has moved."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextlib import ExitStack
from typing import Any

from harness.expert.progress import Layers, no_layers
from harness.targets import Target


class CapturedRun:
    """A trace of `run() -> output tensor` on `target`. `run` must have run before: a capture compiles nothing."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._ops = 0
        self.key: Hashable = None
        self.id: Any = None
        self.output: Any = None

    def replay(self, key: Hashable, run: Callable[[], Any], n_layers: int, layers: Layers = no_layers) -> Any:
        """The output after one more run. It holds until any other trace runs, so read it at once.

        key      the addresses and the kind of everything that `run` uses; another key captures again
        layers   told how far the replay has come, where that can be seen
        """
        if self.id is None or key != self.key:
            self.release()
            self._capture(run)
            self.key = key
        done = 0

        def seen() -> None:
            nonlocal done
            done += 1
            layers(done * n_layers // self._ops, n_layers)

        with self._target.watch_replays(seen):
            self._target.ttnn.execute_trace(self._target.device, self.id, cq_id=0, blocking=False)
        return self.output

    def release(self) -> None:
        """Give the trace and its output back."""
        if self.id is None:
            return
        ttnn = self._target.ttnn
        ttnn.release_trace(self._target.device, self.id)
        ttnn.deallocate(self.output)
        self.id = self.output = None

    def _capture(self, run: Callable[[], Any]) -> None:
        ttnn, device = self._target.ttnn, self._target.device
        self._target.synchronize()
        launched = self._target.recorder.launched
        trace = ttnn.begin_trace_capture(device, cq_id=0)
        with ExitStack() as failed:
            failed.callback(ttnn.release_trace, device, trace)
            failed.callback(ttnn.end_trace_capture, device, trace, cq_id=0)
            output = run()
            failed.pop_all()
        ttnn.end_trace_capture(device, trace, cq_id=0)
        self._target.synchronize()
        self._ops = self._target.recorder.launched - launched
        self.id, self.output = trace, output
