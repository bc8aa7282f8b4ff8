"""Draws programs of a timeline: the threads of the slowest and of the fastest core that computes, and what DRAM moved.

    layerbench breakdown partly_fused --timeline layer.json
    python docs/timeline_picture.py layer.json docs/timeline.svg norm_residual heads_rope

Needs matplotlib. The first program of each name is drawn.
"""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib import pyplot as plt
from matplotlib.patches import Patch

COLOURS = {
    "running": "#4c9f50",
    "wait: read": "#d1495b",
    "wait: write": "#f2a33a",
    "wait: semaphore": "#7d5ba6",
    "wait: CB empty": "#c9d6df",
    "wait: CB full": "#8fa8b8",
    "wait: registers": "#e7ecef",
    "wait: start": "#f3f5f6",
}
Event = dict[str, Any]


def named(events: list[Event], kind: str) -> dict[tuple[int, int], str]:
    """Names of processes or threads by pid and tid."""
    return {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == kind}


def cores_of(events: list[Event], tracks: dict[tuple[int, int], str], pid: int) -> dict[str, dict[str, list[Event]]]:
    """Slices of a program by core and thread."""
    cores: dict[str, dict[str, list[Event]]] = defaultdict(lambda: defaultdict(list))
    for e in events:
        track = re.fullmatch(r"(\(\d+,\d+\)) (\w+)", tracks.get((e["pid"], e.get("tid", 0)), ""))
        if e["ph"] == "X" and e["pid"] == pid and track:
            cores[track[1]][track[2]].append(e)
    return cores


def end(threads: dict[str, list[Event]]) -> float:
    """When the last thread ends, us."""
    return max(e["ts"] + e["dur"] for slices in threads.values() for e in slices)


def draw_threads(axes: Any, cores: dict[str, dict[str, list[Event]]], start: float, last: float) -> None:
    """A row a thread, from `start` for `last` us: above its phases, named where there is room, below what it did."""
    labels = []
    for core, threads in cores.items():
        for thread, slices in threads.items():
            row = len(labels)
            labels.append(f"{core} {thread}")
            for e in slices:
                x, width = e["ts"] - start, e["dur"]
                if e["cat"] == "phase":
                    axes.barh(row - 0.3, width, 0.26, x, color="#f7f4ea", edgecolor="#8a8570", linewidth=0.4)
                    if width > 0.0095 * last * len(e["name"]):
                        axes.text(x + width / 2, row - 0.3, e["name"], ha="center", va="center", fontsize=6)
                else:
                    axes.barh(row + 0.12, width, 0.52, x, color=COLOURS[e["name"]])
    axes.set_yticks(range(len(labels)), labels, fontsize=7)
    axes.set_ylim(len(labels) - 0.5, -0.6)
    axes.tick_params(axis="x", bottom=False, labelbottom=False)
    for side in ("top", "right", "bottom"):
        axes.spines[side].set_visible(False)


def draw_dram(axes: Any, counters: list[Event], start: float) -> None:
    """GB/s read and written."""
    times = [e["ts"] - start for e in counters]
    for name, colour in (("read", "#d1495b"), ("written", "#f2a33a")):
        axes.step(times, [e["args"][name] for e in counters], where="post", color=colour, linewidth=1, label=name)
    axes.set_ylabel("DRAM\nGB/s", fontsize=7)
    axes.tick_params(labelsize=7)
    axes.legend(fontsize=6, frameon=False, loc="upper right", ncols=2)
    axes.set_ylim(0, 600)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def main(source: str, target: str, *names: str) -> None:
    """Draw the programs of `names` of the trace `source`."""
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "layerbench", "font.family": "sans-serif"})
    events = json.loads(Path(source).read_text())["traceEvents"]
    processes, tracks = named(events, "process_name"), named(events, "thread_name")
    ratios = [5, 1] * len(names)
    figure, all_axes = plt.subplots(len(ratios), 1, figsize=(9, 4.6 * len(names)), height_ratios=ratios)
    for name, axes, dram in zip(names, all_axes[::2], all_axes[1::2], strict=True):
        pid, title = next((pid, title) for (pid, _), title in processes.items() if f" {name}," in title)
        cores = cores_of(events, tracks, pid)
        most = max(map(len, cores.values()))
        by_end = sorted((core for core in cores if len(cores[core]) == most), key=lambda core: end(cores[core]))
        launch = next(e for e in events if e["name"] == "launch" and e["pid"] == pid)
        start = launch["ts"] + launch["dur"]
        last = end(cores[by_end[-1]]) - start
        draw_threads(axes, {core: cores[core] for core in (by_end[-1], by_end[0])}, start, last)
        draw_dram(dram, [e for e in events if e["ph"] == "C" and e["pid"] == pid], start)
        for a in (axes, dram):
            a.set_xlim(0, last * 1.01)
        axes.set_title(
            f"{title}\nslowest and fastest of {len(by_end)} cores; us after a launch of {launch['dur']:.1f}",
            fontsize=8,
            loc="left",
        )
    handles = [Patch(color=colour, label=name) for name, colour in COLOURS.items()]
    figure.legend(handles=handles, ncols=len(handles), fontsize=7, loc="lower center", frameon=False)
    figure.tight_layout(rect=(0, 0.03, 1, 1), h_pad=0.4)
    figure.savefig(target, metadata={"Date": None} if target.endswith(".svg") else None, dpi=110)


if __name__ == "__main__":
    main(*sys.argv[1:])
