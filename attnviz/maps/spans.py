"""Spans along a map's axes, and groups of a span's tokens: turns of a conversation, each folded into a row or
column.
"""

from collections.abc import Sequence

from attnviz.text.tokens import Span
from attnviz.tracing.trace_like import TraceLike
from attnviz.transformer.probe import Kind

Groups = tuple[tuple[int, ...], ...]
TEMPLATE = "template"  # the name of neighbouring tokens in no span
FOLDED = (
    "folded into spans: weights to a span’s tokens add up, rows of a span are averaged; "
    "the first token stands by itself"
)


def query_spans(trace: TraceLike, kind: Kind, item: int = 0) -> tuple[Span, ...]:
    """Return the trace's spans as positions along a kind's rows; a row belongs to the span of its input token."""
    sentence = trace.sentences[item]
    spans = () if kind == "encoder_self" else sentence.spans
    return move_spans(spans, -sentence.first_row, len(sentence.queries(kind)))


def key_spans(trace: TraceLike, kind: Kind, item: int = 0) -> tuple[Span, ...]:
    """Return the trace's spans as positions along a kind's columns."""
    sentence = trace.sentences[item]
    return move_spans(sentence.spans if kind == "decoder_self" else (), 0, len(sentence.keys(kind)))


def move_spans(spans: Sequence[Span], by: int, length: int) -> tuple[Span, ...]:
    """Shift spans along an axis of `length` tokens; parts beyond either end are dropped."""
    moved = [Span(one.name, max(one.start + by, 0), min(one.end + by, length), one.role) for one in spans]
    return tuple(one for one in moved if one.start < one.end)


def span_at(spans: Sequence[Span], position: int) -> Span | None:
    """Return the span that holds a position, or None."""
    return next((span for span in spans if position in span), None)


def fold(positions: Sequence[int], spans: Sequence[Span]) -> Groups:
    """Group positions by span. Neighbouring positions in no span form a group, and position 0 is always its
    own group.
    """
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
    """Split groups at the edges of spans, so that no word belongs half to a turn and half to the chat template."""
    edges = {edge for span in spans for edge in (span.start, span.end)}
    found: list[list[int]] = []
    for group in groups:
        for place, at in enumerate(group):
            if place == 0 or at in edges:
                found.append([])
            found[-1].append(at)
    return tuple(map(tuple, found))


def folded_name(group: Sequence[int], spans: Sequence[Span]) -> str | None:
    """Return the name of a group that `fold` made: the span's name, or "template"; None for a single token."""
    span = span_at(spans, group[0])
    if group[0] == 0 or (span is None and len(group) == 1):
        return None
    return TEMPLATE if span is None else span.name
