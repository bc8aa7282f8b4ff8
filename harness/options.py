"""Options that several commands share, and how a command takes a group of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from harness.case import CACHE_DTYPES, WEIGHT_DTYPES
from harness.costs import CHIPS
from harness.shape import PRESETS
from harness.targets import TARGETS

Shape = Annotated[str, typer.Option(help=f"{', '.join(PRESETS)}; then ,field=value to change one.")]
SeqLen = Annotated[int, typer.Option("--seq-len", "-S", help="Valid rows S of the cache.")]
MaxSeq = Annotated[int, typer.Option("--max-seq", help="Rows Smax of the cache.")]
RopeDelta = Annotated[int, typer.Option(help="Own positions are i + rope_delta + S.")]
Weights = Annotated[str, typer.Option(help=f"{' or '.join(WEIGHT_DTYPES)}.")]
Cache = Annotated[str, typer.Option(help=f"{' or '.join(CACHE_DTYPES)}.")]
Seed = Annotated[int, typer.Option(help="Weights and inputs come from it.")]
TargetName = Annotated[str, typer.Option("--target", help=f"{', '.join(TARGETS)}.")]
ChipName = Annotated[str, typer.Option("--chip", help=f"{' or '.join(CHIPS)}: which card to predict; emulator.")]
Json = Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Also write the result to FILE.")]


def takes(name: str, build: Callable[..., Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Put the parameters of `build` in the place of a command's parameter `name`, which gets what it returns."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        options = inspect.signature(build, eval_str=True).parameters
        own = inspect.signature(command, eval_str=True).parameters
        parameters = [p for key, p in own.items() if key != name] + list(options.values())

        def run(**given: Any) -> None:
            built = build(**{key: given.pop(key) for key in options})
            command(**{name: built}, **given)

        run.__name__, run.__doc__ = command.__name__, command.__doc__
        run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in parameters]
        )
        run.__annotations__ = {p.name: p.annotation for p in parameters}
        return run

    return decorate
