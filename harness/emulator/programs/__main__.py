"""Prints the constants of virtual time as docs/emulator.md has them."""

from harness.emulator.programs.constants import machine_constants, markdown

print(markdown(machine_constants()), end="")
