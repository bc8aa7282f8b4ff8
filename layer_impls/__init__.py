"""One file an implementation of the layer; found by `harness.registry`."""
