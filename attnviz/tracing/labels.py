"""Labels of a map's rows and columns, and which of its tokens each of them stands for."""

from collections.abc import Sequence
from dataclasses import dataclass

from attnviz.text.display import display, display_token
from attnviz.text.tokens import Token
from attnviz.text.words import word_groups

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


def groups(tokens: Sequence[Token], *, words: bool, hide: bool) -> Groups:
    """Positions of the tokens of each row or column: pieces of a word together, special tokens gone, as asked."""
    found = word_groups(tokens) if words else tuple((at,) for at in range(len(tokens)))
    return tuple(group for group in found if not (hide and tokens[group[0]].is_special))


def of_part(groups: Groups, tokens: Sequence[Token], part: int) -> Groups:
    """The groups whose tokens belong to one part of the text (of a pair: 0 the first sentence, 1 the second)."""
    return tuple(group for group in groups if tokens[group[0]].part == part)


def row_labels(
    groups: Groups, queries: Sequence[Token], outputs: Sequence[Token] | None, *, words: bool
) -> tuple[RowLabel, ...]:
    """What goes in and what comes out of each row; `outputs` is None where rows put out nothing."""
    if outputs is None:
        return tuple(RowLabel(_text(queries, group), None, group) for group in groups)
    inputs = word_groups(queries) if words else tuple((at,) for at in range(len(queries)))
    word_of = {at: group for group in inputs for at in group}
    # A merged row begins where the word before it ends: its input is that whole word.
    return tuple(RowLabel(_text(queries, word_of[group[0]]), _text(outputs, group), group) for group in groups)


def col_labels(groups: Groups, keys: Sequence[Token]) -> tuple[ColLabel, ...]:
    """The token or word that each column is."""
    return tuple(ColLabel(_text(keys, group), group) for group in groups)


def _text(tokens: Sequence[Token], group: tuple[int, ...]) -> str:
    text = "".join(tokens[at].text for at in group)
    return display(text) if text else display_token(tokens[group[0]])
