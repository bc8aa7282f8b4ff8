"""The action expert around the layer: weights, all layers, the trace, Euler sampling, and the trajectory.

names         what the tensors of a checkpoint are called, and their shapes
weights       where weights come from: a checkpoint, or a seed
checkpoint    safetensors shards, mapped lazily; a random one can be written
cache         converted tensors on disk, verified before use
conversions   ttnn with that cache behind `from_torch`
projections   from an action to the hidden state, and back to a velocity
sampling      Euler's method from noise to an action
unicycle      from an action to a trajectory
kv            the caches that the text model leaves
reference     the whole expert in torch
trace         one captured run
expert        the whole expert through an implementation of the layer
runs          a step and a sample, measured and judged
render        what is printed, drawn and recorded of them
commands      the command line of all this
"""
