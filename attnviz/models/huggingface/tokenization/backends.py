"""Backends built on the `tokenizers` library, and the choice of a backend for a transformers tokenizer."""

import re
from collections.abc import Callable, Sequence
from typing import Any
from unicodedata import category

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, processors
from transformers.convert_slow_tokenizer import bytes_to_unicode

from attnviz.models.huggingface.errors import ModelError
from attnviz.models.huggingface.tokenization.backend import FIRST, SECOND, Backend, Frame, Pieces, correct_spans
from attnviz.models.huggingface.tokenization.sentence_pieces import PieceBackend, PieceSide
from attnviz.text.limits import catch_panics

_A_BYTE = 3  # ByT5's id of byte 0, after padding, end and unknown
_TEXT, _PAIR = "The quick brown fox.", "It sleeps on."


class RustBackend:
    """The backend of nearly all tokenizers, from tokenizer.json, vocabulary and merges, or a sentencepiece file.

    transformers' wrapper is bypassed, because it switches truncation and padding on and off in the one tokenizer that
    all visitors share. A panic of the library becomes a TextError.
    """

    def __init__(self, tokenizer: Tokenizer, *, parts_pairs: bool = True) -> None:
        self._tokenizer, self._parts_pairs = tokenizer, parts_pairs
        tokenizer.no_truncation()
        tokenizer.no_padding()

    @catch_panics()
    def tokenize(self, text: str, *, target: bool = False) -> Pieces:
        """Tokenize a text without adding special tokens."""
        dropped = self._dropped_first(text)
        found = self._tokenizer.encode(text[dropped:], add_special_tokens=False)
        offsets = [(start + dropped, end + dropped) for start, end in found.offsets]
        return Pieces(tuple(found.ids), tuple(correct_spans(text, found.tokens, offsets)))

    def _dropped_first(self, text: str) -> int:
        """Return the number of leading control characters that the normalizer drops.

        sentencepiece's normalizer drops them, and the library then shifts the offsets of all tokens by one character.
        """
        count, normalizer = 0, self._tokenizer.normalizer
        while (
            normalizer
            and category(text[count : count + 1] or " ") == "Cc"
            and not normalizer.normalize_str(text[count])
        ):
            count += 1
        return count

    @catch_panics()
    def frame(self, *, pair: bool = False) -> Frame:
        """Return the special tokens around a text, or around a pair of texts.

        The result is empty if the tokenizer has no template for pairs. The frame is read from a sample text, and
        attnviz adds it to the tokens itself, because RoBERTa's post-processor would trim the tokens' offsets again.
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

    @catch_panics()
    def type_ids(self, text: str, pair: str) -> tuple[int, ...]:
        """Return the segment, 0 or 1, of each token of a pair of texts, including the special tokens."""
        return tuple(self._tokenizer.encode(text, pair).type_ids)

    @catch_panics()
    def decode(self, ids: Sequence[int]) -> str:
        """Return the text for ids, without special tokens."""
        return self._tokenizer.decode(list(ids), skip_special_tokens=True)

    @catch_panics()
    def id_to_token(self, id_: int) -> str | None:
        """Return an id's entry in the vocabulary."""
        return self._tokenizer.id_to_token(id_)


class ByteBackend(RustBackend):
    """The backend of ByT5, which transformers has only in Python: one token for each byte of UTF-8.

    A text that ends with a typed `</s>` gets no second one.
    """

    def __init__(self, tokenizer: Any) -> None:
        self._end: int = tokenizer.eos_token_id
        bytes_ = {character: byte + _A_BYTE for byte, character in bytes_to_unicode().items()}
        rust = Tokenizer(models.BPE(bytes_ | tokenizer.get_added_vocab(), []))
        rust.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
        rust.decoder = decoders.ByteLevel()
        rust.add_special_tokens(_special_tokens(tokenizer))
        end = tokenizer.eos_token
        rust.post_processor = processors.TemplateProcessing(
            single=f"$A {end}", pair=f"$A {end} $B {end}", special_tokens=[(end, self._end)]
        )
        super().__init__(rust)

    def tokenize(self, text: str, *, target: bool = False) -> Pieces:
        """Tokenize a text, without a final `</s>`, which the frame adds anyway."""
        found = super().tokenize(text)
        return found.take_first(len(found.ids) - 1) if found.ids[-1:] == (self._end,) else found


def lines_as_tokens(tokenizer: Any) -> RustBackend:
    """Return ESM's backend, whose vocabulary has one entry per line of a file.

    A token is an amino acid, or six letters of DNA, with or without spaces between them; the longest match wins, and
    text without a match is unknown. If the vocabulary has no token that ends a text, the tokenizer reads no pairs.
    """
    vocabulary: dict[str, int] = tokenizer.get_vocab()
    longest_first = "|".join(map(re.escape, sorted(vocabulary, key=len, reverse=True)))
    rust = Tokenizer(models.WordLevel(vocabulary, unk_token=tokenizer.unk_token))
    rust.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(longest_first), "isolated"), pre_tokenizers.WhitespaceSplit()]
    )
    rust.add_special_tokens(_special_tokens(tokenizer))
    begin, end = [tokenizer.cls_token], [tokenizer.eos_token] if tokenizer.eos_token else []
    rust.post_processor = processors.TemplateProcessing(
        single=[*begin, "$A", *end], pair=[*begin, "$A", *end, "$B", *end],
        special_tokens=[(name, vocabulary[name]) for name in (*begin, *end)],
    )  # fmt: skip
    return RustBackend(rust, parts_pairs=bool(end))


def _special_tokens(tokenizer: Any) -> list[AddedToken]:
    """Return the tokens that are searched for in a text before it is tokenized, with their flags, sorted by id."""
    return [token for _, token in sorted(tokenizer.added_tokens_decoder.items())]


def backend_of(tokenizer: Any) -> Backend:
    """Return a tokenizer's backend. Raises ModelError for a Python-only tokenizer that gives no offsets."""
    if getattr(tokenizer, "is_fast", False):
        return RustBackend(tokenizer.backend_tokenizer)
    name = type(tokenizer).__name__
    if name not in IN_PYTHON:
        raise ModelError(
            f"transformers has {name} only in Python, which does not say which characters a token "
            "stands for, and attnviz does not read its files. Please put a tokenizer.json into its "
            "folder (the tokenizers library writes one), or use the weights that transformers "
            "returns, with their tokens (“Your own tensors” on Heads, or attnviz.from_tensors)."
        )
    return IN_PYTHON[name](tokenizer)


def _marian(tokenizer: Any) -> Backend:
    target = tokenizer.target_encoder if tokenizer.separate_vocabs else tokenizer.encoder
    source = PieceSide(tokenizer.spm_source, tokenizer.encoder)
    return PieceBackend(tokenizer, source, PieceSide(tokenizer.spm_target, target), codes=True)


def _m2m_100(tokenizer: Any) -> Backend:
    side = PieceSide(tokenizer.sp_model, tokenizer.encoder | tokenizer.lang_token_to_id)
    return PieceBackend(tokenizer, side, side)


def _sentencepiece(tokenizer: Any) -> Backend:
    """Return the backend of a sentencepiece file whose piece numbers are the ids."""
    cut = tokenizer.sp_model
    side = PieceSide(cut, {cut.id_to_piece(id_): id_ for id_ in range(len(cut))})
    return PieceBackend(tokenizer, side, side)


IN_PYTHON: dict[str, Callable[[Any], Backend]] = {
    "BertGenerationTokenizer": _sentencepiece,
    "MarianTokenizer": _marian,
    "M2M100Tokenizer": _m2m_100,
    "ByT5Tokenizer": ByteBackend,
    "EsmTokenizer": lines_as_tokens,
}
