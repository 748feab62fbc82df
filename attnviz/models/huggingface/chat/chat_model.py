"""Conversations with a checkpoint that has a chat template: the methods behind `trace(messages=…)` and `reply`.

`RecordedModel` runs one recorded pass over sentences whose tokens are known. `Conversation` is the text that a template
makes from turns, with the tokens of each turn.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from attnviz.guards.arguments import reads_arguments
from attnviz.models.huggingface.as_given import ShownRows
from attnviz.models.huggingface.chat.template import ChatTemplate, Rendering
from attnviz.models.huggingface.checkpoint_model import NetworkModel
from attnviz.models.huggingface.generate import CheckpointStepper, GenerationPlan, GenerationRules, steps
from attnviz.models.huggingface.inputs import InputBuilder
from attnviz.models.huggingface.network.network import Network, PassRequest
from attnviz.models.huggingface.tokenization.spelling import EncodedText
from attnviz.models.huggingface.tokenizer import CheckpointTokenizer
from attnviz.models.protocol import Step
from attnviz.text.conversation import Turn, read_turns
from attnviz.text.limits import MOST_TOKENS, TextError, require_count, require_text
from attnviz.text.tokens import Span, Token
from attnviz.tracing.causes.intervention import Intervention
from attnviz.tracing.causes.resolution import NO_INTERVENTIONS, CheckedInterventions
from attnviz.tracing.interventions import Chain
from attnviz.tracing.record import RunInfo, Sentence
from attnviz.tracing.recorder import Recorder
from attnviz.tracing.trace import Trace
from attnviz.transformer.decoding import Sampling, likeliest_ids
from attnviz.transformer.device import explain_shortage, require_memory, wait_for
from attnviz.transformer.probe import SCORES_ONLY, Probe, report_layers

_NO_BAND = {  # reasons why the text of a turn has no band of its own in the maps
    "changed": "The chat template changes the text of {}",
    "left out": "The chat template leaves out {}",
    "repeated": "The chat template repeats the text of {}",
    "late": "The chat template is too slow for attnviz to find {} in its text",
}
_DATED = "The chat template writes the date: on another day, this conversation has different tokens."


@dataclass(frozen=True)
class ReplyPrompt:
    """An encoded prompt: its tokens, the spans of its turns, notes on cuts, and a stepper that has not read it yet.

    `places` is the number of tokens that the model can still generate after the prompt.
    """

    encoded: EncodedText
    spans: tuple[Span, ...]
    notes: tuple[str, ...]
    places: int
    stepper: CheckpointStepper
    text: CheckpointTokenizer
    rules: GenerationRules


class RecordedModel(NetworkModel):
    """A network with its tokenizer, and the pass that records all its attention sites."""

    def __init__(
        self,
        network: Network,
        text: CheckpointTokenizer,
        rules: GenerationRules,
        *,
        writes: bool,
        name: str = "",
        model_id: str = "",
    ) -> None:
        super().__init__(network)
        self.text, self.name, self.known_id = text, name, model_id
        self.writes = writes and network.family != "encoder"
        self._rules, self._builder = rules, InputBuilder(network, text, rules)

    def _builder_under(self, interventions: Sequence[Intervention]) -> InputBuilder:
        """Return an `InputBuilder` whose passes apply these interventions.

        Raises ValueError for an intervention that does not fit this model.
        """
        if not interventions:  # avoids computing the model's id, which may take as long as a run
            return self._builder
        changes = CheckedInterventions.check(interventions, self.shapes, self.model_id)
        by_scores = {site.kind for site in self.network.sites_by_scores}
        for each in interventions:
            if each.what in ("query", "key") and each.where in by_scores:
                raise ValueError(f"{each}: queries and keys cannot be changed here: {SCORES_ONLY}.")
        return replace(self._builder, changes=changes)

    def _run_again(
        self, sentences: list[Sentence], request: PassRequest, notes: tuple[str, ...] = (), *,
        first: Probe | None = None, changes: CheckedInterventions = NO_INTERVENTIONS,
    ) -> Trace:  # fmt: skip
        """Run one recorded pass over sentences whose tokens are known, with the probe `first` and then the
        interventions.

        Raises ModelError for a text, longer than all before, for which the model as it was given computes something
        else.
        """
        recorder, asked, resolved = request.probe, request.hidden, changes.resolve(sentences)
        assert isinstance(recorder, Recorder)  # every request has a recorder
        looking = resolved.chain_with(recorder)
        request = replace(
            request,
            probe=looking if first is None else Chain((first, looking)),
            hidden=asked or resolved.edits is not None,  # edits may change hidden states
        )
        src, tgt = [each.src for each in sentences], [each.tgt_in for each in sentences]
        if self.device.type == "cpu":
            longest = max(max(len(each.src), len(each.tgt_in)) for each in sentences)
            require_memory(lambda tokens: len(sentences) * self._bytes_kept(tokens, request), longest)
        started = time.perf_counter()
        tokens, sites = sum(map(len, (*src, *tgt))), sum(layers for layers, _ in self.shapes.values())
        with explain_shortage(
            self.device, f"A run over {tokens:,} tokens", tokens=tokens, done=lambda: len(recorder.calls) / sites
        ):
            with report_layers("Running the model", sites):
                out, memory = self._run_stacks(src, tgt, request)
            seconds = time.perf_counter() - started
            is_plain = first is None and not changes.interventions
            self._check_longer(sentences, ShownRows.read(out) if is_plain else None)
        info = self._info(seconds, (*notes, *resolved.notes))
        logits = out.logits if request.logits else None
        return Trace.from_recorder(
            recorder, sentences, memory=memory, logits=logits, info=info, numbers=self.network.layer_numbers,
            names=self.network.layer_names,
            interventions=changes.interventions,
        )  # fmt: skip

    def _bytes_kept(self, tokens: int, request: PassRequest) -> float:
        """Estimate how many bytes the trace of one text keeps: queries, keys, values, masks, and the records
        asked for.
        """
        config = self.network.model.config.get_text_config()

        def number(name: str) -> int:
            try:
                found = getattr(config, name, 0)
            except RuntimeError:  # Gemma 4's layers differ, and its config refuses to name one number for all
                return 0
            return found if isinstance(found, int) else 0

        width, size = number("hidden_size"), self.dtype.itemsize
        head_dim = number("head_dim") or width // max(1, number("num_attention_heads"))
        each = sum(layers * (3 * own * head_dim + 3 * width * request.hidden) for layers, own in self.shapes.values())
        logits = number("vocab_size") if request.logits else 0
        return float(tokens) * (each + logits) * size + float(tokens) ** 2

    def _run_stacks(
        self, src: Sequence[Sequence[Token]], tgt: Sequence[Sequence[Token]], request: PassRequest
    ) -> tuple[Any, Tensor | None]:
        """Run the model's stacks over a batch; return transformers' output, and what a trace keeps as memory."""
        if self.family == "encoder-decoder":
            batch = self._builder.batch(src)
            memory = self.network.encode(batch, request)
            out = self.network.decode(self._builder.batch(tgt), memory, batch.mask, request)
        else:
            out = self.network.run_only_stack(self._builder.batch(src if self.family == "encoder" else tgt), request)
            memory = out.last_hidden_state if self.family == "encoder" and not request.logits else None
        wait_for(self.device)
        return out, memory

    def _check_longer(self, sentences: Sequence[Sentence], shown: ShownRows | None = None) -> None:
        """If one of these texts is longer than every text so far, compare attnviz's output for it with the output of
        the model as it was given. Raises ModelError for a difference.

        `shown` is the output of attnviz's pass over the sentences, if there was one.
        """
        lengths = [max(len(sentence.src), len(sentence.tgt_in)) for sentence in sentences]
        row = lengths.index(max(lengths))
        sides = [self._builder.batch([side]) for side in (sentences[row].src, sentences[row].tgt_in) if side]
        target = sides[1] if self.family == "encoder-decoder" else None
        own = None if shown is None else shown.row(row, sides[-1].ids.shape[1])
        self.as_given.check_longer(sides[0], target, self.text.max_tokens, own)

    def _info(self, forward: float, notes: tuple[str, ...]) -> RunInfo:
        dtype = str(self.dtype).removeprefix("torch.")
        return RunInfo(self.model_id, "", self.device.type, dtype, forward, notes=(*notes, *self.as_given.notes))


@dataclass(frozen=True)
class Conversation:
    """A conversation encoded for the model: its turns, the tokens of the template's text, and the spans of the turns.

    Only turns that were found in the template's text have spans. With `continues`, the text ends inside the last turn.
    """

    turns: tuple[Turn, ...]
    encoded: EncodedText
    spans: tuple[Span, ...]
    notes: tuple[str, ...]
    continues: bool = False

    def name_turns(self, trace: Trace) -> Trace:
        """Return a trace of this conversation with the turns as spans.

        The model's new tokens belong to the assistant's turn, unless they follow a closed turn of the assistant.
        """
        sentence, begin = trace.sentences[0], len(self.encoded.tokens)
        spans, is_answer = self.spans, self.continues or self.turns[-1].role != "assistant"
        if is_answer and len(sentence.tgt) > begin:
            turns = self.turns if self.continues else (*self.turns, Turn("assistant", ""))
            name = _names(turns)[-1]
            first = next((span.start for span in spans if span.name == name), begin)
            others = (span for span in spans if span.name != name)
            spans = (*others, Span(name, first, len(sentence.tgt), "assistant"))
        return replace(trace, sentences=(replace(sentence, spans=spans),))


def encode_conversation(
    text: CheckpointTokenizer, turns: tuple[Turn, ...], *, limit: int, name: str, continues: bool = False
) -> Conversation:
    """Encode turns with the chat template; if the last turn is not the assistant's, the answer's beginning follows.

    With `continues`, a last turn of the assistant is left open, so that the model can continue it. Raises TextError for
    a model without a template, for a template that fails, and for more than `limit` tokens.
    """
    continues = continues and turns[-1].role == "assistant"
    rendered = render(text, turns, limit=limit, name=name, continues=continues)
    encoded = text.encode_rendered(rendered.text, limit=limit)
    notes = (*_notes(turns, rendered.places), *([_DATED] if rendered.is_dated else []))
    return Conversation(turns, encoded, _spans(encoded.tokens, turns, rendered.places), notes, continues)


def render(
    text: CheckpointTokenizer, turns: Sequence[Turn], *, limit: int, name: str, continues: bool = False
) -> Rendering:
    """Return the template's text for the turns.

    Raises TextError like `encode_conversation`. A conversation with more characters than `limit` tokens can have is
    refused before the template runs.
    """
    template = ChatTemplate.of(text.tokenizer)
    if template is None:
        raise TextError(f"{name} has no chat template, so it can read a plain text, but not a conversation.")
    count, most = sum(len(turn.content) for turn in turns), text.most_characters(limit)
    if count > most:
        raise TextError(f"The conversation has {count:,} characters; at most {most:,} are read. Please shorten a turn.")
    return template.render(turns, add_generation_prompt=turns[-1].role != "assistant", continues=continues)


def _notes(turns: Sequence[Turn], places: Sequence[tuple[int, int] | str]) -> list[str]:
    """Return notes on turns that the template changed, left out, repeated or moved.

    Except for a moved turn, each note says that the picture marks no band of tokens for the turn.
    """
    notes = []
    for done, sentence in _NO_BAND.items():
        those = [number for number, place in enumerate(places) if place == done]
        if those:
            end = "so this turn has no band." if len(those) == 1 else "so these turns have no bands."
            notes.append(f"{sentence.format(_turns(turns, those))}, {end}")
    found = [(place[0], number) for number, place in enumerate(places) if not isinstance(place, str)]
    for start, number in found:
        if any(place < start for place, later in found if later > number):
            after = max(each for each in found if each[0] < start)[1]
            notes.append(f"The chat template moves {_turns(turns, [number])} behind {_turns(turns, [after])}.")
    return notes


def _turns(turns: Sequence[Turn], numbers: Sequence[int]) -> str:
    """Return turns as a phrase: "turn 2 (assistant)", "turns 1 (system), 2 (user) and 3 (assistant)"."""
    *some, last = (f"{number + 1} ({turns[number].role})" for number in numbers)
    return f"turns {', '.join(some)} and {last}" if some else f"turn {last}"


def _names(turns: Sequence[Turn]) -> list[str]:
    """Return a name for each turn: "system", "user", "assistant", "user 2" and so on."""
    counts: dict[str, int] = {}
    names = []
    for turn in turns:
        counts[turn.role] = counts.get(turn.role, 0) + 1
        names.append(turn.role if counts[turn.role] == 1 else f"{turn.role} {counts[turn.role]}")
    return names


def _spans(tokens: Sequence[Token], turns: Sequence[Turn], places: Sequence[tuple[int, int] | str]) -> tuple[Span, ...]:
    """Return a span for each turn that was found, in the order of the text."""
    spans: list[Span] = []
    named = zip(_names(turns), turns, places, strict=True)
    found = sorted((place, name, turn.role) for name, turn, place in named if not isinstance(place, str))
    for (start, end), name, role in found:
        taken = spans[-1].end if spans else 0  # a token that two turns share belongs to the first
        inside = [
            at
            for at, token in enumerate(tokens)
            if at >= taken and (start <= token.start < end or token.start < start < token.end)
        ]
        if inside:
            spans.append(Span(name, inside[0], inside[-1] + 1, role))
    return tuple(spans)


@reads_arguments
class ChatModel(RecordedModel):
    """A checkpoint's network, with the conversations that its chat template can write."""

    @property
    def has_chat(self) -> bool:
        """Whether the model accepts a conversation: it is a decoder that writes and has a chat template."""
        return self.family == "decoder" and self.writes and ChatTemplate.of(self.text.tokenizer) is not None

    def reply(
        self, messages: Sequence[Mapping[str, Any]], *, new_tokens: int = 256, temperature: float | None = None,
        top_p: float | None = None, seed: int = 0, max_tokens: int = MOST_TOKENS,
        interventions: Sequence[Intervention] = (),
    ) -> Iterator[Step]:  # fmt: skip
        """Write the assistant's answer one token at a time; the first step reads the whole conversation.

        Each `Step` has the token, the logits from which it was chosen, and the newest row of every head. The reply ends
        with a token that ends a turn, or after `new_tokens`. Without `temperature` and `top_p` the most likely token is
        chosen; with either of them, tokens are sampled, repeatably for the same `seed`. The `interventions` apply to
        each step. A step keeps the keys of its prefix in memory, so for a long answer keep its rows (`attn`), not the
        step. Raises TextError for a conversation that cannot be read, ValueError for a model that does not write, and
        for an intervention that is not possible.
        """
        self._check_conversation()
        require_count(new_tokens)
        read = self._encode_for_reply(messages, max_tokens)
        choose = likeliest_ids
        if temperature is not None or top_p is not None:
            generator = torch.Generator(self.device).manual_seed(seed)
            choose = Sampling(generator, 1.0 if temperature is None else temperature, None, top_p)
        builder = self._builder_under(interventions)
        self._check_longer([Sentence(tgt=read.encoded.tokens, cut=True)])
        count = builder.max_new_tokens(read.encoded, min(new_tokens, max_tokens))
        plan = GenerationPlan(
            read.encoded, count, choose, interventions=builder.changes.interventions, reads_at_once=True
        )
        notes = (*self._notes([read.encoded]), *read.notes)
        written = steps(builder.prompt_stepper(read.encoded), self.text, self._rules, plan, self._info(0.0, notes))
        return self._name_turns(read, written)

    @staticmethod
    def _name_turns(read: Conversation, steps: Iterator[Step]) -> Iterator[Step]:
        return (replace(step, trace=read.name_turns(step.trace)) for step in steps)

    def read_prompt(
        self, messages: Sequence[Mapping[str, Any]] | None = None, *, text: str = "", max_tokens: int = MOST_TOKENS,
        interventions: Sequence[Intervention] = (),
    ) -> ReplyPrompt:  # fmt: skip
        """Encode the conversation or plain text that a reply is to follow, and return it with a stepper that continues
        it.

        Raises TextError for input that cannot be read, ValueError for a model that does not write, and for an
        intervention that is not possible.
        """
        if self.family != "decoder" or not self.writes:
            raise ValueError(f"{self.name} cannot write a reply: only a decoder that writes text can.")
        if messages is None:
            require_text(text)
            read = Conversation((), self.text.encode(text, limit=max_tokens), (), ())
        else:
            self._check_conversation(text=text)
            read = self._encode_for_reply(messages, max_tokens)
        self._check_longer([Sentence(tgt=read.encoded.tokens, cut=True)])
        notes = (*self._notes([read.encoded]), *read.notes, *self.as_given.notes)
        builder = self._builder_under(interventions)
        places = self.text.max_tokens - len(read.encoded.tokens) + 1
        stepper = builder.prompt_stepper(read.encoded)
        return ReplyPrompt(read.encoded, read.spans, notes, places, stepper, self.text, self._rules)

    def _trace_prompts(
        self, builder: InputBuilder, encoded: Sequence[EncodedText], request: PassRequest, notes: tuple[str, ...],
        new_tokens: int | None,
    ) -> Trace:  # fmt: skip
        """Trace a decoder's prompts; after a single prompt, the model also writes `new_tokens`."""
        started = time.perf_counter()
        unsaid = 1 if request.logits and len(encoded) == 1 and self.writes else 0
        count = unsaid if new_tokens is None else new_tokens
        if count == 1 and request.logits:
            once = self._run_again(builder.prompts(encoded, 0), request, notes, changes=builder.changes)
            return self._append_next(once, encoded[0])
        sentences = builder.prompts(encoded, count)
        decoding = time.perf_counter() - started
        trace = self._run_again(sentences, request, notes, changes=builder.changes)
        return replace(trace, info=replace(trace.info, decoding_seconds=decoding))

    def _append_next(self, trace: Trace, prompt: EncodedText) -> Trace:
        """Append to a prompt's trace the token that its last row predicts, without another pass."""
        assert trace.logits is not None  # the request asked for logits
        chosen = int(likeliest_ids(self._rules.forbid(trace.logits[:, -1])))
        longer = self.text.append_ids(prompt, [chosen], segment=1)
        return replace(trace, sentences=(Sentence(tgt=longer.tokens, tgt_text=longer.text),))

    def render_ahead(self, turns: Sequence[Turn]) -> None:
        """Render a conversation and cache the text, so that tracing it or replying to it need not render it again.

        A server calls this before the visitor's turn: a template may be slow, and the runs of other visitors can use
        the time. Raises TextError for a conversation that is refused.
        """
        render(self.text, turns, limit=MOST_TOKENS, name=self.name)

    def _encode_conversation(
        self, messages: Sequence[Mapping[str, Any]], max_tokens: int, *, continues: bool = False
    ) -> Conversation:
        turns = read_turns(messages)
        return encode_conversation(self.text, turns, limit=max_tokens, name=self.name, continues=continues)

    def _encode_for_reply(self, messages: Sequence[Mapping[str, Any]], max_tokens: int) -> Conversation:
        read = self._encode_conversation(messages, max_tokens)
        if read.turns[-1].role == "assistant":
            raise TextError("The last turn is the assistant's already: end with a user turn to get a reply.")
        return read

    def _check_conversation(self, *, new_tokens: int | None = None, **others: Any) -> None:
        """Raise ValueError if the model accepts no conversation, or if a text is given together with messages."""
        require_count(new_tokens)
        if named := next((name for name, value in others.items() if value), None):
            raise ValueError(f"Give messages or {named}, not both: a conversation is all that the model reads.")
        if self.family != "decoder" or not self.writes:
            raise ValueError(f"{self.name} cannot hold a conversation: only a decoder that writes text can.")
