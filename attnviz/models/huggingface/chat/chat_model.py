"""Conversations with a checkpoint that has a chat template: what `trace(messages=…)` and `reply` need."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch

from attnviz.guards.arguments import reads_arguments
from attnviz.models.huggingface.chat.conversation import Conversation, encode_conversation, render
from attnviz.models.huggingface.chat.reply_prompt import ReplyPrompt
from attnviz.models.huggingface.chat.template import ChatTemplate
from attnviz.models.huggingface.generate import GenerationPlan, steps
from attnviz.models.huggingface.inputs import InputBuilder
from attnviz.models.huggingface.network.network import PassRequest
from attnviz.models.huggingface.recorded_model import RecordedModel
from attnviz.models.huggingface.tokenization.spelling import EncodedText
from attnviz.models.protocol import Step
from attnviz.text.conversation import Turn, read_turns
from attnviz.text.limits import MOST_TOKENS, TextError, require_count, require_text
from attnviz.tracing.causes.intervention import Intervention
from attnviz.tracing.record import Sentence
from attnviz.tracing.trace import Trace
from attnviz.transformer.decoding import Sampling, likeliest_ids


@reads_arguments
class ChatModel(RecordedModel):
    """A checkpoint's network, with the conversations that its chat template can write."""

    @property
    def has_chat(self) -> bool:
        """Whether it takes a conversation: a decoder that writes, with a chat template."""
        return self.family == "decoder" and self.writes and ChatTemplate.of(self.text.tokenizer) is not None

    def reply(
        self, messages: Sequence[Mapping[str, Any]], *, new_tokens: int = 256, temperature: float | None = None,
        top_p: float | None = None, seed: int = 0, max_tokens: int = MOST_TOKENS,
        interventions: Sequence[Intervention] = (),
    ) -> Iterator[Step]:  # fmt: skip
        """Write the assistant's answer, a token at a time: the first step reads the whole conversation.

        Each `Step` has the token, the logits it was chosen by, and the newest row of every head. It ends with a token
        that ends a turn, or after `new_tokens`. Without a `temperature` and `top_p` the likeliest token is chosen; with
        one of them, tokens are drawn, the same for the same `seed`. The `interventions` are in force at each step. A
        step keeps the keys of its prefix in memory: keep its rows (`attn`), not the step, of a long answer.

        Raises TextError for a conversation that cannot be read, ValueError for a model that does not write, and for an
        intervention that cannot be.
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
        """Encode what a reply is to follow, a conversation or a plain text, and make a stepper that writes after it.

        Raises TextError for what cannot be read, ValueError for a model that does not write, and for an intervention
        that cannot be.
        """
        if self.family != "decoder" or not self.writes:
            raise ValueError(f"{self.name} writes no reply: that takes a decoder that writes text.")
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
        """Trace a decoder's prompts, and `new_tokens` that it writes after a single one."""
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
        """Append the token that a prompt's last row outputs to its trace: nothing need run twice for it."""
        assert trace.logits is not None  # they were asked for
        chosen = int(likeliest_ids(self._rules.forbid(trace.logits[:, -1])))
        longer = self.text.append_ids(prompt, [chosen], segment=1)
        return replace(trace, sentences=(Sentence(tgt=longer.tokens, tgt_text=longer.text),))

    def render_ahead(self, turns: Sequence[Turn]) -> None:
        """Render a conversation and keep the text, so that tracing it or replying to it need not render it again.

        A server calls this before the visitor's turn: a template may be slow, and other visitors' runs compute
        meanwhile. Raises TextError for a conversation that is refused.
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
        """Raise ValueError where this model holds no conversation, or where a text is given beside one."""
        require_count(new_tokens)
        if named := next((name for name, value in others.items() if value), None):
            raise ValueError(f"Give messages or {named}, not both: a conversation is all that the model reads.")
        if self.family != "decoder" or not self.writes:
            raise ValueError(f"{self.name} holds no conversation: that takes a decoder that writes text.")
