"""The action expert around the layer: weights, all layers, the trace, Euler sampling, and the trajectory.

names         what the tensors of a checkpoint are called, and their shapes
weights       where weights come from: a checkpoint, or a seed
checkpoint    safetensors shards, mapped lazily; a random one can be written
cache         converted weights on disk, verified before use
projections   from an action to the hidden state, and back
unicycle      from an action to a trajectory
kv            the caches that the text model leaves
reference     the whole expert in torch
expert        the whole expert through an implementation of the layer
commands      the command line of all this
"""
