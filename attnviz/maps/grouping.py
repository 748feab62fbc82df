"""Labels of a map's rows and columns, and the tokens that each row and column was merged from."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attnviz.maps.options import MapOptions
from attnviz.maps.spans import fold, folded_name, span_at, split_at_spans
from attnviz.text.display import display, display_token, unknown_mark
from attnviz.text.tokens import Span, Token
from attnviz.text.words import word_groups

Groups = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class RowLabel:
    """A row's input token and, in decoder maps, the output token that it predicts, as display strings.

    `tokens` are the positions of the query tokens that the row was merged from. `inputs` and `outputs` are the tokens
    behind the two strings. `span` is the span of the row's first query token, if that token is in one.
    """

    input: str | None
    output: str | None
    tokens: tuple[int, ...]
    inputs: tuple[Token, ...] = field(default=(), compare=False, repr=False)
    outputs: tuple[Token, ...] = field(default=(), compare=False, repr=False)
    span: Span | None = field(default=None, compare=False, repr=False)

    @property
    def text(self) -> str:
        """The text `input → output`, or the only token if the row has just one of them."""
        return " → ".join(part for part in (self.input, self.output) if part is not None)


@dataclass(frozen=True)
class ColLabel:
    """A column's token, word or span as a display string, with the positions of the key tokens and the tokens."""

    text: str
    tokens: tuple[int, ...]
    keys: tuple[Token, ...] = field(default=(), compare=False, repr=False)
    span: Span | None = field(default=None, compare=False, repr=False)


def groups(tokens: Sequence[Token], options: MapOptions, spans: Sequence[Span] = ()) -> Groups:
    """Group token positions into rows or columns: pieces of a word or of a span merged and special tokens left out.

    `options` says which of these apply.
    """
    if options.folds and spans:
        shown = [at for at, token in enumerate(tokens) if not (options.hides_specials and token.is_special)]
        return fold(shown, spans)
    found = word_groups(tokens) if options.merges_words else tuple((at,) for at in range(len(tokens)))
    kept = tuple(group for group in found if not (options.hides_specials and tokens[group[0]].is_special))
    return split_at_spans(kept, spans) if spans else kept


def select_segment(groups: Groups, tokens: Sequence[Token], segment: int) -> Groups:
    """Return the groups of one segment of the text (in a pair, 0 is the first sentence and 1 the second)."""
    return tuple(group for group in groups if tokens[group[0]].segment == segment)


def row_labels(
    groups: Groups, queries: Sequence[Token], outputs: Sequence[Token] | None, *, words: bool,
    spans: Sequence[Span] = (),
) -> tuple[RowLabel, ...]:  # fmt: skip
    """Label each row with its input and its output; `outputs` is None if the rows output nothing."""
    at_first = [span_at(spans, group[0]) for group in groups]
    if outputs is None:
        return tuple(
            RowLabel(_text(queries, group), None, group, _tokens_at(queries, group), span=span)
            for group, span in zip(groups, at_first, strict=True)
        )
    inputs = split_at_spans(word_groups(queries), spans) if words else tuple((at,) for at in range(len(queries)))
    word_of = {at: group for group in inputs for at in group}
    # A merged row begins where the word before it ends: its input is that whole word.
    words_in = [word_of[group[0]] for group in groups]
    return tuple(
        RowLabel(
            _text(queries, word), _text(outputs, group), group,
            _tokens_at(queries, word), _tokens_at(outputs, group), span,
        )
        for word, group, span in zip(words_in, groups, at_first, strict=True)
    )  # fmt: skip


def folded_row_labels(groups: Groups, queries: Sequence[Token], spans: Sequence[Span]) -> tuple[RowLabel, ...]:
    """Label each row with the span of its queries, or with the token's own text if it is in no span."""
    return tuple(
        RowLabel(label.text, None, label.tokens, label.keys, span=label.span)
        for label in folded_col_labels(groups, queries, spans)
    )


def col_labels(groups: Groups, keys: Sequence[Token], spans: Sequence[Span] = ()) -> tuple[ColLabel, ...]:
    """Label each column with its token or word."""
    return tuple(
        ColLabel(_text(keys, group), group, _tokens_at(keys, group), span_at(spans, group[0])) for group in groups
    )


def folded_col_labels(groups: Groups, keys: Sequence[Token], spans: Sequence[Span]) -> tuple[ColLabel, ...]:
    """Label each column with its span, or with the token's own text if it is in no span."""
    alone = zip(groups, col_labels(groups, keys, spans), strict=True)
    return tuple(
        label if (name := folded_name(group, spans)) is None else ColLabel(name, group, span=label.span)
        for group, label in alone
    )


def _tokens_at(tokens: Sequence[Token], group: tuple[int, ...]) -> tuple[Token, ...]:
    return tuple(tokens[at] for at in group)


def _text(tokens: Sequence[Token], group: tuple[int, ...]) -> str:
    text = "".join(tokens[at].text for at in group)
    mark = next((unknown_mark(tokens[at]) for at in group if tokens[at].is_unknown), "")
    return mark + display(text) if text else display_token(tokens[group[0]])


def merge_groups(attn: Tensor, mask: Tensor, groups: tuple[Groups, Groups]) -> tuple[Tensor, Tensor]:
    """Merge maps and masks `(…, q_len, k_len)` to one row and one column for each group.

    Key weights are summed and query rows averaged. Positions in no group are left out.
    """
    row_groups, col_groups = groups
    if len(row_groups) == attn.shape[-2] and len(col_groups) == attn.shape[-1]:
        return attn, mask
    sees = mask.any(dim=-1, keepdim=True).float()
    pieces = _sum_groups(sees, row_groups, -2).clamp(
        min=1
    )  # rows that see no key hold zeros and do not count in the mean
    attn = _sum_groups(_sum_groups(attn, row_groups, -2), col_groups, -1)
    return attn / pieces, _sum_groups(_sum_groups(mask.float(), row_groups, -2), col_groups, -1) > 0


def rows_without_keys(mask: Tensor, row_groups: Groups) -> Tensor:
    """Return `(layers or 1, heads or 1, rows)`: True if no query token of the row sees any key."""
    return _sum_groups(mask.any(dim=-1).float(), row_groups, -1) == 0


def mean_of_visible(
    attn: Float[Tensor, "*any rows cols"], mask: Bool[Tensor, "*#any rows cols"], dims: tuple[int, ...]
) -> Float[Tensor, "..."]:
    """Average over `dims` without the rows that see no key, because these hold only zeros."""
    sees = mask.any(dim=-1, keepdim=True).expand(*attn.shape[:-1], 1)
    return attn.sum(dim=dims) / sees.sum(dim=dims).clamp(min=1)


def _sum_groups(values: Tensor, groups: Groups, dim: int) -> Tensor:
    """Sum the values of each group along an axis; positions in no group are left out."""
    positions = [position for group in groups for position in group]
    group_of = torch.tensor([at for at, group in enumerate(groups) for _ in group], dtype=torch.long)
    if positions != list(range(values.shape[dim])):
        values = values.index_select(dim, torch.tensor(positions, dtype=torch.long))
    shape = list(values.shape)
    shape[dim] = len(groups)
    return values.new_zeros(shape).index_add_(dim, group_of, values)
