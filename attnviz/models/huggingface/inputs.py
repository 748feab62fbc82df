"""Build the inputs of a pass from texts: batches of tokens, with given or generated targets."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch

from attnviz.models.huggingface.generate import CheckpointStepper, GenerationPlan, GenerationRules, write_ids
from attnviz.models.huggingface.network.network import Batch, Network, PassRequest, uses_segments
from attnviz.models.huggingface.tokenizer import CheckpointTokenizer, EncodedText
from attnviz.models.protocol import TextGenerator
from attnviz.text.limits import MAX_TOKENS, prefix_notes
from attnviz.text.tokens import Token
from attnviz.tracing.causes.edits import Edits
from attnviz.tracing.causes.resolution import NO_INTERVENTIONS, CheckedInterventions
from attnviz.tracing.interventions import Chain
from attnviz.tracing.record import Sentence
from attnviz.tracing.recorder import Recorder
from attnviz.transformer.decoding import Choose
from attnviz.transformer.probe import Probe

_START = "<start>"  # name of a target's first token if the model uses its padding token for it


@dataclass(frozen=True)
class InputBuilder:
    """Builds a network's inputs from texts, and generates targets with the network, with interventions applied."""

    network: Network
    text: CheckpointTokenizer
    rules: GenerationRules
    changes: CheckedInterventions = NO_INTERVENTIONS

    def batch(self, rows: Sequence[Sequence[Token]]) -> Batch:
        """Return rows of tokens as a padded batch on the network's device.

        Padding is masked, and the sentences of a pair are segments.
        """
        longest = max(map(len, rows))
        rows = [(*row, *(self.text.padding(),) * (longest - len(row))) for row in rows]
        segments = None
        if self.network.family == "encoder" and uses_segments(self.network.model.config):
            segments = [[token.segment * self.text.marks_segments for token in row] for row in rows]
        batch = Batch.from_rows([[token.id for token in row] for row in rows], self.text.pad_id, segments)
        mask = torch.tensor([[int(not self.text.is_pad(token)) for token in row] for row in rows])
        return replace(batch, mask=mask).to(self.network.device)

    def singles(self, encoded: Sequence[EncodedText]) -> list[Sentence]:
        """Make the `Sentence` of a trace from each text, or pair of texts, that an encoder reads."""
        return [Sentence(src=each.tokens, src_text=each.text) for each in encoded]

    def prompts(self, encoded: Sequence[EncodedText], count: int) -> list[Sentence]:
        """Make the `Sentence` of a trace from each prompt of a decoder; a single prompt is continued by up to `count`
        tokens.
        """
        if count:
            encoded = [self._continue_prompt(encoded[0], self.max_new_tokens(encoded[0], count))]
        return [Sentence(tgt=each.tokens, tgt_text=each.text, cut=not count) for each in encoded]

    def translations(
        self, encoded: Sequence[EncodedText], targets: Sequence[str], max_tokens: int
    ) -> tuple[list[Sentence], tuple[str, ...]]:
        """Make the `Sentence` of a trace from each source of an encoder-decoder, with a given or greedily generated
        target.

        Also return notes on targets that were truncated.
        """
        if targets:
            given = [self.given_target(target, src, max_tokens) for target, src in zip(targets, encoded, strict=True)]
            notes = tuple(note for each in given for note in prefix_notes("Target", each.notes))
        else:
            given = [self._translate_source(each) for each in encoded]
            unsaid = self.text.languages.ids and any(each.language is None for each in encoded)
            notes = (self.text.languages.note(self.target_language(None)),) if unsaid else ()
        cut = [each.ids[-1] not in self.rules.ends and not targets for each in given]
        notes = (*notes, *("The target was cut without reaching <eos>." for each in cut if each))
        rows = zip(encoded, given, cut, strict=True)
        return [Sentence(src.tokens, tgt.tokens, src.text, tgt.text, is_cut) for src, tgt, is_cut in rows], notes

    def source_stepper(
        self, sentences: Sequence[Sentence], probe: Probe | None = None, *, cached: bool = True
    ) -> CheckpointStepper:
        """Encode sources with the probe applied, and return a stepper for their targets."""
        src, resolved = self.batch([sentence.src for sentence in sentences]), self.changes.resolve(sentences)
        is_told = probe is not None or resolved.edits is not None
        memory = self.network.encode(src, PassRequest(resolved.chain_with(probe or Chain(())), hidden=is_told))
        return CheckpointStepper(self.network, memory, src_mask=src.mask, cached=cached, edits=resolved.edits)

    def logits_under(self, sentence: Sentence, edits: Edits, longest: int | None = None) -> torch.Tensor:
        """Run copies of a sentence as one batch, each with its own interventions (a row of the edits).

        Return the logits `(copies, length, vocab_size)`.
        A target is computed only up to `longest` tokens, because no row depends on later ones.
        """
        copies, request = len(edits.rows), PassRequest(edits)
        if self.network.family != "encoder-decoder":
            tokens = sentence.src if self.network.family == "encoder" else sentence.tgt_in[:longest]
            return self.network.run_only_stack(self.batch([tokens] * copies), request).logits
        src, one = self.batch([sentence.src] * copies), self.batch([sentence.src])

        def encode(ids: torch.Tensor, probe: Probe | None) -> torch.Tensor:
            read = Batch(ids, one.mask.expand(len(ids), -1))
            return self.network.encode(read, PassRequest(probe or Chain(())))

        memory = edits.encode_copies(encode, src.ids)
        return self.network.decode(self.batch([sentence.tgt_in[:longest]] * copies), memory, src.mask, request).logits

    def prompt_stepper(self, prompt: EncodedText, *, cached: bool = True) -> CheckpointStepper:
        """Return a stepper that continues a decoder's prompt."""
        edits = self.changes.resolve([Sentence(tgt=prompt.tokens, tgt_text=prompt.text, cut=True)]).edits
        return CheckpointStepper(self.network, cached=cached, edits=edits)

    def plan(
        self, read: EncodedText, taught: EncodedText | None, *, new_tokens: int, choose: Choose, cached: bool
    ) -> tuple[CheckpointStepper, GenerationPlan]:
        """Return a stepper and a plan for decoding after a prompt or for a source, with a teacher's ids or the model's
        own.
        """
        if self.network.family == "decoder":
            count = 1 if taught else self.max_new_tokens(read, new_tokens)
            plan = GenerationPlan(taught or read, count, choose, interventions=self.changes.interventions)
            return self.prompt_stepper(read, cached=cached), plan
        count, encoder = 1 if taught else self.limit(read, new_tokens), Recorder()
        target = taught or EncodedText((), "")
        sentence = Sentence(read.tokens, target.tokens, read.text, target.text, cut=True)
        stepper = self.source_stepper([sentence], encoder, cached=cached)
        fed = taught or self.target_start(read)
        return stepper, GenerationPlan(fed, count, choose, read, encoder, self.changes.interventions)

    def check_teacher(self, read: EncodedText, tgt_in: Sequence[int]) -> EncodedText:
        """Check the ids that a teacher feeds: the prompt's and more, or a target from its first token on.

        Raises ValueError if the ids begin differently, or if there are more than the model has positions for.
        """
        is_prompt = self.network.family == "decoder"
        begun = read if is_prompt else self._start(self.target_language(read))
        first, rest = tuple(tgt_in[: len(begun.ids)]), tgt_in[len(begun.ids) :]
        if first != begun.ids:
            what = "the prompt's ids" if is_prompt else "the id that every target of this model begins with"
            raise ValueError(f"tgt_in begins with {list(first)}, but must begin with {what}: {list(begun.ids)}.")
        if len(tgt_in) > self.text.max_tokens:
            raise ValueError(f"tgt_in has {len(tgt_in)} tokens; the model has positions for {self.text.max_tokens}.")
        return self.text.append_ids(begun, rest, segment=int(is_prompt))

    def generator(self, sentences: Sequence[Sentence], probe: Probe | None, *, cached: bool) -> TextGenerator:
        """Prepare to generate after prompts, all truncated to the shortest, or for sources encoded with the probe
        applied.
        """
        if self.network.family == "decoder":
            prompts = [[token.id for token in _prompt(sentence)] for sentence in sentences]
            shortest = min(map(len, prompts))
            begun = torch.tensor([prompt[:shortest] for prompt in prompts], device=self.network.device)
            stepper = CheckpointStepper(self.network, cached=cached, edits=self.changes.resolve(sentences).edits)
            return TextGenerator(stepper, begun, self.rules, self.text.max_tokens)
        stepper = self.source_stepper(sentences, probe, cached=cached)
        begins = [self._start_ids(sentence) for sentence in sentences]
        shortest = min(map(len, begins))
        begun = torch.tensor([begin[:shortest] for begin in begins], device=self.network.device)
        return TextGenerator(stepper, begun, self.rules, self.text.max_tokens)

    def target_start(self, src: EncodedText | None = None) -> EncodedText:
        """Return the forced beginning of a target, including its language if the model has several."""
        language = self.target_language(src)
        forced = self.rules.forced if language is None or self._starts_with_language else (language,)
        return self.text.append_ids(self._start(language), forced)

    def given_target(self, tgt_text: str, src: EncodedText, max_tokens: int = MAX_TOKENS) -> EncodedText:
        """Encode a given target for a source, in the form in which the decoder saw targets in training."""
        language = self.target_language(src)
        given = self.text.encode_target(tgt_text, language, limit=max_tokens)
        return replace(given, tokens=(*self._start(language).tokens, *given.tokens))

    def limit(self, src: EncodedText, wanted: int | None) -> int:
        """Return the most tokens that a target may have.

        This is enough for any language, but stops a model that repeats itself.
        """
        # A truncated target is fed up to its last token, so its beginning needs positions too.
        places = max(1, self.text.max_tokens - len(self.target_start().tokens))
        room = min(MAX_TOKENS, places, 2 * len(src.tokens) + 20)
        return room if wanted is None else max(1, min(wanted, room))

    def max_new_tokens(self, prompt: EncodedText, wanted: int) -> int:
        """Return the most tokens that can be generated after a prompt; at least 1, because the last token is
        not fed.
        """
        return max(1, min(wanted, self.text.max_tokens - len(prompt.tokens) + 1))

    def _continue_prompt(self, prompt: EncodedText, count: int) -> EncodedText:
        return self.text.append_ids(
            prompt, write_ids(self.prompt_stepper(prompt), prompt.ids, self.rules, count), segment=1
        )

    def _translate_source(self, src: EncodedText) -> EncodedText:
        begun, stepper = self.target_start(src), self.source_stepper([Sentence(src.tokens, src_text=src.text)])
        return self.text.append_ids(begun, write_ids(stepper, begun.ids, self.rules, self.limit(src, None)))

    def target_language(self, src: EncodedText | None) -> int | None:
        """Return the id of the target's language: the one that the source asks for, or the checkpoint's default."""
        languages = self.text.languages
        said = (src and src.language, *self.rules.forced, self.rules.start)
        return next((id_ for id_ in said if id_ in languages.ids.values()), languages.target)

    @property
    def _starts_with_language(self) -> bool:
        return self.text.languages.comes_last(self.text.frame)

    def _start_ids(self, sentence: Sentence) -> tuple[int, ...]:
        """Return the ids with which a sentence's target began, to decode it again: the start token and a chosen
        language.

        A language that the model chooses itself is left out.
        """
        known, own = set(self.text.languages.ids.values()), [token.id for token in sentence.tgt[:2]]
        if not known & set(own):
            return self.target_start().ids
        return tuple(own[: 2 if own[-1] in known and own[0] not in known else 1])

    def _start(self, language: int | None = None) -> EncodedText:
        assert self.rules.start is not None  # every encoder-decoder has one
        token = self.text.special_token(self.rules.start)
        if language is not None and self._starts_with_language:
            token = self.text.special_token(language)
        return EncodedText((replace(token, text=_START) if self.text.is_pad(token) else token,), "")


def _prompt(sentence: Sentence) -> tuple[Token, ...]:
    """Return the tokens of a sentence before those that the model wrote; at least one."""
    given = tuple(token for token in sentence.tgt_in if not token.segment)
    return given or sentence.tgt_in[:1]
