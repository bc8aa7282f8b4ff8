"""Errors that a user can act on: one line, what was wrong and what would be right."""


class UsageError(Exception):
    """Bad input. The command line prints it in one line and exits with 2."""
