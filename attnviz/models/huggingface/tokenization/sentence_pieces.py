"""Backends for Marian and M2M100: a sentencepiece file splits the text, and a separate vocabulary numbers the pieces.

transformers has both only in Python, without offsets. Here the same library splits with the same file, and says where
each piece is. The rest of transformers' work (typed special tokens, Marian's `>>fra<<`) is repeated here, without its
switch from source to target, which all threads would share.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from attnviz.models.huggingface.tokenization.backend import FIRST, SECOND, Frame, Pieces

_BLANK = "▁"
_CODE = re.compile(r">>.*?<<", re.DOTALL)


@dataclass(frozen=True)
class PieceSide:
    """One side of a translation: the sentencepiece processor of its texts, and the ids of its pieces."""

    cut: Any  # sentencepiece.SentencePieceProcessor
    ids: Mapping[str, int]


class PieceBackend:
    """A backend for a transformers tokenizer with a `source` and a `target` side, which are the same for M2M100."""

    def __init__(self, tokenizer: Any, source: PieceSide, target: PieceSide, *, codes: bool = False) -> None:
        self._tokenizer, self._source, self._target, self._codes = tokenizer, source, target, codes
        self._added: dict[str, int] = dict(tokenizer.added_tokens_encoder)
        self._flags = dict(tokenizer.added_tokens_decoder)
        self._special = frozenset(tokenizer.all_special_tokens)
        self._unknown: int = tokenizer.unk_token_id

    def tokenize(self, text: str, *, target: bool = False) -> Pieces:
        """Tokenize a text without adding special tokens."""
        side = self._target if target else self._source
        found = [piece for start, part in self._parts(text) for piece in self._tokenize_part(part, start, side)]
        return Pieces(tuple(id_ for id_, _ in found), tuple(span for _, span in found))

    def frame(self, *, pair: bool = False) -> Frame:
        """Return the special tokens around a text."""
        return tuple(self._tokenizer.build_inputs_with_special_tokens([FIRST], [SECOND] if pair else None))

    def type_ids(self, text: str, pair: str) -> tuple[int, ...]:
        """Return zeros, because these tokenizers have no segments."""
        return tuple(0 for _ in self.frame(pair=True))

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text for ids, without special tokens."""
        plain = [id_ for id_ in ids if id_ not in self._flags or not self._flags[id_].special]
        named = self._tokenizer.convert_ids_to_tokens(plain, skip_special_tokens=True)
        return self._target.cut.decode_pieces(named).replace(_BLANK, " ").strip()

    def id_to_token(self, id_: int) -> str | None:
        """Return an id's entry in the vocabulary."""
        return self._tokenizer.convert_ids_to_tokens(id_)

    def _parts(self, text: str) -> Iterator[tuple[int, str]]:
        """Split the text at typed special tokens; yield each part with its start."""
        parts: list[str] = self._tokenizer.tokens_trie.split(text)
        starts = [0, *accumulate(map(len, parts))]
        for at, part in enumerate(parts):
            before = self._flag(parts[at - 1]) if at else None
            after = self._flag(parts[at + 1]) if at + 1 < len(parts) else None
            left = part.lstrip() if before and before.rstrip else part
            kept = left.rstrip() if after and after.lstrip else left
            if kept:
                yield starts[at] + len(part) - len(left), kept

    def _flag(self, part: str) -> Any:
        """Return an added token with its flags for neighbouring spaces, or None for any other text."""
        return self._flags.get(self._added[part]) if part in self._added else None

    def _tokenize_part(self, part: str, start: int, side: PieceSide) -> Iterator[tuple[int, tuple[int, int]]]:
        if part in self._added or part in self._special:
            yield self._added.get(part, side.ids.get(part, self._unknown)), (start, start + len(part))
            return
        if self._codes and (code := _CODE.match(part)):
            yield side.ids.get(code[0], self._unknown), (start, start + code.end())
            part, start = part[code.end() :], start + code.end()
        for piece, (first, last) in cut_with_spans(side.cut, part):
            yield side.ids.get(piece, self._unknown), (start + first, start + last)


def cut_with_spans(processor: Any, text: str) -> list[tuple[str, tuple[int, int]]]:
    """Split a text with sentencepiece; return the pieces with their characters.

    sentencepiece counts bytes, and assigns a character that is split into several pieces (bytes, or letters of a
    ligature) to the last of them. Here each of these pieces gets the character, as in other tokenizers.
    """
    places = [at for at, character in enumerate(text) for _ in character.encode()] + [len(text)]
    spans: list[tuple[str, tuple[int, int]]] = []
    for each in processor.encode(text, return_type="proto").pieces:
        begin, end = places[each.begin], places[each.end]
        is_part = begin == end and each.piece.strip(_BLANK) != ""
        spans.append((each.piece, (begin, min(begin + 1, len(text)) if is_part else end)))
    return spans
