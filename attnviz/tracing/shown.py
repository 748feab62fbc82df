"""One kind's maps of a trace as a person asked to see them: special tokens hidden, pieces merged into words.

Figures, tables and metrics all read the same `Shown`, so that a label always belongs to its row. It runs no model.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attnviz.text.display import display
from attnviz.text.tokens import Token
from attnviz.text.words import word_groups
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import Kind

Specials = Literal["show", "hide", "renormalise"]
Groups = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class RowLabel:
    """A row's tokens, as display strings: what goes in, and for decoder kinds what comes out.

    `tokens` are the positions of the query tokens that the row was merged from.
    """

    input: str | None
    output: str | None
    tokens: tuple[int, ...]

    @property
    def text(self) -> str:
        """`input → output`, or the one token that there is."""
        return " → ".join(part for part in (self.input, self.output) if part is not None)


@dataclass(frozen=True)
class ColLabel:
    """A column's token or word, as a display string, and the positions of its key tokens."""

    text: str
    tokens: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Shown:
    """One kind's maps, with a label for every row and column.

    attn is float32 `(layers, heads, rows, cols)`; mask is bool, True = may attend, with 1 for layers or heads
    where it is the same for all of them. `left_out` is a sentence for the legend, "" when nothing is hidden.
    `keyless` says which rows see no key whatever is shown, hidden ones counted; None where nothing is hidden.
    """

    kind: Kind
    attn: Float[Tensor, "layers heads rows cols"]
    mask: Bool[Tensor, "_ _ rows cols"]
    rows: tuple[RowLabel, ...]
    cols: tuple[ColLabel, ...]
    renormalised: bool = False
    left_out: str = ""
    keyless: Bool[Tensor, "_ _ rows"] | None = None

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Layers, heads, rows and columns."""
        layers, heads, rows, cols = self.attn.shape
        return layers, heads, rows, cols

    @property
    def rows_with_keys_hidden(self) -> Bool[Tensor, " rows"]:
        """Rows that see keys, though none that is shown: the keys are special tokens, and these are hidden."""
        without = ~self.mask.any(dim=-1)
        return (without & ~(without if self.keyless is None else self.keyless)).flatten(0, 1).any(dim=0)

    def weights(self, layer: int | str, head: int | str) -> Float[Tensor, "rows cols"]:
        """One head's map; "mean" for layer or head averages over all of them. Raises ValueError out of range."""
        attn, mask = self.chosen(layer, head)
        return mean_of_visible(attn, mask, dims=(0, 1))

    def visible(self, layer: int | str, head: int | str) -> Bool[Tensor, "rows cols"]:
        """Where that map may attend: for a mean, where any of its heads may. Raises ValueError out of range."""
        return self.chosen(layer, head)[1].flatten(0, 1).any(dim=0)

    def chosen(self, layer: int | str, head: int | str) -> tuple[Tensor, Tensor]:
        """The heads that are meant, and where each may attend. Raises ValueError out of range."""
        layers, heads = (
            _chosen_range("layer", layer, self.attn.shape[0]),
            _chosen_range("head", head, self.attn.shape[1]),
        )
        mask = self.mask.expand(*self.attn.shape[:2], -1, -1)
        return self.attn[layers, heads], mask[layers, heads]


def shown(
    trace: Trace,
    kind: Kind,
    *,
    specials: Specials = "show",
    words: bool = False,
    parts: tuple[int, int] | None = None,
    item: int = 0,
) -> Shown:
    """The maps of `kind`, with special tokens hidden and pieces merged as asked.

    Attention to a word is the sum over its pieces, from a word the mean over its pieces that see any key.
    Decoder rows are merged and hidden by the token that they put out, so that `<bos> → Un` stays. "hide" leaves
    the other weights as they are, "renormalise" lets rows sum to 1 again, after merging. `parts` keeps only queries
    of one part and keys of another (of a pair: 0 the first sentence, 1 the second; see `Token.part`).
    Raises ValueError for a kind that the trace does not have or an unknown `specials`.
    """
    if specials not in ("show", "hide", "renormalise"):
        raise ValueError(f"specials is 'show', 'hide' or 'renormalise', not {specials!r}.")
    if kind not in trace.kinds:
        raise ValueError(f"This trace has no {kind!r} maps; it has {', '.join(trace.kinds)}.")
    queries, keys = trace.query_tokens(kind, item=item), trace.key_tokens(kind, item=item)
    outputs = trace.output_tokens(kind, item=item)
    hide = specials != "show"
    row_groups = _groups(queries if outputs is None else outputs, words=words, hide=hide)
    col_groups = _groups(keys, words=words, hide=hide)
    if parts is not None:
        row_groups = tuple(group for group in row_groups if queries[group[0]].part == parts[0])
        col_groups = tuple(group for group in col_groups if keys[group[0]].part == parts[1])
    attn = trace.attn(kind, item=item)
    full = _masks(trace, kind, item, attn.shape[:2])
    attn, mask = _merged(attn, full, (row_groups, col_groups))
    if specials == "renormalise":
        total = attn.sum(dim=-1, keepdim=True)
        attn = torch.where(total > 0, attn / total, attn)
    return Shown(
        kind=kind,
        attn=attn,
        mask=mask,
        rows=_row_labels(row_groups, queries, outputs, words=words),
        cols=tuple(ColLabel(_text(keys, group), group) for group in col_groups),
        renormalised=specials == "renormalise",
        keyless=_keyless(full, row_groups) if hide or parts is not None else None,
        left_out=_left_out(specials, parts, sum(map(len, col_groups)) < len(keys)),
    )


def mean_of_visible(
    attn: Float[Tensor, "*any rows cols"], mask: Bool[Tensor, "*#any rows cols"], dims: tuple[int, ...]
) -> Float[Tensor, "..."]:
    """The mean over `dims`, in which rows without any visible key do not count (they hold only zeros)."""
    sees = mask.any(dim=-1, keepdim=True).expand(*attn.shape[:-1], 1)
    return attn.sum(dim=dims) / sees.sum(dim=dims).clamp(min=1)


def _chosen_range(name: str, choice: int | str, size: int) -> slice:
    if choice == "mean":
        return slice(None)
    if isinstance(choice, bool) or not isinstance(choice, int) or not 0 <= choice < size:
        raise ValueError(f"{name} is 0 to {size - 1} or 'mean', not {choice!r}.")
    return slice(choice, choice + 1)


def _groups(tokens: Sequence[Token], *, words: bool, hide: bool) -> Groups:
    groups = word_groups(tokens) if words else tuple((at,) for at in range(len(tokens)))
    return tuple(group for group in groups if not (hide and tokens[group[0]].is_special))


def _masks(trace: Trace, kind: Kind, item: int, size: Sequence[int]) -> Tensor:
    """`(layers or 1, heads or 1, q_len, k_len)`: kept once where every site has the same."""
    sites = [
        [trace.mask(kind, layer=layer, head=head, item=item) for head in range(size[1])] for layer in range(size[0])
    ]
    first = sites[0][0]
    if all(torch.equal(mask, first) for row in sites for mask in row):
        return first[None, None]
    return torch.stack([torch.stack(row) for row in sites])


def _merged(attn: Tensor, mask: Tensor, groups: tuple[Groups, Groups]) -> tuple[Tensor, Tensor]:
    row_groups, col_groups = groups
    if len(row_groups) == attn.shape[-2] and len(col_groups) == attn.shape[-1]:
        return attn, mask
    rows, cols = _membership(row_groups, attn.shape[-2]), _membership(col_groups, attn.shape[-1])
    # Pieces that see no key hold zeros and do not count in the mean.
    sees = mask.any(dim=-1, keepdim=True).float()
    pieces = (rows @ sees).clamp(min=1)
    merged = rows @ (attn @ cols.T) / pieces
    return merged, (rows @ mask.float() @ cols.T) > 0


def _keyless(mask: Tensor, row_groups: Groups) -> Tensor:
    """`(layers or 1, heads or 1, rows)`: True where no piece of a row sees any key."""
    rows = _membership(row_groups, mask.shape[-2])
    return (mask.any(dim=-1).float() @ rows.T) == 0


def _membership(groups: Groups, length: int) -> Tensor:
    member = torch.zeros(len(groups), length)
    for at, group in enumerate(groups):
        member[at, list(group)] = 1.0
    return member


def _row_labels(
    groups: Groups, queries: Sequence[Token], outputs: Sequence[Token] | None, *, words: bool
) -> tuple[RowLabel, ...]:
    if outputs is None:
        return tuple(RowLabel(_text(queries, group), None, group) for group in groups)
    inputs = word_groups(queries) if words else tuple((at,) for at in range(len(queries)))
    word_of = {at: group for group in inputs for at in group}
    # A merged row begins where the word before it ends: its input is that whole word.
    return tuple(RowLabel(_text(queries, word_of[group[0]]), _text(outputs, group), group) for group in groups)


def _text(tokens: Sequence[Token], group: tuple[int, ...]) -> str:
    return display("".join(tokens[at].text for at in group))


def _left_out(specials: Specials, parts: tuple[int, int] | None, any_hidden: bool) -> str:
    what = (["special tokens"] if specials != "show" else []) + (["the other part"] if parts is not None else [])
    if not what or not any_hidden:
        return ""
    sums = "rows made to sum to 1 again" if specials == "renormalise" else "rows sum to less than 1"
    return f"{' and '.join(what)} hidden: {sums}"
