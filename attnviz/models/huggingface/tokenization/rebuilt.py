"""Tokenizers that transformers has in Python alone and that read no sentencepiece file, rebuilt for the `tokenizers`
library, which knows where each token stands: ByT5's bytes, and ESM's amino acids.
"""

import re
from typing import Any

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, processors
from transformers.convert_slow_tokenizer import bytes_to_unicode

from attnviz.models.huggingface.tokenization.backend import Pieces
from attnviz.models.huggingface.tokenization.rust import RustBackend

_A_BYTE = 3  # ByT5's id of byte 0: padding, end and unknown stand before it


class ByteBackend(RustBackend):
    """ByT5: a token for each byte of UTF-8. A text that ends with a typed `</s>` gets no second one."""

    def __init__(self, tokenizer: Any) -> None:
        self._end: int = tokenizer.eos_token_id
        bytes_ = {character: byte + _A_BYTE for byte, character in bytes_to_unicode().items()}
        rust = Tokenizer(models.BPE(bytes_ | tokenizer.get_added_vocab(), []))
        rust.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
        rust.decoder = decoders.ByteLevel()
        rust.add_special_tokens(_special(tokenizer))
        end = tokenizer.eos_token
        rust.post_processor = processors.TemplateProcessing(
            single=f"$A {end}", pair=f"$A {end} $B {end}", special_tokens=[(end, self._end)]
        )
        super().__init__(rust)

    def tokenize(self, text: str, *, target: bool = False) -> Pieces:
        """Cut a text into tokens, less an end that is put there anyway."""
        found = super().tokenize(text)
        return found.first(len(found.ids) - 1) if found.ids[-1:] == (self._end,) else found


def lines_as_tokens(tokenizer: Any) -> RustBackend:
    """Make ESM's backend: a token for each amino acid, or for six letters of DNA, with or without spaces between them,
    the longest that fits; text that is no line of its file is unknown. Without a token that ends a text nothing parts
    two.
    """
    vocabulary: dict[str, int] = tokenizer.get_vocab()
    longest_first = "|".join(map(re.escape, sorted(vocabulary, key=len, reverse=True)))
    rust = Tokenizer(models.WordLevel(vocabulary, unk_token=tokenizer.unk_token))
    rust.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(longest_first), "isolated"), pre_tokenizers.WhitespaceSplit()]
    )
    rust.add_special_tokens(_special(tokenizer))
    begin, end = [tokenizer.cls_token], [tokenizer.eos_token] if tokenizer.eos_token else []
    rust.post_processor = processors.TemplateProcessing(
        single=[*begin, "$A", *end], pair=[*begin, "$A", *end, "$B", *end],
        special_tokens=[(name, vocabulary[name]) for name in (*begin, *end)],
    )  # fmt: skip
    return RustBackend(rust, parts_pairs=bool(end))


def _special(tokenizer: Any) -> list[AddedToken]:
    """List tokens that are looked for in a text before it is cut, with how they want their neighbours, by id."""
    return [token for _, token in sorted(tokenizer.added_tokens_decoder.items())]
