"""Read the tokens that a user gives with weights, as the two sentences of a trace."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from torch import Tensor

from attnviz.text.limits import catch_panics
from attnviz.text.tokens import Token
from attnviz.tracing.external.outputs import require_item, shared_item
from attnviz.tracing.record import Sentence
from attnviz.transformer.probe import Kind

Tokens = Iterable[str | Token]
# Names of special tokens in common models; a `Token` has a flag for this instead.
_TAGS = "s /s bos eos pad unk mask cls sep |endoftext| |begin_of_text| |end_of_text| |im_start| |im_end|"
_BRACKETS = "CLS SEP PAD MASK UNK BOS EOS"
SPECIALS = frozenset({f"<{name}>" for name in _TAGS.split()} | {f"[{name}]" for name in _BRACKETS.split()})

# The side of self-attention's tokens while it is not known whether it is an encoder's or a decoder's.
OWN = "own"
_BEGIN = re.compile(r"<bos:[^<>]+>")  # how attnviz's translators begin a target, with its language


def sides(kind: str | None, tokens: Any, key_tokens: Any) -> dict[str, Any]:
    """Assign the tokens given for one kind of attention to source and target, or to `OWN` if the kind is unknown.

    Raises ValueError if the tokens do not fit the kind.
    """
    if kind == "cross":
        if key_tokens is None:
            raise ValueError("Cross-attention connects two sentences. Please pass both tokens and key_tokens.")
        return {"src": key_tokens, "tgt": tokens}
    tokens = try_list(tokens)
    if key_tokens is not None and try_list(key_tokens) != tokens:
        raise ValueError(
            f"In {kind} the keys are the tokens themselves. Please leave key_tokens out, or pass kind='cross'."
        )
    return {OWN if kind is None else "src" if kind == "encoder_self" else "tgt": tokens}


def sentence_of(weights: Mapping[Kind, Tensor], sides: Any) -> Sentence:
    """Build both sentences; the sentence is `cut` if every target token has a row.

    Raises ValueError if shapes and tokens disagree.
    """
    if not isinstance(sides, Mapping) or not sides.keys() <= {"src", "tgt"}:
        raise ValueError('If there are weights of several kinds, tokens must be a dictionary: {"src": …, "tgt": …}.')
    (src, src_text), (tgt, tgt_text) = (_read_side(side, sides.get(side, ())) for side in ("src", "tgt"))
    rows = {kind: tuple(attn.shape[-2:]) for kind, attn in weights.items()}
    decoder = {shape[0] for kind, shape in rows.items() if kind != "encoder_self"}
    if len(decoder) > 1:
        raise ValueError(
            "Decoder self-attention and cross-attention must have the same number of rows, but they "
            f"have {join_sorted(decoder)}."
        )
    steps = next(iter(decoder), len(tgt))
    if len(tgt) not in (steps, steps + 1):
        raise ValueError(
            f"There are {steps} decoder rows and {len(tgt)} target tokens. Please pass one token for each row."
        )
    expected = {
        "encoder_self": (len(src), len(src)),
        "decoder_self": (steps, steps),
        "cross": (steps, len(src)),
    }
    for kind, shape in rows.items():
        if shape != expected[kind]:
            raise ValueError(
                f"The maps of {kind} are {shape[0]} × {shape[1]} (q_len × k_len), "
                f"but the tokens ask for {expected[kind][0]} × {expected[kind][1]}."
            )
    return Sentence(src, tgt, src_text, tgt_text, cut=len(tgt) == steps)


def tokens_of(given: Any, tokenizer: Any, item: int | None, sequences: int = 1) -> Any:
    """Return tokens as texts or `Token`s: those of one batch item, with ids decoded by the tokenizer.

    A mapping from sides to tokens stays a mapping. If the batch is smaller than `sequences`, it holds the texts from
    which the sequences were generated. Raises ValueError, with a message of one sentence, for ids without a tokenizer
    or a wrong item.
    """
    if isinstance(given, Mapping) and "input_ids" in given:  # the output of a transformers tokenizer
        given = given["input_ids"]
    if isinstance(given, Mapping):
        sequences = max(sequences, *(batch_size(each) for each in given.values()), 1)
        return {side: tokens_of(each, tokenizer, item, sequences) for side, each in given.items()}
    values = _values(given)
    if not values:
        return given if values is None else values
    if isinstance(values[0], list | tuple):
        at = shared_item(item, len(values), sequences)
        values = values[require_item("The tokens' batch", len(values), "texts", at)]
    if not all(isinstance(token, int) for token in values):
        return values
    if tokenizer is None:
        raise ValueError("The tokens are ids. Please pass their tokenizer as tokenizer=….")
    return _read_ids(values, tokenizer)


def batch_size(given: Any) -> int:
    """Return the number of texts in the given tokens; 1 for the tokens of a single text."""
    if isinstance(given, Mapping):
        sizes = [batch_size(given["input_ids"])] if "input_ids" in given else map(batch_size, given.values())
        return max(sizes, default=1)
    values = _values(given) if hasattr(given, "tolist") or isinstance(given, list | tuple) else None
    return len(values) if values and isinstance(values[0], list | tuple) else 1


def _values(given: Any) -> list[Any] | None:
    return try_list(given.tolist() if hasattr(given, "tolist") else given)  # a tensor or an array


@catch_panics()
def _read_ids(ids: list[int], tokenizer: Any) -> list[Token]:
    if hasattr(tokenizer, "convert_ids_to_tokens"):
        flagged = getattr(tokenizer, "added_tokens_decoder", {})
        pieces = tokenizer.convert_ids_to_tokens(ids)
        specials = {*tokenizer.all_special_ids, *(id_ for id_, token in flagged.items() if token.special)}
    elif hasattr(tokenizer, "id_to_token"):
        pieces = [tokenizer.id_to_token(id_) for id_ in ids]
        added = tokenizer.get_added_tokens_decoder()
        specials = {id_ for id_, token in added.items() if token.special}
    else:
        raise ValueError(
            "The tokenizer is neither from transformers nor from the library tokenizers. Please pass "
            "the tokens as strings."
        )
    if None in pieces:
        raise ValueError(
            f"The tokenizer has no token with the id {ids[pieces.index(None)]}, so it probably belongs to "
            "another model. Please pass the tokenizer of the model."
        )
    tokens: list[Token] = []
    for id_, piece, starts_word in zip(ids, pieces, _word_starts(pieces), strict=True):
        text, at = _token_text(tokenizer, id_, piece, id_ in specials), tokens[-1].end if tokens else 0
        start = at + (starts_word and at > 0 and id_ not in specials)  # after a space
        end = start if id_ in specials else start + len(text)
        tokens.append(Token(text, id_, start, end, id_ in specials, starts_word, piece=piece))
    return tokens


def _token_text(tokenizer: Any, id_: int, piece: str, is_special: bool) -> str:
    """Return a token's text: "" for a bare space; part of a character stays as the vocabulary spells it."""
    if not piece.strip("Ġ▁"):
        return ""
    text = "" if is_special else tokenizer.decode([id_]).strip()
    return text if text and "\ufffd" not in text else piece


def try_list(texts: Any) -> list[Any] | None:
    """Convert given tokens to a list; None for a string and for anything that cannot be iterated."""
    if isinstance(texts, str):
        return None
    try:
        return list(texts)
    except TypeError:
        return None


def _read_side(side: str, texts: Any) -> tuple[tuple[Token, ...], str]:
    """Join the tokens' texts to one text and set each token's position in it. Return tokens and text.

    Two `Token`s that do not touch in their original text are separated by a space.
    """
    texts = try_list(texts)
    if texts is None or not all(isinstance(text, (str, Token)) for text in texts):
        raise ValueError(f"The tokens of {side} must be a list of strings, one for each row or column.")
    pieces = [text if isinstance(text, Token) else None for text in texts]
    plain = [text.text if isinstance(text, Token) else str(text) for text in texts]
    starts = _word_starts(plain)
    tokens, whole = [], ""
    for before, piece, text, begins in zip([None, *pieces], pieces, plain, starts, strict=False):
        special = piece.is_special if piece else _is_special(text)
        whole += " " if before and piece and piece.start > before.end else ""
        start = len(whole)
        whole += "" if special else text
        begins = piece.starts_word if piece else begins
        told = piece or Token(text, -1, start, len(whole))
        tokens.append(replace(told, start=start, end=len(whole), is_special=special, starts_word=begins, segment=0))
    return tuple(tokens), whole


def _is_special(text: str) -> bool:
    """Check whether a text is the name of a special token, ignoring surrounding spaces, as in " <mask>"."""
    return text.strip() in SPECIALS or _BEGIN.fullmatch(text.strip()) is not None


def _word_starts(texts: list[str]) -> list[bool]:
    """Return for each token whether it begins a word, by the marks of tokenizers (Ġ, ▁ or a space; ## inside words)."""
    marks = ("Ġ", "▁", " ")
    if any(text.startswith(marks) for text in texts):
        return [at == 0 or text.startswith(marks) or _is_special(texts[at - 1]) for at, text in enumerate(texts)]
    return [not text.startswith("##") for text in texts]


def join_sorted(shapes: Any) -> str:
    """Sort shapes or numbers and join them with commas, to name them in an error message."""
    return ", ".join(map(str, sorted(shapes)))
