"""Vocabulary entries of tokens, the piece and its id, as pictures and tables show them."""

from collections.abc import Iterable, Sequence

from attnviz.text.display import display, display_token
from attnviz.text.tokens import Token

Entry = list[str | int]


def entry(token: Token) -> Entry | None:
    """Make `[piece, id]`, with a 1 behind it if the piece stands for unknown text; None without an entry.

    The piece is a display string.
    """
    if token.id < 0 and not token.piece:
        return None
    return [display(token.piece) if token.piece else "", token.id, *([1] if token.is_unknown else [])]


def entries(tokens: Iterable[Token]) -> list[Entry]:
    """Collect the entries of the tokens that make up a label."""
    return [found for token in tokens if (found := entry(token)) is not None]


def entry_text(tokens: Iterable[Token]) -> str:
    """Write entries as a text such as `piece ▁love, id 3893`, as the scripts do; "" without entries."""
    found = entries(tokens)
    if not found:
        return ""
    pieces, ids = " ".join(str(piece) for piece, *_ in found), ", ".join(str(id_) for _, id_, *_ in found)
    many = "s" if len(found) > 1 else ""
    unknown = ", unknown to the model" if any(len(one) > 2 for one in found) else ""
    return f"piece{many} {pieces}, id{many} {ids}{unknown}" if pieces.strip() else f"id{many} {ids}{unknown}"


def entry_columns(name: str, labels: Sequence[Sequence[Token]]) -> dict[str, list[str | int]]:
    """Make two columns of a table, a line for each label: `<name>_piece`, and `<name>_id`, which are numbers if each
    label is one token; no columns without entries.
    """
    found = [entries(tokens) for tokens in labels]
    if not any(found):
        return {}
    ids: list[str | int] = [" ".join(str(id_) for _, id_, *_ in one) for one in found]
    if all(len(one) == 1 for one in found):
        ids = [one[0][1] for one in found]
    return {f"{name}_piece": [" ".join(str(piece) for piece, *_ in one) for one in found], f"{name}_id": ids}


class TokenText(str):
    """The display text of tokens, for a picture or a table that takes texts, with the tokens themselves."""

    tokens: tuple[Token, ...]

    def __new__(cls, text: str, *tokens: Token) -> "TokenText":
        """Make a text that knows its tokens."""
        made = super().__new__(cls, text)
        made.tokens = tokens
        return made


def token_texts(tokens: Iterable[Token]) -> list[str]:
    """Make the display text of each token."""
    return [TokenText(display_token(token), token) for token in tokens]


def entry_of(text: str) -> str:
    """Write the `entry_text` of the tokens behind a text; "" for a plain text."""
    return entry_text(text.tokens) if isinstance(text, TokenText) else ""


def columns_of(name: str, texts: Sequence[str]) -> dict[str, list[str | int]]:
    """Make the `entry_columns` of texts, some of which may be plain."""
    return entry_columns(name, [text.tokens if isinstance(text, TokenText) else () for text in texts])
