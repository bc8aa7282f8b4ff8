"""The ops of a breakdown as a CSV with the columns that tt-perf-report reads: its format v2.1, of tt-metal's profiler.

Times are what `breakdown` shows, predicted or measured op by op; the column ORIGIN says which.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from harness import costs, timing
from harness.breakdown import Breakdown, OpLine, rates
from harness.costs import ops
from harness.targets import OpCall
from harness.targets.recorder import TensorInfo

# ttnn 0.81.1's names of the device operations behind the calls.
DEVICE_OPERATIONS = {
    "rms_norm": "LayerNormDeviceOperation",
    "linear": "MatmulDeviceOperation",
    "matmul": "MatmulDeviceOperation",
    "experimental.nlp_create_qkv_heads": "NlpCreateHeadsDeviceOperation",
    "experimental.nlp_concat_heads": "NLPConcatHeadsDeviceOperation",
    "experimental.rotary_embedding_hf": "RotaryEmbeddingHfDeviceOperation",
    "fill_cache": "UpdateKVCacheOperation",
    "transformer.scaled_dot_product_attention": "SdpaDeviceOperation",
    "transformer.scaled_dot_product_attention_decode": "SdpaDecodeDeviceOperation",
    "add": "BinaryNgDeviceOperation",
    "multiply": "BinaryNgDeviceOperation",
    "silu": "UnaryDeviceOperation",
    "generic_op": "GenericOpDeviceOperation",
}
DATATYPES = {"bf16": "BFLOAT16", "bfp8": "BFLOAT8_B", "bfp4": "BFLOAT4_B", "fp32": "FLOAT32", "uint32": "UINT32"}
ARCHITECTURES = {"p150": "blackhole", "p100a": "blackhole_p100"}
MOST_INPUTS = 4


def text(b: Breakdown) -> str:
    """A line per op, after one of column names."""
    rows = [_row(n, line, b) for n, line in enumerate(b.lines)]
    file = io.StringIO()
    writer = csv.DictWriter(file, list(rows[0]) if rows else [])
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()


def _row(n: int, line: OpLine, b: Breakdown) -> dict[str, object]:
    call, grid = line.call, b.chip.grid
    us, launch = _times(line, b)
    row: dict[str, object] = {
        "OP CODE": f"{DEVICE_OPERATIONS.get(call.name, call.name)} {line.label}".replace("\n", " "),
        "OP TYPE": "tt_dnn_device",
        "GLOBAL CALL COUNT": n + 1,
        "DEVICE ID": 0,
        "DEVICE ARCH": ARCHITECTURES[b.chip.name],
        "ATTRIBUTES": _attributes(call),
        "MATH FIDELITY": _fidelity(call),
        "CORE COUNT": _cores(line, grid),
        "AVAILABLE WORKER CORE COUNT": grid[0] * grid[1],
        "HOST START TS": n + 1,
        "DEVICE KERNEL DURATION [ns]": "" if us is None else round((us - launch) * 1e3),
        "OP TO OP LATENCY [ns]": "" if us is None else round(launch * 1e3),
        "ORIGIN": timing.ORIGIN if b.target == "device" else costs.ORIGIN,
    }
    tensors = {f"INPUT_{i}": call.inputs[i] if i < len(call.inputs) else None for i in range(MOST_INPUTS)}
    for name, tensor in {**tensors, "OUTPUT_0": call.outputs[0] if call.outputs else None}.items():
        row.update(_columns(name, tensor))
    return row


def _times(line: OpLine, b: Breakdown) -> tuple[float | None, float]:
    """us of the op, and how much of it passes before its kernels run; measured from op to op, that is not known."""
    if b.target == "device":
        return line.us, 0.0
    return line.predicted_us, rates(line.counts, b.chip).launch_us if line.counts else b.chip.launch


def _cores(line: OpLine, grid: tuple[int, int]) -> int | str:
    """Of a program of kernels those that it runs on, of ttnn's own ops those that read DRAM; empty if not known."""
    if line.counts:
        return len(line.counts.cores)
    programs = ops.programs(line.call, grid)
    return max(p.counts.cores for p in programs) if programs else ""


def _attributes(call: OpCall) -> str:
    """The blocking of a matmul, which tt-perf-report gives advice about."""
    config = call.kwargs.get("program_config")
    names = [name for name in ("in0_block_w", "out_subblock_h", "out_subblock_w") if hasattr(config, name)]
    values = ", ".join(f"{name}={getattr(config, name)}" for name in names)
    return f"'program_config': '{type(config).__name__}({values})'" if names else ""


def _fidelity(call: OpCall) -> str:
    if call.name == "generic_op":
        configs = [kernel.config for kernel in call.args[1].kernels]
    else:
        configs = [call.kwargs.get("compute_kernel_config")]
    return next((str(c.math_fidelity.name) for c in configs if hasattr(c, "math_fidelity")), "")


def _columns(name: str, tensor: TensorInfo | None) -> Iterator[tuple[str, object]]:
    dims = [1] * (4 - len(tensor.shape)) + list(tensor.shape) if tensor else [""] * 4
    for axis, size in zip("WZYX", dims, strict=True):
        yield f"{name}_{axis}_PAD[LOGICAL]", f"{size}[{size}]" if tensor else ""
    yield f"{name}_LAYOUT", "TILE" if tensor else ""
    yield f"{name}_DATATYPE", DATATYPES.get(tensor.dtype, tensor.dtype.upper()) if tensor else ""
    yield f"{name}_MEMORY", f"DEV_0_{tensor.memory}_INTERLEAVED" if tensor else ""
