"""Memory that circular buffers share: none that are in use at once, all of them whole, streams with what is left."""

from __future__ import annotations

import math
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from harness.dtypes import TILE_BYTES
from layer_impls._l1 import Use, share
from layer_impls._program import Cb

PLENTY = 1 << 24


@st.composite
def uses(draw: st.DrawFn) -> list[Use]:
    """Buffers of a program of three blocks; a stream holds whole slots."""
    found = []
    for index in range(draw(st.integers(1, 12))):
        first = draw(st.integers(0, 2))
        stream = draw(st.sampled_from([0, 0, 1, 3, 8]))
        tiles = draw(st.integers(1, 40)) * max(1, stream)
        cb = Cb(index, draw(st.sampled_from(["bf16", "fp32", "bfp8"])), tiles)
        cores = draw(st.sampled_from([None, "worker", "feeder"]))
        found.append(Use(cb, first, draw(st.integers(first, 2)), cores, draw(st.booleans()), stream))
    return found


@given(uses=uses(), budget=st.sampled_from([0, 100_000, PLENTY]))
def test_what_is_in_use_at_once_shares_no_memory(uses, budget):
    places = share(uses, budget)
    of = {cb.index: i for i, place in enumerate(places) for cb in place.cbs}
    assert sorted(cb.index for place in places for cb in place.cbs) == [use.cb.index for use in uses]
    for a, b in combinations(uses, 2):
        meet = a.first <= b.last and b.first <= a.last and {a.cores, b.cores} != {"worker", "feeder"}
        assert not (meet and of[a.cb.index] == of[b.cb.index]), (a, b)


@given(uses=uses(), budget=st.sampled_from([0, 100_000, PLENTY]))
def test_every_buffer_fits_and_ends_where_its_memory_does(uses, budget):
    memory = {cb.index: place.bytes for place in share(uses, budget) for cb in place.cbs}
    for use in uses:
        tile = TILE_BYTES[use.cb.dtype]
        assert memory[use.cb.index] >= use.cb.bytes
        assert memory[use.cb.index] % (use.stream * tile if use.stream else use.cb.bytes if use.wraps else tile) == 0


@given(uses=uses())
def test_sharing_never_takes_more_than_not_sharing(uses):
    assert sum(place.bytes for place in share(uses, 0)) <= sum(use.cb.bytes for use in uses)


@given(uses=uses(), budget=st.integers(0, PLENTY))
def test_streams_get_what_is_left(uses, budget):
    least, places = share(uses, 0), share(uses, budget)
    assert [place.cbs for place in places] == [place.cbs for place in least]
    streams = {use.cb.index for use in uses if use.stream}
    grown = [sum(p.bytes for p in places) - sum(p.bytes for p in least)]
    for before, place in zip(least, places, strict=True):
        if not streams & {cb.index for cb in place.cbs}:
            assert place.bytes == before.bytes
    left = budget - sum(place.bytes for place in places)
    if left < 0:
        assert grown == [0], "nothing is left, and yet a stream was given some"
    # Memory comes in multiples of all that lie there; a page more of the smallest would fit no more than that.
    units = [share_unit(uses, place.cbs) for place in places if streams & {cb.index for cb in place.cbs}]
    assert all(left < unit for unit in units)


def share_unit(uses: list[Use], cbs: tuple[Cb, ...]) -> int:
    """Bytes that memory of these buffers grows by."""
    here = [use for use in uses if use.cb in cbs]
    return math.lcm(*(use.unit for use in here))


def test_one_stream_takes_all_that_a_small_buffer_leaves():
    stream = Use(Cb(0, "bf16", 4), 0, 0, stream=2)
    other = Use(Cb(1, "fp32", 1), 0, 0)
    places = {place.cbs[0].index: place.bytes for place in share([stream, other], 10 * 4096 + 100)}
    assert places == {0: 9 * 4096, 1: 4096}


def test_blocks_that_follow_each_other_share_and_the_two_kinds_of_core_do():
    a, b = Use(Cb(0, "bf16", 4), 0, 0), Use(Cb(1, "bf16", 2), 1, 1)
    c, d = Use(Cb(2, "bf16", 4), 0, 2, "worker"), Use(Cb(3, "bf16", 4), 0, 2, "feeder")
    places = [{cb.index for cb in place.cbs} for place in share([a, b, c, d], 0)]
    assert sorted(map(sorted, places)) == [[0, 1], [2, 3]]
