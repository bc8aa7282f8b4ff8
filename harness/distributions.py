"""Inputs that bite: how the residual stream, the weights and the caches of a case are drawn."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Distribution:
    """Normal numbers, of these sizes.

    stream      std of x, of the cached values and (over 1/sqrt(K)) of the projections that feed the stream, so that all
                of it scales together; at 1e-3 the square of the stream is the size of eps
    keys        std of the cached keys; softmax logits have about this std too
    shift       std of a vector that all cached keys of a head have in common, as trained models' do: it moves all
                logits of a query together, by about this much
    sink        the last valid key is this many times as large: half of the queries look at it alone
    outliers    a few channels of x are this many times as large, in one token five times that again, as in the
                residual streams of trained models
    """

    why: str
    stream: float = 1.0
    keys: float = 1.5
    shift: float = 0.0
    sink: float = 1.0
    outliers: float = 1.0


# Keys of std 1.5 make the softmax prefer some rows, and values of that std keep what it averages visible, so that one
# row more or less shows.
DISTRIBUTIONS = {
    "normal": Distribution("the softmax prefers some rows, and all rows count"),
    "outliers": Distribution("a few channels of x 50 times as large, as trained models have them", outliers=50.0),
    "large_keys": Distribution("logits beyond 100: a softmax without its maximum overflows", shift=50.0),
    "one_hot": Distribution("half of the queries look at the last valid row alone", sink=8.0),
    "uniform": Distribution("all rows weigh the same", keys=0.02),
    "tiny": Distribution("the stream at 1e-3: eps of every norm shows", stream=1e-3),
    "huge": Distribution("the stream at 1e3", stream=1e3),
    # What a check gives the second layer: what shows only at the ends of the scales, at once.
    "second_layer": Distribution("tiny and large_keys together", stream=1e-3, shift=60.0),
}
