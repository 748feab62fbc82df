"""Tokens folded into spans, held against a loop over cells; roles of rows and columns under hiding and merging."""

from dataclasses import replace

import torch

from attnviz.kit.payload import axis_spans
from attnviz.maps.maps import EagerMaps
from attnviz.maps.options import MapOptions
from attnviz.maps.selection import query_groups, select
from attnviz.text.tokens import Span
from attnviz.tracing.trace import Trace
from tests.analysis.heads.by_hand import tokens, trace_of
from tests.each_case import each_case

LAYERS, HEADS, LENGTH = 2, 3, 13
SPANS = (Span("system", 2, 4, "system"), Span("user", 6, 9, "user"), Span("assistant", 11, 14, "assistant"))
FOLDED = ((0,), (1,), (2, 3), (4, 5), (6, 7, 8), (9, 10), (11, 12))
NAMES = ["<s>", "m", "system", "template", "user", "template", "assistant"]


def conversation(*, spans: tuple[Span, ...] = SPANS) -> Trace:
    pieces = ("<s>", "▁m", "▁be", "▁good", "<e>", "▁n", "▁how", "▁are", "▁y", "<e>", "▁n", "▁fi", "ne", "<e>")
    seen = torch.ones(LENGTH, LENGTH, dtype=torch.bool).tril()
    scores = torch.randn(LAYERS, HEADS, LENGTH, LENGTH, generator=torch.Generator().manual_seed(41))
    attn = scores.masked_fill(~seen, -torch.inf).softmax(dim=-1)
    trace = trace_of("decoder_self", attn, tgt=tokens(*pieces), mask=seen[None, None])
    return replace(trace, sentences=(replace(trace.sentences[0], spans=spans),))


def folded(trace: Trace, specials: str = "show") -> EagerMaps:
    return select(trace, "decoder_self", MapOptions(specials, "spans"))  # type: ignore[arg-type]


def loop_over_cells(attn: torch.Tensor, groups: tuple[tuple[int, ...], ...]) -> torch.Tensor:
    made = torch.zeros(*attn.shape[:2], len(groups), len(groups))
    for layer in range(attn.shape[0]):
        for head in range(attn.shape[1]):
            for row, queries in enumerate(groups):
                for col, keys in enumerate(groups):
                    cells = [attn[layer, head, query, key].item() for query in queries for key in keys]
                    made[layer, head, row, col] = sum(cells) / len(queries)
    return made


def test_weights_to_a_span_add_up_and_rows_of_a_span_are_averaged() -> None:
    trace = conversation()
    maps = folded(trace)
    assert [row.text for row in maps.rows] == [col.text for col in maps.cols] == NAMES
    assert tuple(row.tokens for row in maps.rows) == tuple(col.tokens for col in maps.cols) == FOLDED
    torch.testing.assert_close(maps.attn, loop_over_cells(trace.attn("decoder_self"), FOLDED))
    torch.testing.assert_close(maps.attn.sum(dim=-1), torch.ones(LAYERS, HEADS, len(FOLDED)))
    assert maps.left_out.startswith("folded into spans: weights to a span’s tokens add up, rows of a span are averaged")


def test_hidden_special_tokens_are_in_no_span() -> None:
    trace = conversation()
    maps = folded(trace, "hide")
    groups = ((1,), (2, 3), (5,), (6, 7, 8), (10,), (11, 12))
    assert tuple(col.tokens for col in maps.cols) == groups
    assert [col.text for col in maps.cols] == ["m", "system", "n", "user", "n", "assistant"]
    torch.testing.assert_close(maps.attn, loop_over_cells(trace.attn("decoder_self"), groups))
    again = folded(trace, "renormalise").attn
    torch.testing.assert_close(again.sum(dim=-1), torch.ones(again.shape[:-1]))


def test_a_span_that_begins_with_the_first_token_leaves_it_alone() -> None:
    maps = folded(conversation(spans=(Span("all", 0, 14),)))
    assert [(col.text, col.tokens) for col in maps.cols] == [("<s>", (0,)), ("all", tuple(range(1, 13)))]


def test_a_trace_without_spans_is_the_same_folded_or_not() -> None:
    trace = conversation(spans=())
    plain, maps = select(trace, "decoder_self"), folded(trace)
    assert torch.equal(maps.attn, plain.attn)
    assert (maps.rows, maps.cols, maps.left_out) == (plain.rows, plain.cols, plain.left_out)
    assert axis_spans(maps.rows, maps.cols) == {}


def bands(maps: EagerMaps, name: str = "spans") -> list[tuple[str, int, int]]:
    return [(band["role"], band["start"], band["end"]) for band in axis_spans(maps.rows, maps.cols)[name]]


@each_case(
    ("options", "cols", "rows"),
    [
        (MapOptions(), [2, 4, 6, 9, 11, 13], [2, 4, 6, 9, 11, 13]),
        (MapOptions("hide"), [1, 3, 4, 7, 8, 10], [2, 3, 5, 7, 9, 10]),
        (MapOptions(words=True), [2, 4, 6, 9, 11, 12], [2, 4, 6, 9, 11, 12]),
        (MapOptions(words="spans"), [2, 3, 4, 5, 6, 7], [2, 3, 4, 5, 6, 7]),
    ],
)
def test_bands_lie_on_the_rows_and_columns_that_are_shown(options: MapOptions, cols: list, rows: list) -> None:
    """A row belongs to the token that goes in, also where it is hidden by the one that comes out."""
    maps = select(conversation(), "decoder_self", options)
    roles = ["system", "user", "assistant"]
    assert bands(maps) == list(zip(roles, cols[::2], cols[1::2], strict=True))
    assert bands(maps, "row_spans") == list(zip(roles, rows[::2], rows[1::2], strict=True))


def test_no_word_reaches_over_the_edge_of_a_span() -> None:
    maps = select(conversation(spans=(Span("user", 2, 12, "user"),)), "decoder_self", MapOptions(words=True))
    assert [col.text for col in maps.cols][-2:] == ["fi", "ne"]
    assert [row.text for row in maps.rows][-3:] == ["n → fi", "fi → ne", "ne → <e>"]


def test_pages_find_the_rows_of_spans() -> None:
    assert query_groups(conversation(), "decoder_self", MapOptions(words="spans")) == FOLDED
