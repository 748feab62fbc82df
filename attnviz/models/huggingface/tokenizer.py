"""Encode sentences with a checkpoint's tokenizer, with character offsets, and decode them. Nothing changes after
loading.
"""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from attnviz.models.huggingface.errors import ModelError
from attnviz.models.huggingface.tokenization.backend import FIRST, Frame, cut_to_fit, specials_in
from attnviz.models.huggingface.tokenization.backends import backend_of
from attnviz.models.huggingface.tokenization.languages import Languages, languages_of
from attnviz.models.huggingface.tokenization.spelling import EncodedText, Spelling
from attnviz.text.limits import (
    MAX_CHARACTERS,
    MOST_TOKENS,
    TextError,
    catch_panics,
    cut_to_limit,
    replace_surrogates,
    require_text,
)

_PROBE = ("The quick brown fox jumps over the lazy dog.", "It sleeps on.")
_STRANGE = " a  \u00e9e\u0301\n\ufb01 \u732b\U0001f469\u200d\U0001f467 12"  # kept or changed, by tokenizer
_CHARACTERS_A_TOKEN = 8  # more than in any language, so that characters are cut only beyond the limit of tokens


def _special_ids(tokenizer: Any) -> frozenset[int]:
    """Return the ids of special tokens, both named ones and those only flagged as special, like the turn marks of a
    chat.

    Decoding leaves out both.
    """
    flagged = (id_ for id_, token in tokenizer.added_tokens_decoder.items() if token.special)
    return frozenset((*tokenizer.all_special_ids, *flagged))


class CheckpointTokenizer(Spelling):
    """A checkpoint's tokenizer.

    `max_tokens` is the model's number of positions, `known` the number of ids that it knows, and `takes_pairs` says
    whether it reads two sentences at once, as encoders do.
    """

    @catch_panics()
    def __init__(self, tokenizer: Any, *, max_tokens: int, known: int = 10**9, takes_pairs: bool = True) -> None:
        self._tokenizer, self._backend = tokenizer, backend_of(tokenizer)
        self.max_tokens = max(1, min(max_tokens, int(min(tokenizer.model_max_length, 10**9))))
        # [MASK] and <unk> stand for words of the sentence, so hiding special tokens must not hide them. But GPT-2's
        # <unk> is the same token that ends its texts.
        ends = {getattr(tokenizer, f"{name}_token_id", None) for name in ("bos", "eos", "pad", "cls", "sep")}
        kept = {tokenizer.unk_token_id, getattr(tokenizer, "mask_token_id", None)} - ends
        self.unknown_id = tokenizer.unk_token_id if tokenizer.unk_token_id in kept else None
        self.special_ids = _special_ids(tokenizer) - kept
        self.pad_id = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else 0
        self.vocab_size, self.known = len(tokenizer), known
        # If padding uses another special token, padded positions still have a different name.
        shared = tokenizer.pad_token is None or tokenizer.pad_token == tokenizer.eos_token
        self.pad_name = "<pad>" if shared else str(tokenizer.pad_token)
        self.languages: Languages = languages_of(tokenizer)
        self._frames = {pair: self._backend.frame(pair=pair) for pair in (False, *([True] if takes_pairs else []))}
        self._check_backend()
        # A tokenizer whose input names lack token_type_ids marks no segments, whatever its file says about pairs.
        said = tokenizer.init_kwargs.get("model_input_names")
        has_segments = bool(self._frames.get(True)) and (said is None or "token_type_ids" in said)
        self.marks_segments = has_segments and self._marks_segments()

    def warn_of_surplus(self) -> None:
        """Warn if the tokenizer has pieces for which the model has no embedding; texts without them can be read."""
        if self.vocab_size <= self.known:
            return
        beyond = sum(id_ >= self.known for id_ in self._tokenizer.get_vocab().values())
        if beyond:
            warnings.warn(
                f"The tokenizer has {self.vocab_size:,} pieces, but the model has embeddings for only "
                f"{self.known:,} ids. A text that contains one of the other {beyond:,} pieces is "
                "refused.",
                stacklevel=3,
            )

    def _check_backend(self) -> None:
        """Raise ModelError if the tokenizer differs from its backend, or adds its unknown token to texts.

        The latter happens if transformers reads NLLB's sentencepiece file, which does not contain the languages.
        """
        if self._tokenizer.unk_token_id in set(self._frames[False]) - self.special_ids:
            raise ModelError(
                "The tokenizer puts its unknown token around each text, because its files do not contain the language. "
                "Its folder needs a tokenizer.json."
            )
        for text in (_PROBE[0], _STRANGE):
            alone = tuple(self._tokenizer(text)["input_ids"])
            if len(alone) <= self.max_tokens and self._encode((text,), self.frame).ids != alone:
                raise ModelError("The model's tokenizer does not do what its files say, so attnviz cannot use it.")

    def _marks_segments(self) -> bool:
        """Check whether a pair's second sentence is marked for the model's segment embeddings.

        This is used only for encoders: the pair templates of decoders are never used, and Llama's assigns the second
        `<s>` to the sentence after it. Raises ModelError if the marks do not match the sentences.
        """
        pair = self._encode(_PROBE, self._frames[True])
        marked = self._backend.type_ids(*_PROBE)[: len(pair.tokens)]
        if any(marked) and marked != pair.segments:
            raise ModelError("The model's tokenizer marks the sentences of a pair in a way that attnviz does not know.")
        return any(marked)

    @property
    def frame(self) -> Frame:
        """The special tokens around a text."""
        return self._frames[False]

    def probe(self) -> tuple[EncodedText, EncodedText]:
        """Encode two sentences of different lengths, for comparing models."""
        long, short = (self._encode((text,), self._frames[False]) for text in _PROBE)
        return long, short

    def encode(self, text: str, pair: str | None = None, *, to: str = "", limit: int = MOST_TOKENS) -> EncodedText:
        """Encode a sentence or a pair; a pair's second sentence is segment 1.

        A language mark before the text (`>>fra_Latn<<`, for a multilingual model) is removed, and takes precedence over
        `to`. Raises TextError if there is no room for the special tokens, for a token that the model does not know, and
        for an unknown language.
        """
        text = self.languages.add_mark(text, to)
        taken, source, target = self.languages.read(text, to)
        if taken:
            require_text(text[taken:])
        if pair is not None and not self._frames.get(True):
            raise TextError(
                "This model can read only one text, because its tokenizer has no token that separates two texts."
            )
        frame = self.languages.source_frame(self._frames[pair is not None], source)
        encoded = self._encode((text[taken:],) if pair is None else (text, pair), frame, limit)
        return replace(self._check(encoded), language=target)

    def most_characters(self, limit: int) -> int:
        """Return how many characters of a text to tokenize, so that a very long text does not take too long.

        They are more than `limit` tokens, and more than all the model's positions, can cover.
        """
        return max(MAX_CHARACTERS, min(limit, self.max_tokens) * _CHARACTERS_A_TOKEN)

    @property
    def tokenizer(self) -> Any:
        """transformers' own tokenizer, which holds the chat template."""
        return self._tokenizer

    def encode_rendered(self, text: str, *, limit: int) -> EncodedText:
        """Encode the text from a chat template, which already contains the special tokens.

        Raises TextError for more than `limit` tokens, for more tokens than the model has positions, and for a token
        that the model does not know.
        """
        pieces, most = self._backend.tokenize(text), min(limit, self.max_tokens)
        if len(pieces.ids) > most:
            raise TextError(
                f"The conversation has {len(pieces.ids):,} tokens; at most {most:,} fit. Please shorten a turn."
            )
        return self._check(EncodedText(self._tokens((FIRST,), [pieces], [text]), text))

    def encode_target(self, text: str, language: int | None = None, *, limit: int = MOST_TOKENS) -> EncodedText:
        """Encode a target as an encoder-decoder saw it in training, without the token that starts every target.

        Raises TextError like `encode`.
        """
        frame = self.languages.target_frame(self._frames[False], language)
        return self._check(self._encode((text,), frame, limit, target=True))

    def _check(self, encoded: EncodedText) -> EncodedText:
        if strange := next((token for token in encoded.tokens if token.id >= self.known), None):
            raise TextError(
                f"The tokenizer reads “{strange.text}” as id {strange.id:,}, but the model knows only "
                f"{self.known:,} tokens. Please leave it out of the sentence."
            )
        return encoded

    def _encode(
        self, texts: Sequence[str], frame: Frame, limit: int = MOST_TOKENS, *, target: bool = False
    ) -> EncodedText:
        limit = min(limit, self.max_tokens)
        room = limit - specials_in(frame)
        if room < 1:
            raise TextError(
                f"With at most {limit} tokens, there is no room for a sentence in addition to the special "
                "tokens of the model."
            )
        cut = [cut_to_limit(replace_surrogates(each), self.most_characters(limit)) for each in texts]
        read = [each for each, _ in cut]
        kept, said = cut_to_fit(room, [self._backend.tokenize(each, target=target) for each in read])
        notes = [tuple(note for note in both if note) for both in zip((note for _, note in cut), said, strict=True)]
        return EncodedText(
            self._tokens(frame, kept, read), " ".join(read), notes[0], notes[1] if len(notes) > 1 else ()
        )
