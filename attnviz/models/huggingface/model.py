"""A Hugging Face checkpoint with the same methods as the translator: sentences in, traces and generated text out."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch

from attnviz.guards.arguments import reads_arguments
from attnviz.models.huggingface.chat.chat_model import ChatModel
from attnviz.models.huggingface.checkpoint_model import READS, Texts, split_pairs
from attnviz.models.huggingface.generate import explain_steps, steps
from attnviz.models.huggingface.inputs import InputBuilder
from attnviz.models.huggingface.network.network import PassRequest
from attnviz.models.huggingface.tokenizer import EncodedText
from attnviz.models.protocol import Step, TextGenerator
from attnviz.text.limits import MAX_TOKENS, MOST_TOKENS, require_count, require_room, require_whole, warn_of_cuts
from attnviz.tracing.causes.edits import Edits
from attnviz.tracing.causes.intervention import Intervention
from attnviz.tracing.record import Sentence
from attnviz.tracing.recorder import Recorder
from attnviz.tracing.trace import Trace
from attnviz.transformer.decoding import Choose, likeliest_ids
from attnviz.transformer.device import explain_shortage
from attnviz.transformer.probe import Probe, gradients_if_needed

_READS_SOURCE = "This model writes no text. Its decoder reads the source again, as transformers does without a target."
_WRITTEN = 20  # default number of tokens to generate after a prompt


@reads_arguments
class HuggingFaceModel(ChatModel):
    """A checkpoint that passed the parity check, with its tokenizer. All methods are thread-safe.

    `writes` is False for an encoder, and for a checkpoint without a head over the vocabulary.
    """

    @property
    def own_language(self) -> str:
        """The language that the model writes by default, or "" if its files do not name one."""
        return self.text.languages.code(self._builder.target_language(None)) if self.languages else ""

    @torch.inference_mode()
    def trace(  # noqa: PLR0913 - each is an option of the public method
        self, text: Texts | Sequence[tuple[str, str]] = "", pair: Texts | None = None, *, tgt_text: Texts | None = None,
        to: str = "", new_tokens: int | None = None, max_tokens: int | None = None, logits: bool = True,
        hidden: bool = True, interventions: Sequence[Intervention] = (),
        messages: Sequence[Mapping[str, Any]] | None = None,
    ) -> Trace:  # fmt: skip
        """Run the model on a sentence, or a batch of them, and record every site.

        `pair` is an encoder's second sentence, or one for each text; pairs may also be given as a list. `tgt_text` is
        an encoder-decoder's target; without it, the model writes the target itself, in the language `to` if it has
        several (`languages`; a language mark before the text takes precedence over `to`). A decoder writes `new_tokens`
        after its prompt (by default one: the output of its last row). A decoder with a chat template also takes a
        conversation, `messages` [{"role": "user", "content": …}, …], in place of the text; the trace's sentence then
        names the turns (`spans`). If the assistant has the last turn, `new_tokens` continue this turn. At most
        `max_tokens` of a text are read: 1,024 by default, and never more than the model has positions for. A
        UserWarning says if a text was cut shorter than asked. `logits=False` leaves out the logits, `hidden=False` the
        inputs of sites and the outputs of layers, to save time and memory. The `interventions` apply to the pass and to
        the decoding before it, for each text. Raises TextError for an empty sentence, and ValueError for arguments that
        the model does not take, for an impossible intervention, and for `new_tokens` after a prompt that was cut
        although no `max_tokens` asked for the cut.
        """
        builder = self._builder_under(interventions)
        request = PassRequest(Recorder(keeps_hidden=hidden), hidden, logits and self.writes_logits)
        limit = min(MOST_TOKENS if max_tokens is None else max_tokens, self.network.most_tokens)
        if messages is not None:
            self._check_conversation(text=text, pair=pair, tgt_text=tgt_text, new_tokens=new_tokens)
            read = self._encode_conversation(messages, limit, continues=bool(new_tokens))
            notes = (*self._notes([read.encoded]), *read.notes)
            return read.name_turns(self._trace_prompts(builder, [read.encoded], request, notes, new_tokens))
        texts, pairs = split_pairs(text, pair)
        targets = [tgt_text] if isinstance(tgt_text, str) else list(tgt_text or ())
        self._check.check(texts, pairs=pairs, targets=targets, new_tokens=new_tokens)
        seconds = pairs or [None] * len(texts)
        encoded = [self.text.encode(*both, to=to, limit=limit) for both in zip(texts, seconds, strict=True)]
        started = time.perf_counter()
        notes = (*self._notes(encoded), *self.text.languages.override_note(texts[0], to))
        self._tell_cuts(notes, max_tokens, limit, new_tokens)
        if self.family == "encoder":
            return self._run_again(builder.singles(encoded), request, notes, changes=builder.changes)
        if self.family == "decoder":
            return self._trace_prompts(builder, encoded, request, notes, new_tokens)
        given = targets if all(target.strip() for target in targets) else ()
        if not given and not self.writes:
            given, notes = texts, (*notes, _READS_SOURCE)
        sentences, more = builder.translations(encoded, given, limit)
        self._tell_cuts(more, max_tokens, limit)
        notes = (*notes, *more)
        decoding = time.perf_counter() - started
        trace = self._run_again(sentences, request, notes, changes=builder.changes)
        to = self.text.languages.code(encoded[0].language) or to
        return replace(trace, info=replace(trace.info, decoding_seconds=decoding, to=to))

    def _tell_cuts(self, notes: tuple[str, ...], asked: int | None, limit: int, new_tokens: int | None = None) -> None:
        """Warn about texts that were truncated, unless the caller asked for this limit.

        Raises ValueError if the model should generate tokens after a cut that the caller did not ask for.
        """
        limit = min(limit, self.text.max_tokens)
        if asked is None:
            require_whole(notes, new_tokens, limit, min(self.text.max_tokens, self.network.most_tokens))
        if asked is None or asked > limit:
            most = min(self.text.max_tokens, self.network.most_tokens)
            what = "The model reads" if most == self.text.max_tokens else "The memory for its scores is enough for"
            more = f"{what} up to {most:,} tokens: max_tokens=…"
            warn_of_cuts(notes, more if limit < self.text.max_tokens else READS.format(most=limit))

    @gradients_if_needed
    def rerun(self, trace: Trace, probe: Probe | None = None) -> Trace:
        """Run and record one pass over the sentences of `trace`, with the probe and then the trace's interventions
        applied.
        """
        request, changes = (
            PassRequest(Recorder(), logits=self.writes_logits),
            self._builder_under(trace.interventions).changes,
        )
        sentences = [sentence.as_one_pass() for sentence in trace.sentences]
        return replace(self._run_again(sentences, request, first=probe, changes=changes), info=trace.info)

    def stepwise(  # noqa: PLR0913 - each is an option of the public method
        self, text: str = "", *, to: str = "", tgt_text: str | None = None, tgt_in: Sequence[int] | None = None,
        cached: bool = True, new_tokens: int | None = None, choose: Choose = likeliest_ids,
        max_tokens: int | None = None, interventions: Sequence[Intervention] = (),
        messages: Sequence[Mapping[str, Any]] | None = None,
    ) -> Iterator[Step]:  # fmt: skip
        """Decode one token at a time, each step recorded, on transformers' cache or without one.

        A decoder is fed its prompt token by token, then writes up to `new_tokens`; an encoder-decoder writes its
        target. If a teacher's prefix is given, it is fed instead: the ids `tgt_in` (for a decoder: prompt and
        continuation), or an encoder-decoder's `tgt_text`. `Step.token` is always the token that the model would choose.
        At most `max_tokens` are written, 512 by default. At most 512 tokens of a text are read, or `max_tokens` if that
        is more; a UserWarning says if the text was cut. `messages` are a conversation in place of the text. The
        `interventions` apply to each step. Raises ValueError

        - for a model that does not write;
        - for ids `tgt_in` that do not begin like a target, or like the prompt;
        - for an intervention that this model cannot apply;
        - if tokens should be written after a prompt that was truncated, unless `max_tokens` asked for that.
        """
        if not self.writes:
            raise ValueError(f"{self.name} writes no text, so it has no decoding to follow.")
        if messages is not None:
            self._check_conversation(text=text, tgt_text=tgt_text)
        else:
            self._check.check([text], targets=() if tgt_text is None else (tgt_text,))
        require_count(new_tokens)
        most = MAX_TOKENS if max_tokens is None else max_tokens
        require_room(most)
        if new_tokens is None and self.family == "decoder":
            new_tokens = _WRITTEN
        new_tokens = most if new_tokens is None else min(new_tokens, most)
        limit = min(max(MAX_TOKENS, most), self.text.max_tokens)
        builder, taught = self._builder_under(interventions), None
        if messages is not None:
            conversation = self._encode_conversation(messages, limit, continues=new_tokens > 0)
            read = conversation.encoded
        else:
            conversation, read = None, self.text.encode(text, to=to, limit=limit)
        if tgt_in is not None:
            taught = self._builder.check_teacher(read, tgt_in)
        elif tgt_text is not None and tgt_text.strip():
            whole = self._builder.given_target(tgt_text, read)
            taught = EncodedText(whole.tokens[:-1], whole.text)
        if max_tokens is None and taught is None and self.family == "decoder":
            require_whole(self._notes([read]), new_tokens, limit, self.text.max_tokens)
        warn_of_cuts(self._notes([read]))
        made = self._steps(builder, read, taught, cached, new_tokens, choose)
        return made if conversation is None else self._name_turns(conversation, made)

    @torch.inference_mode()
    def generator(
        self, trace: Trace, probe: Probe | None = None, *, cached: bool = True, limit: int = MAX_TOKENS
    ) -> TextGenerator:
        """Prepare to generate after the sources or prompts of `trace`, with the probe and the trace's interventions
        applied.

        Prompts of different lengths cannot be continued together, so all are truncated to the shortest. Raises
        ValueError for a model that does not write.
        """
        if not self.writes:
            raise ValueError(f"{self.name} writes no text.")
        return self._builder_under(trace.interventions).generator(trace.sentences, probe, cached=cached)

    def explain_steps(self, ids: Sequence[int]) -> str:
        """Describe how transformers' own steps over the ids of a text differ from its single pass; "" if they agree."""
        return self.steps_note or explain_steps(self.network, ids)

    @torch.inference_mode()
    def write_target(
        self, text: str, *, to: str = "", interventions: Sequence[Intervention] = ()
    ) -> tuple[str, tuple[str, ...]]:
        """Generate an encoder-decoder's target for a source greedily, with the interventions; return it with notes on
        cuts.

        Raises TextError for an empty sentence, ValueError for a model that writes no targets.
        """
        if not self.writes or not self.inputs.takes_target:
            raise ValueError(
                f"{self.name} writes no targets. This needs an encoder-decoder with an output over a vocabulary."
            )
        self._check.check([text])
        encoded = self.text.encode(text, to=to)
        sentences, notes = self._builder_under(interventions).translations([encoded], (), MAX_TOKENS)
        return sentences[0].tgt_text, (*self._notes([encoded]), *notes)

    @torch.inference_mode()
    def logits_under(self, trace: Trace, edits: Edits, *, rows: Sequence[int] | None = None) -> torch.Tensor:
        """Run copies of the first sentence of `trace` as one batch, each with its own interventions; return the logits.

        The shape is `(copies, rows, vocab_size)`. `edits.rows` has the interventions of each copy. Nothing is recorded.
        `rows` selects rows of the text, by default all. Raises ValueError for a model without a head over the
        vocabulary.
        """
        if not self.writes_logits:
            raise ValueError(f"{self.name} has no output over a vocabulary, so there are no probabilities to compare.")
        with explain_shortage(self.device, f"A run over {len(edits.rows):,} copies of the text"):
            logits = self._builder.logits_under(trace.sentences[0], edits, None if rows is None else max(rows) + 1)
        return logits if rows is None else logits[:, list(rows)]

    @torch.inference_mode()
    def _steps(
        self, builder: InputBuilder, encoded: EncodedText, taught: EncodedText | None, cached: bool,
        new_tokens: int, choose: Choose,
    ) -> Iterator[Step]:  # fmt: skip
        if self.family == "decoder":
            begun = Sentence(tgt=(taught or encoded).tokens, cut=True)
        else:
            begun = Sentence(encoded.tokens, (taught or builder.target_start(encoded)).tokens, cut=True)
        self._check_longer([begun])
        stepper, plan = builder.plan(
            encoded, taught, new_tokens=new_tokens, choose=choose, cached=cached,
        )  # fmt: skip
        yield from steps(stepper, self.text, self._rules, plan, self._info(0.0, self._notes([encoded])))
