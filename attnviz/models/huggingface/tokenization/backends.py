"""Choose the backend for a tokenizer that transformers has read, or say why no backend reads it."""

from collections.abc import Callable
from typing import Any

from attnviz.models.huggingface.errors import ModelError
from attnviz.models.huggingface.tokenization.backend import Backend
from attnviz.models.huggingface.tokenization.rebuilt import ByteBackend, lines_as_tokens
from attnviz.models.huggingface.tokenization.rust import RustBackend
from attnviz.models.huggingface.tokenization.sentence_pieces import PieceBackend, PieceSide


def backend_of(tokenizer: Any) -> Backend:
    """Make a tokenizer's backend. Raises ModelError for a tokenizer in Python that gives no offsets of its tokens."""
    if getattr(tokenizer, "is_fast", False):
        return RustBackend(tokenizer.backend_tokenizer)
    name = type(tokenizer).__name__
    if name not in IN_PYTHON:
        raise ModelError(
            f"transformers has {name} in Python alone, which does not say which characters a token stands for, and "
            "attnviz does not read its files: put a tokenizer.json into its folder (the tokenizers library writes "
            "one), or bring the weights that transformers returns with their tokens (“Your own tensors” on Heads, or "
            "attnviz.from_tensors)."
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
    """Make the backend of a sentencepiece file whose numbers are the ids."""
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
