"""Implementations are found by file; their options are read and refused by name."""

from __future__ import annotations

import textwrap

import pytest

import layer_impls
from harness import registry
from harness.errors import UsageError


@pytest.fixture
def extra_file(tmp_path, monkeypatch):
    """Write a file into a folder that counts as part of `layer_impls`."""
    monkeypatch.setattr(layer_impls, "__path__", [*layer_impls.__path__, str(tmp_path)])

    def write(name: str, text: str) -> None:
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(text))

    return write


def test_every_implementation_loads_and_says_what_it_is():
    assert "op_graph" in registry.names()
    for name in registry.names():
        cls = registry.load(name)
        assert registry.describe_options(cls) is not None


def test_options_are_parsed_and_printed():
    spec = registry.parse("op_graph:attn=standard,fold=true")
    assert (spec.options.attn, spec.options.fold, spec.options.matmul) == ("standard", True, "tuned")
    assert str(spec) == "op_graph:attn=standard,fold=true"
    assert str(registry.parse("op_graph:attn=decode")) == "op_graph"


@pytest.mark.parametrize(
    "text, message",
    [
        ("op_grph", "unknown implementation 'op_grph'; did you mean op_graph?"),
        ("zzz", "known: "),
        ("op_graph:speed=11", "op_graph has no option 'speed'; its options: matmul, attn, fold, mask"),
        ("attention:attn=standard", "attention has no option 'attn'; its options: matmul"),
        ("op_graph:attn", "write attn=decode|standard"),
        ("op_graph:attn=fast", "option attn of op_graph is 'fast'; it must be decode|standard"),
        ("op_graph:fold=1", "it must be true|false"),
    ],
)
def test_bad_names_and_options_take_one_line(text, message):
    with pytest.raises(UsageError) as error:
        registry.parse(text)
    assert message in str(error.value) and "\n" not in str(error.value)


def test_a_new_file_is_found(extra_file):
    extra_file("newcomer", "from layer_impls.op_graph import OpGraph\nclass Mine(OpGraph): pass\n")
    assert "newcomer" in registry.names()
    assert registry.parse("newcomer:attn=standard").cls.__name__ == "Mine"


def test_a_broken_file_is_reported_and_harms_no_other(extra_file):
    extra_file("broken_import", "import nothing_of_that_name")
    extra_file("broken_empty", "x = 1")
    with pytest.raises(UsageError, match="broken_import.py does not import: ModuleNotFoundError"):
        registry.load("broken_import")
    with pytest.raises(UsageError, match="defines 0 subclasses of Implementation; it needs one"):
        registry.load("broken_empty")
    assert registry.load("op_graph")


@pytest.mark.parametrize("field", ["speed: float = 1.0", "depth: int"])
def test_options_nobody_could_give_are_named(extra_file, field):
    extra_file(
        "odd",
        f"""
        from dataclasses import dataclass
        from layer_impls.op_graph import OpGraph
        @dataclass(frozen=True)
        class Odd:
            {field}
        class Mine(OpGraph):
            Options = Odd
        """,
    )
    with pytest.raises(
        UsageError, match=r"option (speed|depth) must be a Literal, an int or a bool, and have a default"
    ):
        registry.load("odd")


def test_a_file_that_exits_is_a_broken_one(extra_file):
    extra_file("quitter", "import sys; sys.exit('bye')")
    with pytest.raises(UsageError, match="quitter.py does not import: SystemExit: bye"):
        registry.load("quitter")
