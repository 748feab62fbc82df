"""What a vocabulary has for tokens, as pictures and tables say it: the piece, and its id."""

from collections.abc import Iterable, Sequence

from attnviz.text.display import display, display_token
from attnviz.text.tokens import Token

Entry = list[str | int]


def entry(token: Token) -> Entry | None:
    """`[piece, id]`, with a 1 behind it where that piece stands for unknown text; None where nobody said.

    The piece is a display string.
    """
    if token.id < 0 and not token.piece:
        return None
    return [display(token.piece) if token.piece else "", token.id, *([1] if token.is_unknown else [])]


def entries(tokens: Iterable[Token]) -> list[Entry]:
    """Those of the tokens that make up a label."""
    return [found for token in tokens if (found := entry(token)) is not None]


def entry_text(tokens: Iterable[Token]) -> str:
    """Such as `piece ▁love, id 3893`, in words for people; "" where nobody said. The scripts say the same."""
    found = entries(tokens)
    if not found:
        return ""
    pieces, ids = " ".join(str(piece) for piece, *_ in found), ", ".join(str(id_) for _, id_, *_ in found)
    many = "s" if len(found) > 1 else ""
    unknown = ", unknown to the model" if any(len(one) > 2 for one in found) else ""
    return f"piece{many} {pieces}, id{many} {ids}{unknown}" if pieces.strip() else f"id{many} {ids}{unknown}"


def entry_columns(name: str, labels: Sequence[Sequence[Token]]) -> dict[str, list[str | int]]:
    """Two columns of a table, a line for each label: `<name>_piece`, and `<name>_id`, which are numbers where each
    label is one token. Nothing where nobody said.
    """
    found = [entries(tokens) for tokens in labels]
    if not any(found):
        return {}
    ids: list[str | int] = [" ".join(str(id_) for _, id_, *_ in one) for one in found]
    if all(len(one) == 1 for one in found):
        ids = [one[0][1] for one in found]
    return {f"{name}_piece": [" ".join(str(piece) for piece, *_ in one) for one in found], f"{name}_id": ids}


class TokenText(str):
    """Tokens as they are shown, for a picture or a table that takes texts; it also knows the tokens."""

    tokens: tuple[Token, ...]

    def __new__(cls, text: str, *tokens: Token) -> "TokenText":
        """The text that stands for these tokens."""
        made = super().__new__(cls, text)
        made.tokens = tokens
        return made


def token_texts(tokens: Iterable[Token]) -> list[str]:
    """Each token as it is shown, knowing itself."""
    return [TokenText(display_token(token), token) for token in tokens]


def entry_of(text: str) -> str:
    """`entry_text` of the tokens behind a text; "" for one that knows of none."""
    return entry_text(text.tokens) if isinstance(text, TokenText) else ""


def columns_of(name: str, texts: Sequence[str]) -> dict[str, list[str | int]]:
    """`entry_columns` of texts, of which any may know of no tokens."""
    return entry_columns(name, [text.tokens if isinstance(text, TokenText) else () for text in texts])
