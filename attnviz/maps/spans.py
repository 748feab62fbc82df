"""Spans along a map's axes, and groups of a span's tokens: a conversation's turns, folded into a row or column each."""

from collections.abc import Sequence

from attnviz.text.spans import Span
from attnviz.tracing.trace_like import TraceLike
from attnviz.transformer.probe import Kind

Groups = tuple[tuple[int, ...], ...]
TEMPLATE = "template"  # the name of neighbouring tokens in no span
FOLDED = (
    "folded into spans: weights to a span’s tokens add up, rows of a span are averaged; "
    "the first token stands by itself"
)


def query_spans(trace: TraceLike, kind: Kind, item: int = 0) -> tuple[Span, ...]:
    """Return the trace's spans, counted along a kind's rows: a row belongs to the span of the token that goes in."""
    sentence = trace.sentences[item]
    spans = () if kind == "encoder_self" else sentence.spans
    return move_spans(spans, -sentence.first_row, len(sentence.queries(kind)))


def key_spans(trace: TraceLike, kind: Kind, item: int = 0) -> tuple[Span, ...]:
    """Return the trace's spans, counted along a kind's columns."""
    sentence = trace.sentences[item]
    return move_spans(sentence.spans if kind == "decoder_self" else (), 0, len(sentence.keys(kind)))


def move_spans(spans: Sequence[Span], by: int, length: int) -> tuple[Span, ...]:
    """Move spans along an axis of `length` tokens; what lies beyond its ends is cut off."""
    moved = [Span(one.name, max(one.start + by, 0), min(one.end + by, length), one.role) for one in spans]
    return tuple(one for one in moved if one.start < one.end)


def span_at(spans: Sequence[Span], position: int) -> Span | None:
    """Return the span that holds a position, or None."""
    return next((span for span in spans if position in span), None)


def fold(positions: Sequence[int], spans: Sequence[Span]) -> Groups:
    """Group positions by span; neighbours in no span are a group, too. Position 0 is always a group of its own."""
    groups: list[list[int]] = []
    before: Span | None = None
    for at in positions:
        span = span_at(spans, at)
        begins = not groups or groups[-1] == [0] or span != before
        if begins:
            groups.append([at])
        else:
            groups[-1].append(at)
        before = span
    return tuple(map(tuple, groups))


def split_at_spans(groups: Groups, spans: Sequence[Span]) -> Groups:
    """Split groups that reach over the edge of a span, so that no word is half a turn's and half the template's."""
    edges = {edge for span in spans for edge in (span.start, span.end)}
    found: list[list[int]] = []
    for group in groups:
        for place, at in enumerate(group):
            if place == 0 or at in edges:
                found.append([])
            found[-1].append(at)
    return tuple(map(tuple, found))


def folded_name(group: Sequence[int], spans: Sequence[Span]) -> str | None:
    """Name a group that `fold` made: by its span, or as the template's; None for a token that stands by itself."""
    span = span_at(spans, group[0])
    if group[0] == 0 or (span is None and len(group) == 1):
        return None
    return TEMPLATE if span is None else span.name
