"""One file an implementation of the layer; found by `harness.registry`."""

from harness.places import folders

__path__ = folders("layer_impls")
