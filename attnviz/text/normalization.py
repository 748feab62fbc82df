"""Text clean-up and pre-tokenization before BPE, shared by building a vocabulary and encoding a sentence."""

import json

from tokenizers import Regex, Tokenizer, normalizers, pre_tokenizers

from attnviz.text.limits import TextError

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
