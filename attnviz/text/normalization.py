"""Cleaning and cutting of text before BPE, when a vocabulary is built and when a sentence is encoded."""

import json

from tokenizers import Regex, Tokenizer, normalizers, pre_tokenizers

from attnviz.text.limits import TextError

WORD_START = "\u2581"
_ALONE = Regex(rf"\p{{Han}}|{WORD_START}?(?:\p{{P}}|\p{{N}}|\p{{Sc}}|\p{{Sm}})")
# After an apostrophe inside or behind a word the next piece begins a word ("l'animal" is read as l ' animal, with the
# animal that also stands alone); its WORD_START then stands for no space.
_ELISION = r"(?<=\p{L})'(?=[\p{L} ])"
_QUOTES = {"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"'}


def pipeline(
    *, lowercase: bool, spaced: bool, elision: bool = False
) -> tuple[normalizers.Sequence, pre_tokenizers.Sequence]:
    """Make the steps that clean and cut text before BPE, for building a vocabulary and for encoding.

    With `elision`, the word behind an apostrophe is cut as a word of its own.
    """
    clean = [normalizers.NFC(), *(normalizers.Replace(old, new) for old, new in _QUOTES.items())]
    clean += [normalizers.Replace(Regex(r"\s+"), " "), normalizers.Strip()]
    clean += [normalizers.Lowercase()] if lowercase else []
    clean += [normalizers.Replace(Regex(_ELISION), "' ")] if elision else []
    space = pre_tokenizers.Metaspace(WORD_START, prepend_scheme="always" if spaced else "never")
    return normalizers.Sequence(clean), pre_tokenizers.Sequence([space, pre_tokenizers.Split(_ALONE, "isolated")])


def elides(tokenizer_json: str) -> bool:
    """Check whether the vocabulary was built of text whose elisions were cut."""
    clean = (json.loads(tokenizer_json).get("normalizer") or {}).get("normalizers", ())
    return any(step.get("pattern") == {"Regex": _ELISION} for step in clean)


def variant(tokenizer_json: str, *, lowercase: bool, spaced: bool, elision: bool = False) -> Tokenizer:
    """Load a saved vocabulary that reads text by one of the pipelines. Raises TextError for a broken one."""
    try:
        content = json.loads(tokenizer_json)
        if content["model"]["type"] != "BPE":
            raise ValueError("not BPE")
        # Special tokens stay in the vocabulary, but are not looked for in text: a typed "<eos>" is five characters.
        content["added_tokens"] = []
        tokenizer = Tokenizer.from_str(json.dumps(content))
    except Exception as error:  # the library raises bare Exception for a broken file
        raise TextError(f"tokenizer.json is not a BPE tokenizer that can be read ({error}).") from error
    tokenizer.normalizer, tokenizer.pre_tokenizer = pipeline(lowercase=lowercase, spaced=spaced, elision=elision)
    return tokenizer
