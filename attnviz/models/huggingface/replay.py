"""A model whose attention attnviz cannot replace; it shows the weights that transformers returns.

Queries, keys and scores stay unknown, so masks cannot be changed and decoding cannot be followed.
"""

import copy
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn

import torch
from torch import Tensor

from attnviz.guards.arguments import reads_arguments
from attnviz.models import chat
from attnviz.models.chat import WithoutChat
from attnviz.models.huggingface import parity
from attnviz.models.huggingface.as_given import ShownRows
from attnviz.models.huggingface.checkpoint_model import CheckpointModel, Texts, split_pairs
from attnviz.models.huggingface.errors import ModelError
from attnviz.models.huggingface.generate import GenerationRules
from attnviz.models.huggingface.network.network import Batch, Family, uses_segments
from attnviz.models.huggingface.network.patches import cast
from attnviz.models.huggingface.parity import Eager
from attnviz.models.huggingface.returned_maps import ReturnedMaps, read_returned_maps
from attnviz.models.huggingface.tokenizer import CheckpointTokenizer, EncodedText
from attnviz.models.protocol import Step, TextGenerator
from attnviz.text.limits import MOST_TOKENS, prefix_notes, warn_of_cuts
from attnviz.text.tokens import Token
from attnviz.tracing.causes.intervention import Intervention
from attnviz.tracing.external.weights import ReplayedWeights
from attnviz.tracing.record import RunInfo, Sentence
from attnviz.tracing.trace_like import KINDS, TraceLike
from attnviz.transformer.device import wait_for
from attnviz.transformer.probe import Kind

_MOST_WEIGHTS = 64_000_000  # weights of all heads together: a quarter of a gigabyte


@reads_arguments
class ReplayedModel(CheckpointModel, WithoutChat):
    """A checkpoint for which attnviz shows only the weights of transformers' eager attention. All methods are
    thread-safe.

    `why` is a sentence that says what is missing.
    """

    languages: tuple[str, ...] = ()
    refusal: str = ""  # why the model's attention cannot be watched either
    obstacle = "does not use transformers' attention interface"
    writes = writes_logits = False

    def __init__(
        self, model: Any, text: CheckpointTokenizer, expected: Eager, sample: Batch, target: Batch | None,
        *, name: str = "", model_id: str = "",
    ) -> None:  # fmt: skip
        self.model = self.torch_module = model
        self.text, self.name, self.known_id = text, name, model_id
        self._rules = GenerationRules.from_model(model, has_both=target is not None)
        tgt_len = None if target is None else target.ids.shape[1]
        attn = read_returned_maps(expected, model.config, sample.ids.shape[1], tgt_len).weights
        self.shapes: dict[Kind, tuple[int, int]] = {
            kind: (len(attn[kind]), attn[kind][0].shape[1]) for kind in KINDS if kind in attn
        }
        self.family: Family = (
            "encoder-decoder" if target is not None else "decoder" if "decoder_self" in attn else "encoder"
        )

    @property
    def why(self) -> str:
        """The sentence that says why attnviz shows only weights."""
        refusal = f", and its attention cannot be watched ({self.refusal})" if self.refusal else ""
        return (
            f"{self.name or 'This model'} {self.obstacle}{refusal}, so attnviz shows "
            "the weights that transformers returns. There are no queries, keys and values, masks cannot be changed, "
            "and decoding cannot be followed."
        )

    @property
    def max_tokens(self) -> int:
        """The most tokens for which the weights of all heads fit in memory together."""
        heads = sum(layers * heads for layers, heads in self.shapes.values())
        return min(self.text.max_tokens, math.isqrt(_MOST_WEIGHTS // heads))

    def to(self, device: torch.device, dtype: torch.dtype) -> "ReplayedModel":
        """Move the model to a device and a dtype."""
        cast(self.model, device, dtype)
        self.as_given.to(device, dtype)
        return self

    @torch.inference_mode()
    def trace(  # noqa: PLR0913 - each is an option of the public method
        self, text: Texts = "", pair: Texts | None = None, *, tgt_text: Texts | None = None,
        new_tokens: int | None = None, max_tokens: int | None = None, logits: bool = True, hidden: bool = True,
        interventions: Sequence[Intervention] = (), messages: Sequence[Mapping[str, Any]] | None = None,
    ) -> Any:  # fmt: skip
        """Run the model on one sentence, or an encoder's pair, and return the `ReplayedWeights` that transformers
        returns.

        An encoder-decoder's target is `tgt_text`, or what transformers writes greedily. At most `max_tokens` of a text
        are read (1,024 by default), and no more than memory allows for all weights; a UserWarning says if the text was
        cut. `new_tokens`, `logits` and `hidden` have no effect here. Raises TextError for an empty sentence and for a
        conversation, ValueError for several sentences, and for any intervention.
        """
        if messages is not None:
            chat.require(self)
        if interventions:
            raise ValueError(f"Its runs cannot be changed: {self.why}")
        texts, pairs = split_pairs(text, pair)
        targets = [tgt_text] if isinstance(tgt_text, str) else list(tgt_text or ())
        self._check.check(texts, pairs=pairs, targets=targets)
        if len(texts) > 1:
            raise ValueError(
                f"{self.name} takes one text at a time, because attnviz shows the weights that transformers returns."
            )
        limit = min(MOST_TOKENS if max_tokens is None else max_tokens, self.max_tokens)
        read, started = self.text.encode(texts[0], *pairs, limit=limit), time.perf_counter()
        batch = Batch.from_rows([read.ids], self.text.pad_id, self._segments(read)).to(self.device)
        sentence, target = self._sentence(read, batch, targets, limit)
        expected = parity.run_eager(self.model, batch, target)
        wait_for(self.device)
        self.as_given.check_longer(batch, target, self.max_tokens, ShownRows(expected.output))
        notes = (*prefix_notes("Text", read.notes), *prefix_notes("Second sentence", read.pair_notes))
        if max_tokens is None or max_tokens > limit:
            warn_of_cuts(
                notes, f"The memory for its weights is enough for up to {self.max_tokens:,} tokens: max_tokens=…"
            )
        tgt_len = None if target is None else target.ids.shape[1]
        maps = read_returned_maps(expected, self.model.config, batch.ids.shape[1], tgt_len)
        return self._make_trace(maps, sentence, time.perf_counter() - started, notes)

    def rerun(self, trace: TraceLike, probe: Any = None) -> NoReturn:
        """Raise ValueError, because passes of this model cannot be observed or changed."""
        raise ValueError(self.why)

    def stepwise(self, text: str, **how: Any) -> Iterator[Step]:
        """Raise ValueError, because the decoding steps of this model cannot be followed."""
        raise ValueError(self.why)

    def generator(self, trace: TraceLike, probe: Any = None, **how: Any) -> TextGenerator:
        """Raise ValueError, because the decoding steps of this model cannot be followed."""
        raise ValueError(self.why)

    def logits_under(self, trace: TraceLike, edits: Any, **how: Any) -> NoReturn:
        """Raise ValueError, because passes of this model cannot be observed or changed."""
        raise ValueError(self.why)

    def encode_target(self, text: str, *, to: str = "") -> tuple[Token, ...]:
        """Return the tokens of a text, without special tokens; `to` is ignored."""
        return tuple(token for token in self.text.encode(text).tokens if not token.is_special)

    def _segments(self, read: EncodedText) -> list[list[int]] | None:
        if self.family != "encoder" or not uses_segments(self.model.config):
            return None
        return [[token.segment * self.text.marks_segments for token in read.tokens]]

    def _sentence(
        self, read: EncodedText, batch: Batch, targets: Sequence[str], limit: int
    ) -> tuple[Sentence, Batch | None]:
        """Return the sentence with the tokens of both sides, and the decoder's input."""
        if self.family == "encoder":
            return Sentence(src=read.tokens, src_text=read.text), None
        if self.family == "decoder":
            return Sentence(tgt=read.tokens, tgt_text=read.text, cut=True), None
        start = EncodedText((self.text.special_token(self._rules.start or 0),), "")
        if any(target.strip() for target in targets):
            given = self.text.encode_target(targets[0], read.language, limit=limit)
            tgt = EncodedText((*start.tokens, *given.tokens), given.text)
        else:
            tgt = self.text.append_ids(start, self._generate(batch, max(1, min(limit - 1, 2 * len(read.ids) + 20))))
        cut = tgt.ids[-1] not in self._rules.ends
        fed = tgt.ids if cut else tgt.ids[:-1]
        sentence = Sentence(read.tokens, tgt.tokens, read.text, tgt.text, cut)
        return sentence, Batch.from_rows([fed], self.text.pad_id).to(self.device)

    def _generate(self, batch: Batch, count: int) -> list[int]:
        """Let transformers generate greedily after the token that starts every target."""
        how = copy.deepcopy(self.model.generation_config)
        how.max_length, how.max_new_tokens, how.do_sample, how.num_beams = None, count, False, 1
        how.decoder_start_token_id = self._rules.start
        ids = self.model.generate(batch.ids, attention_mask=batch.mask, generation_config=how)
        return ids[0, 1:].tolist()

    def _make_trace(
        self, maps: ReturnedMaps, sentence: Sentence, seconds: float, notes: tuple[str, ...]
    ) -> ReplayedWeights:
        """Return the trace of one text. Raises ModelError if a text of this length has no maps of some kind."""
        if missing := [kind for kind in self.kinds if kind not in maps.weights]:
            raise ModelError(next((note for note in maps.notes if "is not attention" in note), f"No {missing[0]}."))
        weights: dict[Kind, Tensor] = {}
        for kind in self.kinds:
            weights[kind] = torch.stack([layer[0] for layer in maps.weights[kind]]).float().cpu()
        dtype = str(self.dtype).removeprefix("torch.")
        notes = (*notes, *self.as_given.notes, *maps.notes, self.why)
        info = RunInfo(self.model_id, "", self.device.type, dtype, seconds, notes=notes)
        return ReplayedWeights(weights, (sentence,), _causal_masks(weights), info, self.why)


def _causal_masks(weights: Mapping[Kind, Tensor]) -> dict[Kind, Tensor]:
    """Return a causal mask for a decoder's self-attention, if its weights show that it has one."""
    own = weights.get("decoder_self")
    if own is None or bool(own.triu(1).any()):
        return {}
    return {"decoder_self": torch.ones(own.shape[-2:], dtype=torch.bool).tril()}
