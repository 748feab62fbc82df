"""Generate with a checkpoint one token at a time, with transformers' cache or with the whole prefix, recording each
step.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer

from attnviz.models.huggingface.as_given import ShownOutput
from attnviz.models.huggingface.errors import ModelError
from attnviz.models.huggingface.network.network import Batch, Cache, Network, PassRequest
from attnviz.models.huggingface.tokenizer import CheckpointTokenizer, EncodedText
from attnviz.models.protocol import Step
from attnviz.tracing.causes.edits import Edits
from attnviz.tracing.causes.intervention import Intervention
from attnviz.tracing.interventions import Chain
from attnviz.tracing.record import RunInfo, Sentence
from attnviz.tracing.recorder import Recorder
from attnviz.tracing.trace import Trace
from attnviz.transformer.decoding import Choose, forbid_ids, likeliest_ids
from attnviz.transformer.device import explain_shortage, wait_for
from attnviz.transformer.probe import Probe

_NOBODY = Chain(())


@dataclass(frozen=True)
class GenerationRules:
    """A checkpoint's generation settings.

    `start` is the first token of a target, `forced` the tokens that must follow it, `ends` the ids that end a text, and
    `suppressed_ids` the ids that are never generated.
    """

    start: int | None = None
    forced: tuple[int, ...] = ()
    ends: frozenset[int] = frozenset()
    suppressed_ids: tuple[int, ...] = ()

    @classmethod
    def from_model(cls, model: Any, *, has_both: bool) -> "GenerationRules":
        """Read the rules of a transformers model from its generation settings, or from its config.

        `has_both` marks an encoder-decoder, whose targets begin with a special token.
        """
        settings, config = getattr(model, "generation_config", None), model.config

        def setting(name: str) -> Any:
            found = getattr(settings, name, None)
            return getattr(config, name, None) if found is None else found

        vocab_size = config.get_text_config(decoder=True).vocab_size
        begins = setting("decoder_start_token_id"), *_ids(setting("forced_bos_token_id"), "forced_bos_token_id")
        start, *forced = [0 if id_ is None else id_ for id_ in begins] if has_both else [None]
        if beyond := [id_ for id_ in (start, *forced) if id_ is not None and id_ not in range(vocab_size)]:
            raise ModelError(
                f"The targets of this model begin with the id {beyond[0]}, but the model knows only "
                f"{vocab_size} tokens."
            )
        words = setting("bad_words_ids") or ()
        banned = [word[0] for word in words if len(word) == 1] if isinstance(words, list | tuple) else ()
        suppressed = _ids([*banned, *_ids(setting("suppress_tokens"), "suppress_tokens")], "bad_words_ids")
        return cls(
            start=start,
            forced=tuple(id_ for id_ in forced if id_ is not None),
            ends=frozenset(_ids(setting("eos_token_id"), "eos_token_id")),
            suppressed_ids=tuple(id_ for id_ in suppressed if id_ < vocab_size),
        )

    def forbid(self, logits: Tensor) -> Tensor:
        """Return the logits with minus infinity for the suppressed ids."""
        return forbid_ids(logits, self.suppressed_ids)


class CheckpointStepper:
    """A decoder that is fed token by token and returns the logits of the next token. It belongs to one run.

    With `cached`, transformers' cache keeps keys and values; otherwise the whole prefix runs at each step. `edits` are
    applied at every step, before the probe.
    """

    def __init__(
        self, network: Network, memory: Tensor | None = None, *, src_mask: Tensor | None = None, cached: bool = True,
        edits: Edits | None = None,
    ):  # fmt: skip
        self.network, self.memory, self.src_mask, self.edits = network, memory, src_mask, edits
        self.cache = network.empty_cache() if cached else None
        self.prefix = torch.empty(1, 0, dtype=torch.long, device=network.device)

    def step(self, ids: Tensor, *, probe: Probe | None = None) -> Tensor:
        """Feed the next tokens `(batch,)`, or several `(batch, length)`, and return the logits `(batch,
        vocab_size)`.
        """
        new = ids.unsqueeze(1) if ids.dim() == 1 else ids
        if self.prefix.shape[1] == 0:
            self.prefix = self.prefix.expand(len(new), 0)
        if self.edits is not None:
            edits = self.edits.start_at(0 if self.cache is None else self.prefix.shape[1])
            probe = edits if probe is None else Chain((edits, probe))
        self.prefix = torch.cat((self.prefix, new), dim=1)
        fed = Batch(self.prefix if self.cache is None else new, torch.ones_like(self.prefix))
        request = PassRequest(probe or _NOBODY, hidden=probe is not None, last_only=True)
        if self.memory is None:
            out = self.network.run_only_stack(fed, request, self.cache)  # type: ignore[arg-type]
        else:
            assert self.src_mask is not None  # memory is always given with its mask
            out = self.network.decode(fed, self.memory, self.src_mask, request, self.cache)
        return out.logits[:, -1]

    def go_back(self, length: int) -> bool:
        """Forget all tokens after the first `length`, also those of a step that was interrupted.

        Return False if the cache cannot be truncated, such as that of a recurrent layer; then all tokens are forgotten.
        """
        self.prefix = self.prefix[:, :length]
        if type(self.cache) is not DynamicCache or length == 0:
            self.cache = None if self.cache is None else self.network.empty_cache()
            self.prefix = self.prefix[:, :0]
            return length == 0
        if not all(_can_be_cut(layer, length) for layer in self.cache.layers):
            return self.go_back(0) and False
        for layer in self.cache.layers:
            kept: Any = layer
            kept.keys, kept.values = kept.keys[..., :length, :], kept.values[..., :length, :]
        return True

    def kept(self) -> list[Tensor]:
        """Return the keys and values in the cache."""
        layers = self.cache.layers if isinstance(self.cache, DynamicCache) else []
        parts = [getattr(layer, name, None) for layer in layers for name in ("keys", "values")]
        return [part for part in parts if part is not None]

    def select_rows(self, rows: Tensor) -> None:
        """Keep only these batch rows, in this order."""
        self.prefix = self.prefix[rows]
        self.edits = None if self.edits is None else self.edits.select_rows(rows)
        if self.memory is not None and self.src_mask is not None:
            self.memory, self.src_mask = self.memory[rows], self.src_mask[rows]
        if self.cache is not None:
            self.cache.batch_select_indices(rows)


def _can_be_cut(layer: Any, length: int) -> bool:
    """Check whether a cache layer stores only keys and values, for at least `length` tokens."""
    return type(layer) is DynamicLayer and layer.keys is not None and layer.keys.shape[-2] >= length


_STEPS_DIFFER = (
    "In transformers itself, the decoding steps of this model with a cache do not compute the same as one pass over "
    "the whole text: {difference}."
)


_FEWEST = 2  # tokens: one that is read first, and one for a step
_PROBED = 10  # tokens of the sample with which a decoder's steps are compared: enough for every type of layer


@torch.inference_mode()
def check_steps(
    network: Network, sample: Batch, target: Batch | None, *, shown: Tensor, begun: Cache | None = None
) -> str:
    """Compare the last step of decoding with a cache to one pass over the same text, the first of a sample.

    `shown` are the logits of the single pass over the whole sample. `begun` is a cache that a pass over the sample's
    first tokens has filled; if it holds only keys and values, a single step after it is enough. If steps and pass
    differ, the network passes each step its position (without it, Bamba counts from 0). If that does not help, and
    transformers itself agrees with its own pass, each step will run the whole prefix. Returns a note on a difference
    that remains, otherwise "".
    """
    if not network.has_cache:
        return ""
    memory, length = None, int((sample if target is None else target).mask[0].sum())
    if target is None:
        length = min(length, _PROBED)
    else:
        memory = network.encode(sample.cut(int(sample.mask[0].sum())), PassRequest(_NOBODY, hidden=False))
    ids, last = (sample if target is None else target).ids[:1, :length], shown[:1, length - 1 : length]
    try:
        if _goes_on(network, ids, shown, begun):
            return ""
        found = _steps_difference(network, ids, memory, last)
        if found is not None and network.takes_positions and target is None:
            network.tells_positions = True
            network.tells_positions = (told := _steps_difference(network, ids, memory, last)) is None
            found = found if told else None
        if found is None:
            return ""
        own = _steps_difference(network.with_own_attention(), ids, memory)
    except Exception:  # any type, if the model does not accept the cache
        own = None
    if own is None:
        network.has_cache = False
        return ""
    return _STEPS_DIFFER.format(difference=own)


def _goes_on(network: Network, ids: Tensor, shown: Tensor, begun: Cache | None) -> bool:
    """Check whether one decoding step that continues the cache `begun` gives the same logits as a single pass.

    Return False also for a cache that stores anything but the keys and values of all tokens.
    """
    plain, own = (type(cache) is DynamicCache for cache in (begun, network.empty_cache()))
    if not (plain and own) or not all(type(layer) is DynamicLayer for layer in begun.layers):  # type: ignore[union-attr]
        return False
    if (held := begun.get_seq_length()) not in range(1, ids.shape[1]):  # type: ignore[union-attr]
        return False
    stepper = CheckpointStepper(network)
    stepper.cache, stepper.prefix = begun, ids[:, :held]
    try:
        stepped = stepper.step(ids[:, held]).unsqueeze(1)
    except Exception:  # any type: the cache of another implementation may not fit
        return False
    expected = ShownOutput(lambda: _one_pass(network, ids[:, : held + 1], None), found=shown[:1, held : held + 1])
    return expected.difference(stepped) is None


@torch.inference_mode()
def explain_steps(network: Network, ids: Sequence[int]) -> str:
    """Return a note if transformers' own steps over the ids of a text differ from its single pass, otherwise ""."""
    if not network.has_cache or network.has_encoder or len(ids) < _FEWEST:
        return ""
    fed = torch.tensor([list(ids)], device=network.device)
    own = _steps_difference(network.with_own_attention(), fed, None)
    return "" if own is None else _STEPS_DIFFER.format(difference=own)


def _steps_difference(network: Network, ids: Tensor, memory: Tensor | None, shown: Tensor | None = None) -> str | None:
    """Describe how the logits of the last step differ from those of one pass; None if rounding explains the difference.

    `shown` are the logits of the pass, if it has already run.
    """
    stepper = _stepper(network, memory, cached=True)
    first = 1 if memory is not None else max(1, ids.shape[1] - 2)
    logits = stepper.step(ids[:, :first])
    for at in range(first, ids.shape[1]):
        logits = stepper.step(ids[:, at])
    return ShownOutput(lambda: _one_pass(network, ids, memory), found=shown).difference(logits.unsqueeze(1))


def _one_pass(network: Network, ids: Tensor, memory: Tensor | None) -> Tensor:
    """Return the logits `(1, 1, vocab_size)` after the last id of a text, computed in one pass over the text."""
    return _stepper(network, memory, cached=False).step(ids).unsqueeze(1)


def _stepper(network: Network, memory: Tensor | None, *, cached: bool) -> CheckpointStepper:
    mask = None if memory is None else torch.ones(memory.shape[:2], dtype=torch.long, device=memory.device)
    return CheckpointStepper(network, memory, src_mask=mask, cached=cached)


def write_ids(stepper: CheckpointStepper, prompt: Sequence[int], rules: GenerationRules, count: int) -> list[int]:
    """Generate up to `count` ids greedily after a prompt; the last id may be one that ends a text."""
    ids: list[int] = []
    fed = torch.tensor([list(prompt)], device=stepper.network.device)
    while len(ids) < count and not (ids and ids[-1] in rules.ends):
        fed = likeliest_ids(rules.forbid(stepper.step(fed))).unsqueeze(1)
        ids.append(int(fed))
    return ids


@dataclass(frozen=True)
class GenerationPlan:
    """The plan of a decoding.

    The tokens `given` are fed first, one by one, whatever the model chooses; then up to `count` tokens of the model's
    choice follow. For a model with an encoder, `source` is the encoded source and `encoder` its record. `interventions`
    apply to every step. With `reads_at_once`, the first step feeds all given tokens.
    """

    given: EncodedText
    count: int
    choose: Choose = likeliest_ids
    source: EncodedText | None = None
    encoder: Recorder = field(default_factory=Recorder)
    interventions: tuple[Intervention, ...] = ()
    reads_at_once: bool = False


@torch.inference_mode()
def steps(
    stepper: CheckpointStepper, text: CheckpointTokenizer, rules: GenerationRules, plan: GenerationPlan, info: RunInfo
) -> Iterator[Step]:
    """Decode as planned and yield a `Step` for each token; the last row of a step's decoder maps belongs to
    the step.
    """
    fed, total = plan.given, len(plan.given.tokens) + plan.count - 1
    ids = torch.tensor([fed.ids], device=stepper.network.device)
    newest, begin = ids[:, 0], ids.shape[1] - 1 if plan.reads_at_once else 0
    for index in range(begin, total):
        prefix = _first_tokens(fed, index + 1)
        recorder, started = Recorder(), time.perf_counter()
        first_row = 0 if stepper.cache is None or index == begin else index
        taught = ids[:, : index + 1] if index == begin else ids[:, index : index + 1]
        now = taught if index < ids.shape[1] else newest
        with explain_shortage(stepper.network.device, f"A step over {now.numel():,} tokens", tokens=now.numel()):
            logits = stepper.step(now, probe=recorder)
            wait_for(stepper.network.device)
        seconds = time.perf_counter() - started
        newest = plan.choose(rules.forbid(logits))
        chosen = int(newest)
        longer = text.append_ids(prefix, [chosen], segment=0 if plan.source else 1)
        yield _step(stepper, plan, (recorder, logits, seconds), longer, first_row, info)
        if index + 1 < len(fed.tokens):
            continue
        if chosen in rules.ends:
            return
        fed = longer


def _step(
    stepper: CheckpointStepper,
    plan: GenerationPlan,
    record: tuple[Recorder, Tensor, float],
    longer: EncodedText,
    first_row: int,
    info: RunInfo,
) -> Step:
    recorder, logits, seconds = record
    source = plan.source or EncodedText((), "")
    sentence = Sentence(source.tokens, longer.tokens, source.text, longer.text, first_row=first_row)
    trace = Trace(
        plan.encoder.calls | recorder.calls,
        plan.encoder.contexts | recorder.contexts,
        plan.encoder.layers | recorder.layers,
        (sentence,),
        memory=stepper.memory,
        logits=logits.unsqueeze(1),
        info=replace(info, forward_seconds=seconds),
        numbers=stepper.network.layer_numbers,
        names=stepper.network.layer_names,
        interventions=plan.interventions,
    )
    return Step(len(longer.tokens) - 2, longer.tokens[:-1], longer.tokens[-1], logits[0], trace, seconds=seconds)


def _first_tokens(encoded: EncodedText, count: int) -> EncodedText:
    """Return the first `count` tokens of a text."""
    tokens = encoded.tokens[:count]
    return EncodedText(tokens, encoded.text[: max(token.end for token in tokens)])


def _ids(setting: Any, name: str) -> tuple[int, ...]:
    """Convert a generation setting (an id, a list of ids, or None) to a tuple of ids. Raises ModelError for other
    values.
    """
    ids = () if setting is None else tuple(setting) if isinstance(setting, list | tuple) else (setting,)
    if wrong := [id_ for id_ in ids if not isinstance(id_, int) or isinstance(id_, bool) or id_ < 0]:
        raise ModelError(f"The model's generation settings hold {name} {wrong[0]!r}, which is not a token id.")
    return ids
