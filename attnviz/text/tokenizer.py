"""Convert the translator's sentences to ids and back, with character offsets, using a `tokenizers` BPE vocabulary.

This file uses no model. English is lowercased only for encoding, every Chinese character is a token, and a target
starts with a token for its language: `<bos:fr>`, `<bos:zh>`, …
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tokenizers import Regex, Tokenizer, normalizers, pre_tokenizers

from attnviz.guards import plain_file
from attnviz.text.limits import (
    MAX_TOKENIZER_BYTES,
    MAX_TOKENS,
    TextError,
    catch_panics,
    cut_to_limit,
    replace_surrogates,
)
from attnviz.text.tokens import Token

PAD, UNK, EOS = "<pad>", "<unk>", "<eos>"
UNSPACED = frozenset({"zh"})  # languages written without spaces between words
_SPACE_BEFORE, _NO_SPACE = re.compile(r"[^\S\x1c-\x1f]*"), re.compile(r"\S*")
WORD_START = "\u2581"
_ALONE = Regex(rf"\p{{Han}}|{WORD_START}?(?:\p{{P}}|\p{{N}}|\p{{Sc}}|\p{{Sm}})")
# The piece after an apostrophe inside or after a word begins a word: "l'animal" is split into l, ' and the same piece
# "animal" as in other sentences. The WORD_START of that piece then marks no space in the text.
_ELISION = r"(?<=\p{L})'(?=[\p{L} ])"
_QUOTES = {"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"'}


def pipeline(
    *, lowercase: bool, spaced: bool, elision: bool = False
) -> tuple[normalizers.Sequence, pre_tokenizers.Sequence]:
    """Build the normalizer and pre-tokenizer that run before BPE, for building a vocabulary and for encoding.

    With `elision`, the word after an apostrophe is split off as a word.
    """
    clean = [normalizers.NFC(), *(normalizers.Replace(old, new) for old, new in _QUOTES.items())]
    clean += [normalizers.Replace(Regex(r"\s+"), " "), normalizers.Strip()]
    clean += [normalizers.Lowercase()] if lowercase else []
    clean += [normalizers.Replace(Regex(_ELISION), "' ")] if elision else []
    space = pre_tokenizers.Metaspace(WORD_START, prepend_scheme="always" if spaced else "never")
    return normalizers.Sequence(clean), pre_tokenizers.Sequence([space, pre_tokenizers.Split(_ALONE, "isolated")])


def elides(tokenizer_json: str) -> bool:
    """Check whether the vocabulary was built from text that was split at elisions such as "l'animal"."""
    clean = (json.loads(tokenizer_json).get("normalizer") or {}).get("normalizers", ())
    return any(step.get("pattern") == {"Regex": _ELISION} for step in clean)


def variant(tokenizer_json: str, *, lowercase: bool, spaced: bool, elision: bool = False) -> Tokenizer:
    """Load a saved vocabulary with the normalizer and pre-tokenizer of these options.

    Raises TextError if the file is not a BPE tokenizer.
    """
    try:
        content = json.loads(tokenizer_json)
        if content["model"]["type"] != "BPE":
            raise ValueError("not BPE")
        # Special tokens stay in the vocabulary, but are not searched for in text: a typed "<eos>" is five characters.
        content["added_tokens"] = []
        tokenizer = Tokenizer.from_str(json.dumps(content))
    except Exception as error:  # the library raises bare Exception for a broken file
        raise TextError(f"tokenizer.json is not a BPE tokenizer that can be read ({error}).") from error
    tokenizer.normalizer, tokenizer.pre_tokenizer = pipeline(lowercase=lowercase, spaced=spaced, elision=elision)
    return tokenizer


def bos(language: str) -> str:
    """Return the name of the token that starts a target in a language."""
    return f"<bos:{language}>"


@dataclass(frozen=True)
class Encoded:
    """The ids and tokens of a sentence, in the same order, with notes about text that was cut off."""

    ids: tuple[int, ...]
    tokens: tuple[Token, ...]
    notes: tuple[str, ...] = ()


class TranslatorTokenizer:
    """One vocabulary with three ways to encode: English source, target with spaces, and target without spaces."""

    @catch_panics()
    def __init__(self, tokenizer_json: str) -> None:
        self._json = tokenizer_json
        self._source = variant(tokenizer_json, lowercase=True, spaced=True)
        self._elision = elides(tokenizer_json)
        self._spaced = variant(tokenizer_json, lowercase=False, spaced=True, elision=self._elision)
        self._unspaced = variant(tokenizer_json, lowercase=False, spaced=False)
        vocabulary = self._source.get_vocab()
        if missing := [name for name in (PAD, UNK, EOS) if name not in vocabulary]:
            raise TextError(f"The tokenizer has no {', '.join(missing)} token: it was not made by attnviz.training.")
        self.vocab_size = self._source.get_vocab_size()
        self.pad_id, self.unk_id, self.eos_id = (vocabulary[name] for name in (PAD, UNK, EOS))
        self.bos_ids = {name[5:-1]: id_ for name, id_ in vocabulary.items() if name.startswith("<bos:")}
        self.special_ids = frozenset({self.pad_id, self.unk_id, self.eos_id, *self.bos_ids.values()})
        self.never_generated = tuple(sorted(self.special_ids - {self.eos_id}))
        self._pieces = {id_: piece for piece, id_ in vocabulary.items()}

    @classmethod
    def load(cls, path: Path) -> "TranslatorTokenizer":
        """Load a `tokenizer.json`. Raises TextError if it is missing, too large or not a tokenizer."""
        if not path.is_file():
            raise TextError(f"There is no tokenizer at {path.name}: a model folder holds tokenizer.json.")
        if path.stat().st_size > MAX_TOKENIZER_BYTES:
            raise TextError(
                f"{path.name} is {path.stat().st_size / 1e6:.0f} MB; tokenizers up to "
                f"{MAX_TOKENIZER_BYTES / 1e6:.0f} MB are read."
            )
        try:
            return cls(plain_file.content(path, most=MAX_TOKENIZER_BYTES).decode("utf-8"))
        except UnicodeDecodeError as error:
            raise TextError(f"{path.name} is not a tokenizer: it is not UTF-8 text.") from error
        except OSError as error:
            raise TextError(f"{path.name} cannot be read.") from error

    def save(self, path: Path) -> None:
        """Write the vocabulary as `tokenizer.json`."""
        path.write_text(self._json, encoding="utf-8")

    @property
    def languages(self) -> tuple[str, ...]:
        """Target languages, ordered by the ids of their first tokens."""
        return tuple(sorted(self.bos_ids, key=self.bos_ids.__getitem__))

    @property
    def pieces(self) -> tuple[str, ...]:
        """Every piece of the vocabulary, ordered by id, including special tokens."""
        return tuple(self._pieces[id_] for id_ in range(self.vocab_size))

    @property
    def merges(self) -> tuple[tuple[str, str], ...]:
        """The BPE merges: pairs of pieces that are joined, in the order in which BPE applies them."""
        return tuple((first, second) for first, second in json.loads(self._json)["model"]["merges"])

    @catch_panics()
    def spell(self, piece: str) -> tuple[int, ...]:
        """Encode a piece of another vocabulary as ids of this one: one id if the piece is known, otherwise several.

        An unknown special token gives no ids. Characters without a piece become `<unk>`.
        """
        if (known := self._source.token_to_id(piece)) is not None:
            return (known,)
        if piece.startswith("<") and piece.endswith(">") and len(piece) > 2:
            return ()
        return tuple(token.id for token in self._source.model.tokenize(piece))

    def encode_source(self, text: str) -> Encoded:
        """Encode an English sentence as its pieces and `<eos>`."""
        return self._encode_sentence(self._source, (), text)

    def encode_target(self, text: str, to: str) -> Encoded:
        """Encode a sentence as `<bos:to>`, its pieces and `<eos>`. Raises TextError for an unknown language `to`."""
        first = self._special_token(self.bos_id(to), 0)
        return self._encode_sentence(self._unspaced if to in UNSPACED else self._spaced, (first,), text)

    def source_ids(self, texts: Sequence[str]) -> list[tuple[int, ...]]:
        """Encode many sentences like `encode_source`, but return ids only, because making tokens takes most of the
        time.
        """
        return self._encode_many(self._source, (), texts)

    def target_ids(self, texts: Sequence[str], to: str) -> list[tuple[int, ...]]:
        """Encode many sentences like `encode_target`, but return ids only."""
        return self._encode_many(self._unspaced if to in UNSPACED else self._spaced, (self.bos_id(to),), texts)

    def bos_id(self, to: str) -> int:
        """Return the id of a language's first token. Raises TextError if the vocabulary does not have the language."""
        if to not in self.bos_ids:
            raise TextError(f"This model does not write {to!r}; it writes {', '.join(self.languages)}.")
        return self.bos_ids[to]

    def text(self, ids: list[int] | tuple[int, ...]) -> str:
        """Decode generated ids to a sentence without special tokens."""
        return "".join(token.text for token in self._tokens_of_ids(ids, keep_spaces=True)).strip()

    def tokens(self, ids: list[int] | tuple[int, ...]) -> tuple[Token, ...]:
        """Return the tokens of generated ids, with character offsets into `text(ids)`."""
        return self._tokens_of_ids(ids, keep_spaces=False)

    def _tokens_of_ids(self, ids: list[int] | tuple[int, ...], *, keep_spaces: bool) -> tuple[Token, ...]:
        tokens, end = [], 0
        for id_ in ids:
            if id_ in self.special_ids:
                tokens.append(self._special_token(id_, end) if not keep_spaces else Token("", id_, end, end, True))
                continue
            starts_word = end == 0 or self._pieces[id_].startswith(WORD_START)
            piece = self._pieces[id_].replace(WORD_START, " ")
            piece = (
                piece.lstrip() if end == 0 else piece[1:] if starts_word and self._follows_elision(tokens) else piece
            )
            end += len(piece)
            shown = piece if keep_spaces else piece.lstrip()
            tokens.append(self._token(shown, id_, (end - len(shown), end), starts_word=starts_word))
        return tuple(tokens)

    def _follows_elision(self, tokens: list[Token]) -> bool:
        """Check whether the next piece follows an apostrophe that follows a letter."""
        if not self._elision or len(tokens) < 2 or tokens[-1].starts_word:
            return False
        return tokens[-1].text == "'" and tokens[-2].text[-1:].isalpha()

    @catch_panics()
    def _encode(self, tokenizer: Tokenizer, text: str) -> tuple[Token, ...]:
        encoding = tokenizer.encode(replace_surrogates(text), add_special_tokens=False)
        tokens: list[Token] = []
        for place, (id_, piece) in enumerate(zip(encoding.ids, encoding.tokens, strict=True)):
            start, end = _span(text, encoding.offsets, place)
            if tokens and piece.startswith(WORD_START):
                start = max(start, tokens[-1].end)  # after an apostrophe, the piece's offsets include the apostrophe
            if piece == WORD_START and text[start:end] != WORD_START:
                end = start  # a lone WORD_START covers no character, although its offsets cover the word's first
            starts_word = piece.startswith(WORD_START) or not tokens or tokens[-1].text == ""
            tokens.append(self._token(text[start:end], id_, (start, end), starts_word=starts_word))
        return tuple(tokens)

    def _encode_sentence(self, tokenizer: Tokenizer, first: tuple[Token, ...], typed: str) -> Encoded:
        """Truncate a sentence to the limits on characters and tokens, encode it, and append `<eos>`."""
        text, note = cut_to_limit(typed)
        pieces = self._encode(tokenizer, text)
        room = MAX_TOKENS - len(first) - 1
        notes = () if note is None else (note,)
        if len(pieces) > room:
            notes += (f"Only the first {room} of {len(pieces):,} tokens were kept.",)
        tokens = (*first, *pieces[:room])
        tokens = (*tokens, self._special_token(self.eos_id, tokens[-1].end if tokens else 0))
        return Encoded(tuple(token.id for token in tokens), tokens, notes)

    @catch_panics()
    def _encode_many(self, tokenizer: Tokenizer, first: tuple[int, ...], typed: Sequence[str]) -> list[tuple[int, ...]]:
        room = MAX_TOKENS - len(first) - 1
        texts = [replace_surrogates(cut_to_limit(text)[0]) for text in typed]
        encodings = tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        return [(*first, *encoding.ids[:room], self.eos_id) for encoding in encodings]

    def padding(self, at: int) -> Token:
        """Return a `<pad>` token whose position in the text is after `at` characters."""
        return self._special_token(self.pad_id, at)

    def _special_token(self, id_: int, at: int) -> Token:
        return Token(self._pieces[id_], id_, at, at, is_special=True, piece=self._pieces[id_])

    def _token(self, text: str, id_: int, span: tuple[int, int], *, starts_word: bool) -> Token:
        return Token(text, id_, *span, starts_word=starts_word, piece=self._pieces[id_], is_unknown=id_ == self.unk_id)


def _span(text: str, offsets: list[tuple[int, int]], place: int) -> tuple[int, int]:
    """Return a piece's span in the text: without the space before it, with any combining characters after it."""
    start, end = offsets[place]
    start += len(_SPACE_BEFORE.match(text[start:end])[0])  # type: ignore[index]  # the pattern also matches an empty text
    until = offsets[place + 1][0] if place + 1 < len(offsets) else len(text)
    return start, end + len(_NO_SPACE.match(text[end:until])[0])  # type: ignore[index]
