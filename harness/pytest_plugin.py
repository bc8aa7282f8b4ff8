"""`pytest --layer-impl NAME` runs harness/battery.py on an implementation; else it adds two options, no more."""

from __future__ import annotations

from importlib import util
from pathlib import Path

import pytest

BATTERY = Path(__file__).with_name("battery.py")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add both options."""
    group = parser.getgroup("layerbench")
    group.addoption("--layer-impl", metavar="NAME", help="Run the battery on this implementation of the layer.")
    group.addoption("--layer-target", metavar="T", default="emulator", help="emulator, simulator or device.")


def pytest_configure(config: pytest.Config) -> None:
    """Collect the battery, beside the files that were named, if any."""
    name = config.getoption("--layer-impl")
    if not name:
        return
    if util.find_spec("hypothesis") is None:
        raise pytest.UsageError("--layer-impl draws shapes with hypothesis: pip install hypothesis")
    from harness import registry
    from harness.errors import UsageError
    from harness.targets import TARGETS

    target = config.getoption("--layer-target")
    if target not in TARGETS:
        raise pytest.UsageError(f"unknown target {target!r}; known: {', '.join(TARGETS)}")
    try:
        registry.parse(name)
    except UsageError as error:
        raise pytest.UsageError(str(error)) from None
    named = config.args if config.args_source is pytest.Config.ArgsSource.ARGS else []
    config.args = [*named, str(BATTERY)]
