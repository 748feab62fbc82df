"""Beam search over hundreds of thousands of sentences, by CTranslate2: bytes for weights, many sentences at once.

What is shown to a visitor is never written here: this makes sentences to learn from.
"""

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import ctranslate2
import torch
from ctranslate2.specs import TransformerSpec
from torch import nn

from attnviz.text.tokenizer import TranslatorTokenizer
from attnviz.transformer.attention import MultiHeadAttention
from attnviz.transformer.embedding import Embedding
from attnviz.transformer.layers import FeedForward, Sublayer
from attnviz.transformer.transformer import Transformer

_BATCH_TOKENS = 4_000
_POOL = 20_000  # sentences that are handed over together


@dataclass(frozen=True)
class BeamTranslation:
    """A translation and its mean log-probability a token among those that may be written, `<eos>` included, in nats."""

    text: str
    score: float


class BeamSearch:
    """A copy of a model that only translates, from English into any of its languages, on the CPU.

    `precision` is CTranslate2's: "int8" or "float32". Raises ValueError for a model without positions or whose layer
    norm comes last.
    """

    def __init__(
        self, model: Transformer, codec: TranslatorTokenizer, *, workers: int = 1, precision: str = "int8"
    ) -> None:
        self._codec = codec
        with tempfile.TemporaryDirectory() as folder:
            spec = _spec(model, codec)
            spec.validate()
            spec.optimize(quantization=precision)
            spec.save(folder)
            self._translator = ctranslate2.Translator(
                folder, device="cpu", compute_type=precision, inter_threads=workers, intra_threads=1
            )

    def translations(
        self, sentences: Sequence[str], to: str, *, beam: int, best: int, max_tokens: int = 64
    ) -> Iterator[list[BeamTranslation]]:
        """Find up to `best` translations of each sentence by a beam of width `beam`, the likeliest a token first."""
        for start in range(0, len(sentences), _POOL):
            pool = sentences[start : start + _POOL]
            sources = [[str(id_) for id_ in ids[:max_tokens]] for ids in self._codec.source_ids(pool)]
            results = self._translator.translate_batch(
                sources,
                target_prefix=[[str(self._codec.bos_id(to))]] * len(sources),
                max_batch_size=_BATCH_TOKENS,
                batch_type="tokens",
                beam_size=beam,
                num_hypotheses=best,
                max_decoding_length=max_tokens,
                return_scores=True,
                suppress_sequences=[[str(id_)] for id_ in self._codec.never_generated],
            )
            for result in results:
                yield [
                    BeamTranslation(self._codec.text([int(piece) for piece in pieces]), score)
                    for pieces, score in zip(result.hypotheses, result.scores, strict=True)
                ]


def _spec(model: Transformer, codec: TranslatorTokenizer) -> Any:
    """Describe the model for CTranslate2, which declares no types; its tokens are our ids, spelled out."""
    config = model.config
    if not config.norm_first or not config.positions:
        raise ValueError("Beam search for data knows models with positions whose layer norm comes first.")
    spec: Any = TransformerSpec.from_config(config.n_layers, config.n_heads, pre_norm=True)
    for side, stack in ((spec.encoder, model.encoder), (spec.decoder, model.decoder)):
        embeddings = side.embeddings[0] if isinstance(side.embeddings, list) else side.embeddings
        embeddings.weight = _numbers(model.embedding.weight)
        side.scale_embeddings = True
        side.position_encodings.encodings = _numbers(_positions(model.embedding))
        _norm(side.layer_norm, stack.norm)
        layers: list[Any] = list(stack.layers)
        for theirs, ours in zip(side.layer, layers, strict=True):
            _attention(theirs.self_attention, ours.self_attention, ours.self_attention_sublayer)
            if hasattr(ours, "cross_attention"):
                _attention(theirs.attention, ours.cross_attention, ours.cross_attention_sublayer, own=False)
            _feed_forward(theirs.ffn, ours.feed_forward, ours.feed_forward_sublayer)
    spec.decoder.projection.weight = _numbers(model.embedding.weight)
    names = [str(id_) for id_ in range(codec.vocab_size)]
    spec.register_source_vocabulary(names)
    spec.register_target_vocabulary(names)
    spec.config.unk_token, spec.config.bos_token = str(codec.unk_id), str(codec.unk_id)
    spec.config.eos_token, spec.config.decoder_start_token = str(codec.eos_id), None
    return spec


def _positions(embedding: Embedding) -> torch.Tensor:
    assert embedding.positions is not None  # asked in _spec
    return embedding.positions


def _attention(spec: Any, module: MultiHeadAttention, sublayer: Sublayer, *, own: bool = True) -> None:
    _norm(spec.layer_norm, sublayer.norm)
    into = (module.W_q, module.W_k, module.W_v)
    joined = (into,) if own else (into[:1], into[1:])
    for linear, parts in zip(spec.linear, (*joined, (module.W_o,)), strict=True):
        linear.weight = _numbers(torch.cat([part.weight for part in parts]))
        linear.bias = _numbers(torch.cat([part.bias for part in parts]))


def _feed_forward(spec: Any, module: FeedForward, sublayer: Sublayer) -> None:
    _norm(spec.layer_norm, sublayer.norm)
    for linear, ours in ((spec.linear_0, module.W_1), (spec.linear_1, module.W_2)):
        linear.weight, linear.bias = _numbers(ours.weight), _numbers(ours.bias)


def _norm(spec: Any, norm: nn.LayerNorm) -> None:
    spec.gamma, spec.beta = _numbers(norm.weight), _numbers(norm.bias)


def _numbers(tensor: torch.Tensor):
    return tensor.detach().float().cpu().numpy().copy()  # what is written down is also changed in place
