"""A picture's cache keys hold all that it is made from: with one cache for all states each picture equals a new one."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any

import pytest

from attnviz.causes.attribution import attribution
from attnviz.heads import heads
from attnviz.heads.alignment import alignment
from attnviz.heads.alignment.numbers.alignment_ways import KnownMaps
from attnviz.heads.every_head import every_head
from attnviz.heads.flow import flow
from attnviz.heads.heads_state import HeadsState
from attnviz.heads.links import links
from attnviz.kit.caching import Cache, make_anew
from attnviz.kit.wire import Payload
from attnviz.maps.options import MapOptions
from attnviz.models.translator.tiny import tiny_translator
from attnviz.spans import spans
from attnviz.tracing.trace_like import TraceLike

Draw = Callable[..., Payload]
OPTIONS = (MapOptions(), MapOptions("hide"), MapOptions(words=True))
MODEL = tiny_translator(seed=0)
# Words of several pieces, so that merging them changes a map.
TRACES = [MODEL.trace(text, to="fr", tgt_text="je t'aime vraiment") for text in ("I love strawberries", "I see you")]
KNOWN = KnownMaps.find(MODEL, TRACES[0])
ROWS = (0, 1)


def remember() -> Cache:
    kept: dict[Any, Any] = {}

    def get(picture: str, key: tuple[Any, ...], make: Callable[[], Any]) -> Any:
        name = repr((picture, [id(part) if isinstance(part, TraceLike) else part for part in key]))
        return kept[name] if name in kept else kept.setdefault(name, make())

    return get


def draw_heads() -> Iterator[Draw]:
    shown = product(MODEL.kinds, ("show", "hide"), (False, True), ("weight", "norm", "share"))
    for trace, (kind, specials, words, cells) in product(TRACES, shown):
        state = HeadsState(kind, 1, 0, specials=specials, words=words, cells=cells)
        yield partial(heads.heads, trace, state, model=MODEL)


def draw_tabs() -> Iterator[Draw]:
    for trace, kind, options in product(TRACES, MODEL.kinds, OPTIONS):
        yield partial(links.links, trace, links.LinksState(kind=kind), options=options)
        yield partial(every_head.whole_model, trace, every_head.WholeModelState(kind=kind), options=options)
        for row in ROWS:
            yield partial(every_head.one_row, trace, every_head.OneRowState(kind=kind, row=row), options=options)


def draw_whole_traces() -> Iterator[Draw]:
    for trace in TRACES:
        yield partial(alignment.alignment, trace, known=KNOWN)
        for row, by, share, most in product(ROWS, ("rollout", "alti"), (50, 70), (False, True)):
            state = flow.FlowState(row=row, by=by, residual=share, flow=most)
            yield partial(flow.flow, trace, state, known=KNOWN)
        for named, answer, shares, hidden in product(
            ("", "a=1-3;b=3-4"), ("", "2-3"), ("weight", "norm"), ("", "later")
        ):
            shown = spans.SpansState(spans=named, answer=answer, shares=shares, hidden=hidden)
            yield partial(spans.spans, trace, shown, model=MODEL)
        for row, opened, drops in product(ROWS, ("", "cross.1.0"), (False, True)):
            asked = attribution.AttributeState(step=row, opened=opened, drops=drops)
            yield partial(attribution.attribution, MODEL, trace, asked)


@pytest.mark.parametrize("draws", [draw_heads, draw_tabs, draw_whole_traces], ids=lambda each: each.__name__)
def test_a_shared_cache_gives_each_state_its_own_picture(draws: Callable[[], Iterator[Draw]]) -> None:
    cached = remember()
    for at, draw in enumerate(draws()):
        kept, anew = draw(cached=cached), draw(cached=make_anew)
        assert kept.header == anew.header, at
        assert kept.blobs == anew.blobs, at
