"""The vocabulary entries of tokens (piece and id), as pictures and tables show them."""

from collections.abc import Iterable, Sequence

from attnviz.text.display import display, display_token
from attnviz.text.tokens import Token

Entry = list[str | int]


def entry(token: Token) -> Entry | None:
    """Return a token's vocabulary entry as `[piece, id]`, or None if the token has neither.

    The piece is a display string. A third item, 1, marks the vocabulary's entry for unknown text.
    """
    if token.id < 0 and not token.piece:
        return None
    return [display(token.piece) if token.piece else "", token.id, *([1] if token.is_unknown else [])]


def entries(tokens: Iterable[Token]) -> list[Entry]:
    """Collect the vocabulary entries of the tokens behind one label."""
    return [found for token in tokens if (found := entry(token)) is not None]


def entry_text(tokens: Iterable[Token]) -> str:
    """Write the tokens' vocabulary entries as text, such as `piece ▁love, id 3893`, or "" if the tokens have none.

    The scripts in the browser write the same text.
    """
    found = entries(tokens)
    if not found:
        return ""
    pieces, ids = " ".join(str(piece) for piece, *_ in found), ", ".join(str(id_) for _, id_, *_ in found)
    many = "s" if len(found) > 1 else ""
    unknown = ", unknown to the model" if any(len(one) > 2 for one in found) else ""
    return f"piece{many} {pieces}, id{many} {ids}{unknown}" if pieces.strip() else f"id{many} {ids}{unknown}"


def entry_columns(name: str, labels: Sequence[Sequence[Token]]) -> dict[str, list[str | int]]:
    """Return two table columns with a row for each label: `<name>_piece` and `<name>_id`.

    The ids are numbers if every label is a single token, otherwise texts. Without any entry, return no columns.
    """
    found = [entries(tokens) for tokens in labels]
    if not any(found):
        return {}
    ids: list[str | int] = [" ".join(str(id_) for _, id_, *_ in one) for one in found]
    if all(len(one) == 1 for one in found):
        ids = [one[0][1] for one in found]
    return {f"{name}_piece": [" ".join(str(piece) for piece, *_ in one) for one in found], f"{name}_id": ids}


class TokenText(str):
    """A token's display text that also carries its tokens, for pictures and tables that take plain texts."""

    tokens: tuple[Token, ...]

    def __new__(cls, text: str, *tokens: Token) -> "TokenText":
        """Create the text and attach its tokens."""
        made = super().__new__(cls, text)
        made.tokens = tokens
        return made


def token_texts(tokens: Iterable[Token]) -> list[str]:
    """Return the display text of each token, with the token attached."""
    return [TokenText(display_token(token), token) for token in tokens]


def entry_of(text: str) -> str:
    """Return the `entry_text` of the tokens attached to a text, or "" for a plain text."""
    return entry_text(text.tokens) if isinstance(text, TokenText) else ""


def columns_of(name: str, texts: Sequence[str]) -> dict[str, list[str | int]]:
    """Return the `entry_columns` of texts; a plain text has no tokens attached and so no entry."""
    return entry_columns(name, [text.tokens if isinstance(text, TokenText) else () for text in texts])
