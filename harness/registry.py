"""Finds the implementations in `layer_impls/` and reads their options from the command line."""

from __future__ import annotations

import dataclasses
import difflib
import importlib
import inspect
import pkgutil
import typing
from dataclasses import dataclass
from types import GenericAlias
from typing import Any

import layer_impls
from harness.errors import UsageError
from harness.implementation import Implementation, LayerEnv


@dataclass(frozen=True)
class Spec:
    """An implementation with its options, as `op_graph:attn=standard` names it."""

    name: str
    cls: type[Implementation]
    options: Any

    def build(self, env: LayerEnv) -> Implementation:
        """The implementation in `env`."""
        return self.cls(env, self.options)

    def __str__(self) -> str:
        changed = [
            f"{f.name}={_text(getattr(self.options, f.name))}"
            for f in dataclasses.fields(self.options)
            if getattr(self.options, f.name) != f.default
        ]
        return f"{self.name}:{','.join(changed)}" if changed else self.name


def names() -> list[str]:
    """Names of all implementation files, sorted."""
    return sorted(m.name for m in pkgutil.iter_modules(layer_impls.__path__) if not m.name.startswith("_"))


def load(name: str) -> type[Implementation]:
    """The class that `layer_impls/NAME.py` defines; `UsageError` if there is none, or not exactly one."""
    known = names()
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(known)}"
        raise UsageError(f"unknown implementation {name!r}; {hint}")
    try:
        module = importlib.import_module(f"layer_impls.{name}")
    except (Exception, SystemExit) as error:
        text = " ".join(str(error).split())
        raise UsageError(f"layer_impls/{name}.py does not import: {type(error).__name__}: {text}") from error
    classes = [c for c in vars(module).values() if inspect.isclass(c) and not isinstance(c, GenericAlias)]
    found = [c for c in classes if issubclass(c, Implementation) and c.__module__ == module.__name__]
    if len(found) != 1:
        raise UsageError(f"layer_impls/{name}.py defines {len(found)} subclasses of Implementation; it needs one")
    _check_options(name, found[0])
    return found[0]


def parse(text: str) -> Spec:
    """`NAME` or `NAME:option=value,...` -> Spec; `UsageError` names what is unknown and what is known."""
    name, _, rest = text.partition(":")
    cls = load(name)
    kinds = typing.get_type_hints(cls.Options)
    values: dict[str, Any] = {}
    for item in filter(None, rest.split(",")):
        key, eq, value = item.partition("=")
        if key not in kinds:
            known = ", ".join(kinds) or "none"
            raise UsageError(f"{name} has no option {key!r}; its options: {known}")
        if not eq:
            raise UsageError(f"option {key} of {name} has no value; write {key}={_choices(kinds[key])}")
        values[key] = _convert(name, key, kinds[key], value)
    return Spec(name, cls, cls.Options(**values))


def describe_options(cls: type[Implementation]) -> list[str]:
    """`option=choices (default)` for each option of an implementation."""
    kinds = typing.get_type_hints(cls.Options)
    return [f"{f.name}={_choices(kinds[f.name])} ({_text(f.default)})" for f in dataclasses.fields(cls.Options)]


def _check_options(name: str, cls: type[Implementation]) -> None:
    kinds = typing.get_type_hints(cls.Options)
    for f in dataclasses.fields(cls.Options):
        kind = kinds[f.name]
        if (
            kind not in (bool, int) and typing.get_origin(kind) is not typing.Literal
        ) or f.default is dataclasses.MISSING:
            raise UsageError(
                f"layer_impls/{name}.py: option {f.name} must be a Literal, an int or a bool, and have a default"
            )


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _choices(kind: Any) -> str:
    if typing.get_origin(kind) is typing.Literal:
        return "|".join(str(a) for a in typing.get_args(kind))
    return {bool: "true|false", int: "NUMBER"}[kind]


def _convert(name: str, key: str, kind: Any, value: str) -> Any:
    if kind is int and value.lstrip("-").isdigit():
        return int(value)
    if kind is bool and value in ("true", "false"):
        return value == "true"
    if typing.get_origin(kind) is typing.Literal and value in typing.get_args(kind):
        return value
    raise UsageError(f"option {key} of {name} is {value!r}; it must be {_choices(kind)}")
