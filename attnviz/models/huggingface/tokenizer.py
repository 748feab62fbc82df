"""Sentences to a checkpoint's own tokens and back, with character offsets.

The tokenizer's backend is used as it is, without the wrapper around it: the wrapper switches cutting and padding on and
off in the backend that all visitors share. Nothing here changes the backend after loading.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tokenizers import Encoding

from attnviz.models.huggingface.errors import ModelError
from attnviz.text.limits import MAX_CHARACTERS, TextError, capped, without_surrogates
from attnviz.text.tokens import Token

_PROBE = ("The quick brown fox jumps over the lazy dog.", "It sleeps on.")
_UNFINISHED = "\ufffd"  # what a decoder writes for bytes that do not make a character yet
MOST_TOKENS = 1_024  # of a text, if nobody says otherwise: every head of twelve layers can still be drawn
_CHARACTERS_A_TOKEN = 8  # more than any language needs, so that cut characters never cost kept tokens


@dataclass(frozen=True)
class EncodedText:
    """Tokens side by side; their offsets count in `text`, where a pair's sentences are joined by a space.

    `notes` say what was cut of the text, or of a pair's first sentence, `pair_notes` what of the second.
    """

    tokens: tuple[Token, ...]
    text: str
    notes: tuple[str, ...] = ()
    pair_notes: tuple[str, ...] = ()

    @property
    def ids(self) -> tuple[int, ...]:
        """The ids alone."""
        return tuple(token.id for token in self.tokens)

    @property
    def segments(self) -> tuple[int, ...]:
        """1 for tokens of a pair's second sentence, the special token that closes it included; 0 before."""
        return tuple(token.segment for token in self.tokens)


class CheckpointTokenizer:
    """A checkpoint's tokenizer. `max_tokens` is what the model has positions for, `known` how many ids it knows,
    `takes_pairs` whether it reads two sentences at once, as encoders do.
    """

    def __init__(self, tokenizer: Any, *, max_tokens: int, known: int = 10**9, takes_pairs: bool = True) -> None:
        if not getattr(tokenizer, "is_fast", False):
            raise ModelError("The model's tokenizer gives no character offsets: its folder needs a tokenizer.json.")
        self._tokenizer, self._backend = tokenizer, tokenizer.backend_tokenizer
        self.max_tokens = max(1, min(max_tokens, int(min(tokenizer.model_max_length, 10**9))))
        # [MASK] and <unk> stand for words of the sentence: hiding special tokens must not hide them. But GPT-2's
        # <unk> is the very token that ends its texts.
        ends = {getattr(tokenizer, f"{name}_token_id", None) for name in ("bos", "eos", "pad", "cls", "sep")}
        kept = {tokenizer.unk_token_id, getattr(tokenizer, "mask_token_id", None)} - ends
        self.special_ids = frozenset(tokenizer.all_special_ids) - kept
        self.pad_id = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else 0
        self.vocab_size, self.known = len(tokenizer), known
        self._backend.no_truncation()
        self._backend.no_padding()
        # Where padding is another token put to use, padded positions still have a name of their own.
        shared = tokenizer.pad_token is None or tokenizer.pad_token == tokenizer.eos_token
        self.pad_name = "<pad>" if shared else str(tokenizer.pad_token)
        self._check_backend()
        # One that is said to give a model none does not, whatever its file has for the second sentence.
        said = tokenizer.init_kwargs.get("model_input_names")
        has_segments = takes_pairs and (said is None or "token_type_ids" in said)
        self.marks_segments = has_segments and self._marks_segments()

    def _check_backend(self) -> None:
        """Raises ModelError where the tokenizer is not what its backend alone says."""
        alone = self._tokenizer(_PROBE[0])["input_ids"]
        if self._tokenizer.model_max_length >= len(alone) <= self.max_tokens and self._encoded(_PROBE[0]).ids != tuple(
            alone
        ):
            raise ModelError("The model's tokenizer does more than its tokenizer.json says: attnviz cannot follow it.")

    def _marks_segments(self) -> bool:
        """Whether a pair's second sentence is marked for the model's segment embeddings.

        Asked of encoders only: what decoders publish for pairs is never used, and Llama's numbers the second `<s>` with
        the sentence after it. Raises ModelError where the marks are others than the sentences.
        """
        pair = self._encoded(*_PROBE)
        marked = tuple(self._backend.encode(*_PROBE).type_ids)[: len(pair.tokens)]
        if any(marked) and marked != pair.segments:
            raise ModelError("The model's tokenizer marks the sentences of a pair in a way that attnviz does not know.")
        return any(marked)

    def probe(self) -> tuple[EncodedText, EncodedText]:
        """Two sentences of different lengths, for comparing models."""
        return self._encoded(_PROBE[0]), self._encoded(_PROBE[1])

    def encode(self, text: str, pair: str | None = None, *, limit: int = MOST_TOKENS) -> EncodedText:
        """A sentence, or a pair of them, to tokens; a pair's second sentence is segment 1.

        Raises TextError when there is no room for the special tokens, and for a token that the model does not know.
        """
        encoded = self._encoded(text, pair, limit)
        if strange := next((token for token in encoded.tokens if token.id >= self.known), None):
            raise TextError(
                f"The tokenizer reads “{strange.text}” as id {strange.id:,}, but the model knows only {self.known:,} "
                "tokens: leave it out of the sentence."
            )
        return encoded

    def _encoded(self, text: str, pair: str | None = None, limit: int = MOST_TOKENS) -> EncodedText:
        limit = min(limit, self.max_tokens)
        room = limit - self._backend.num_special_tokens_to_add(pair is not None)
        if room < 1:
            raise TextError(f"{limit} tokens leave no room for a sentence beside the model's special tokens.")
        most = max(MAX_CHARACTERS, limit * _CHARACTERS_A_TOKEN)
        cut = [capped(without_surrogates(each), most) for each in ((text,) if pair is None else (text, pair))]
        texts = [each for each, _ in cut]
        pieces = [self._backend.encode(each, add_special_tokens=False) for each in texts]
        found = zip((note for _, note in cut), _cut(pieces, room), strict=True)
        notes = [tuple(note for note in both if note is not None) for both in found]
        whole: Encoding = self._backend.post_process(pieces[0], pieces[1] if len(pieces) > 1 else None, True)
        return EncodedText(self._tokens(whole, texts), " ".join(texts), *notes)

    def pad(self, encoded: EncodedText, length: int) -> EncodedText:
        """The same with `<pad>` tokens at its end."""
        missing, end = length - len(encoded.tokens), len(encoded.text)
        return replace(encoded, tokens=encoded.tokens + (self.padding(end),) * missing)

    def is_pad(self, token: Token) -> bool:
        """Whether a token is there only because a longer sentence stands in the same batch."""
        return token.id == self.pad_id and token == self.padding(token.start)

    def padding(self, at: int = 0) -> Token:
        """A `<pad>` after `at` characters of a text."""
        return Token(self.pad_name, self.pad_id, at, at, is_special=True)

    def special(self, id_: int, at: int = 0) -> Token:
        """A token that stands for no text, named."""
        return Token(self._tokenizer.convert_ids_to_tokens(id_) or f"<{id_}>", id_, at, at, is_special=True)

    def continued(self, before: EncodedText, ids: Iterable[int], *, segment: int = 0) -> EncodedText:
        """`before` with generated ids after it, their text and offsets included."""
        tokens, text, written = list(before.tokens), before.text, list(before.ids)
        decoded = self._finished(before)
        for id_ in ids:
            written.append(id_)
            longer = self._decoded(written)
            piece = longer[len(decoded) :] if longer.startswith(decoded) else self._decoded([id_])
            unfinished = longer.endswith(_UNFINISHED) and id_ not in self.special_ids
            if id_ in self.special_ids:
                tokens.append(replace(self.special(id_, len(text)), segment=segment))
                continue
            piece = "" if unfinished else piece
            decoded = decoded if unfinished else longer
            start, text = len(text), text + piece
            token = _token(text, id_, (start, len(text)), segment)
            # Bytes of one character are several tokens: the last shows it, and the others begin nothing.
            tokens.append(replace(token, starts_word=False) if unfinished else token)
        return EncodedText(tuple(tokens), text, before.notes)

    def _finished(self, before: EncodedText) -> str:
        """What the tokens say, less bytes at their end that wait for the rest of their character."""
        if not (decoded := self._decoded(before.ids)).endswith(_UNFINISHED):
            return decoded
        shown = [index for index, token in enumerate(before.tokens, start=1) if token.text and not token.is_special]
        return self._decoded(before.ids[: max(shown, default=0)])

    def _decoded(self, ids: Sequence[int]) -> str:
        return self._backend.decode(list(ids), skip_special_tokens=True)

    def _tokens(self, whole: Encoding, texts: list[str]) -> tuple[Token, ...]:
        text, begins = " ".join(texts), (0, len(texts[0]) + 1)
        tokens: list[Token] = []
        end = segment = 0
        rows = zip(whole.ids, whole.offsets, whole.sequence_ids, whole.special_tokens_mask, strict=True)
        for id_, (first, last), sequence, added in rows:
            if sequence and not segment:
                segment, end = 1, begins[1]
            if added:
                tokens.append(replace(self.special(id_, end), segment=segment))
                continue
            start, before = max(first + begins[segment], end), end
            end = max(last + begins[segment], start)
            token = _token(text, id_, (start, end), segment, is_special=id_ in self.special_ids)
            # Bytes of one character are several tokens: the first shows it, and the others begin nothing.
            is_rest = start == end and first + begins[segment] < before
            tokens.append(replace(token, starts_word=False) if is_rest else token)
        return tuple(tokens)


def _token(text: str, id_: int, span: tuple[int, int], segment: int, *, is_special: bool = False) -> Token:
    """A token of `text`, without the space before it; one that shares its characters with the last is empty."""
    start, end = span
    while start < end and text[start].isspace():
        start += 1
    starts_word = start == 0 or text[start - 1].isspace() or (start == end and text[start : start + 1].isspace())
    return Token(text[start:end], id_, start, end, is_special=is_special, starts_word=starts_word, segment=segment)


def _cut(pieces: list[Encoding], room: int) -> list[str | None]:
    """Shorten whichever is longer until they fit; for each a sentence that says what was cut (None: nothing)."""
    found = [len(piece.ids) for piece in pieces]
    lengths = list(found)
    while sum(lengths) > room:
        lengths[lengths.index(max(lengths))] -= 1
    for piece, length in zip(pieces, lengths, strict=True):
        piece.truncate(length)
    return [
        f"Only the first {kept:,} of {there:,} tokens were kept." if kept < there else None
        for kept, there in zip(lengths, found, strict=True)
    ]
