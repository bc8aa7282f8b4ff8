"""Tests. The package that sets up torch's threads comes first."""

import harness  # noqa: F401
