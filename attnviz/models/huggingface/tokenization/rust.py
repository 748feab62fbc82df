"""Tokenizers with a backend of the `tokenizers` library: nearly all of them, read from tokenizer.json or made from
vocabulary, merges or a sentencepiece file by transformers.
"""

from collections.abc import Sequence
from unicodedata import category

from tokenizers import Tokenizer

from attnviz.models.huggingface.tokenization.backend import FIRST, SECOND, Frame, Pieces

_TEXT, _PAIR = "The quick brown fox.", "It sleeps on."


class RustBackend:
    """The backend as it is, without transformers' wrapper around it, which switches cutting and padding on and off in
    the one that all visitors share.
    """

    def __init__(self, tokenizer: Tokenizer, *, parts_pairs: bool = True) -> None:
        self._tokenizer, self._parts_pairs = tokenizer, parts_pairs
        tokenizer.no_truncation()
        tokenizer.no_padding()

    def tokenize(self, text: str, *, target: bool = False) -> Pieces:
        """Cut a text into tokens, without special tokens around it."""
        dropped = self._dropped_first(text)
        found = self._tokenizer.encode(text[dropped:], add_special_tokens=False)
        return Pieces(tuple(found.ids), tuple((start + dropped, end + dropped) for start, end in found.offsets))

    def _dropped_first(self, text: str) -> int:
        """Count control characters at the very beginning that the normalizer drops: sentencepiece's does, and the
        library then gives every token of the text the place of the character before it.
        """
        count, normalizer = 0, self._tokenizer.normalizer
        while (
            normalizer
            and category(text[count : count + 1] or " ") == "Cc"
            and not normalizer.normalize_str(text[count])
        ):
            count += 1
        return count

    def frame(self, *, pair: bool = False) -> Frame:
        """Return the tokens that its template puts around a text, or around two; empty where it has no template for
        two.

        Asked of a text like any other, and put around tokens by us: RoBERTa's step would take the space off their
        characters a second time.
        """
        if pair and not self._parts_pairs:
            return ()
        whole = self._tokenizer.encode(_TEXT, _PAIR if pair else None)
        places: list[int] = []
        for id_, sequence in zip(whole.ids, whole.sequence_ids, strict=True):
            place = id_ if sequence is None else (FIRST, SECOND)[sequence]
            if place >= 0 or place not in places:
                places.append(place)
        return tuple(places)

    def type_ids(self, text: str, pair: str) -> tuple[int, ...]:
        """Return the segments of a framed pair."""
        return tuple(self._tokenizer.encode(text, pair).type_ids)

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of ids, without special tokens."""
        return self._tokenizer.decode(list(ids), skip_special_tokens=True)

    def id_to_token(self, id_: int) -> str | None:
        """Return an id's entry in the vocabulary."""
        return self._tokenizer.id_to_token(id_)
