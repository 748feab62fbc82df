"""From texts to the sentences that a pass is run on: tokens in batches, targets that are given or written."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch

from attnviz.models.huggingface.generate import CheckpointStepper, GenerationPlan, GenerationRules, written
from attnviz.models.huggingface.network.network import Batch, Network, Watch, uses_segments
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

_START = "<start>"  # what a target begins with, where the model has no better name for it than its padding


@dataclass(frozen=True)
class InputBuilder:
    """Reads texts for a network, and writes with it, with interventions in force where there are any."""

    network: Network
    text: CheckpointTokenizer
    rules: GenerationRules
    changes: CheckedInterventions = NO_INTERVENTIONS

    def batch(self, rows: Sequence[Sequence[Token]]) -> Batch:
        """Rows on the network's device, padded to one length; padding is masked, a pair's sentences are segments."""
        longest = max(map(len, rows))
        rows = [(*row, *(self.text.padding(),) * (longest - len(row))) for row in rows]
        segments = None
        if self.network.family == "encoder" and uses_segments(self.network.model.config):
            segments = [[token.segment * self.text.marks_segments for token in row] for row in rows]
        batch = Batch.of([[token.id for token in row] for row in rows], self.text.pad_id, segments)
        mask = torch.tensor([[int(not self.text.is_pad(token)) for token in row] for row in rows])
        return replace(batch, mask=mask).to(self.network.device)

    def singles(self, encoded: Sequence[EncodedText]) -> list[Sentence]:
        """An encoder's sentences, or pairs."""
        return [Sentence(src=each.tokens, src_text=each.text) for each in encoded]

    def prompts(self, encoded: Sequence[EncodedText], count: int) -> list[Sentence]:
        """A decoder's prompts, with up to `count` tokens written after a single one."""
        if count:
            encoded = [self._continued(encoded[0], self.room(encoded[0], count))]
        return [Sentence(tgt=each.tokens, tgt_text=each.text, cut=not count) for each in encoded]

    def translations(
        self, encoded: Sequence[EncodedText], targets: Sequence[str], max_tokens: int
    ) -> tuple[list[Sentence], tuple[str, ...]]:
        """Sources and their targets, given or else written greedily; and notes on what was cut."""
        if targets:
            given = [self.given(target, src, max_tokens) for target, src in zip(targets, encoded, strict=True)]
            notes = tuple(note for each in given for note in prefix_notes("Target", each.notes))
        else:
            given = [self._translated(each) for each in encoded]
            unsaid = self.text.languages.ids and any(each.language is None for each in encoded)
            notes = (self.text.languages.note(self.begun_in(None)),) if unsaid else ()
        cut = [each.ids[-1] not in self.rules.ends and not targets for each in given]
        notes = (*notes, *("The target was cut without reaching <eos>." for each in cut if each))
        rows = zip(encoded, given, cut, strict=True)
        return [Sentence(src.tokens, tgt.tokens, src.text, tgt.text, is_cut) for src, tgt, is_cut in rows], notes

    def reading(
        self, sentences: Sequence[Sentence], probe: Probe | None = None, *, cached: bool = True
    ) -> CheckpointStepper:
        """What writes targets for sources, which are read here, with the probe looking on."""
        src, resolved = self.batch([sentence.src for sentence in sentences]), self.changes.resolve(sentences)
        is_told = probe is not None or resolved.edits is not None
        memory = self.network.encode(src, Watch(resolved.chain_with(probe or Chain(())), hidden=is_told))
        return CheckpointStepper(self.network, memory, src_mask=src.mask, cached=cached, edits=resolved.edits)

    def logits_under(self, sentence: Sentence, edits: Edits, longest: int | None = None) -> torch.Tensor:
        """Logits `(copies, length, vocab_size)` of copies of a sentence, one under each of the edits' rows; of a target
        as far as `longest`, since no row of it sees a later one.
        """
        copies, watch = len(edits.rows), Watch(edits)
        if self.network.family != "encoder-decoder":
            tokens = sentence.src if self.network.family == "encoder" else sentence.tgt_in[:longest]
            return self.network.single(self.batch([tokens] * copies), watch).logits
        src, one = self.batch([sentence.src] * copies), self.batch([sentence.src])

        def encode(ids: torch.Tensor, probe: Probe | None) -> torch.Tensor:
            read = Batch(ids, one.mask.expand(len(ids), -1))
            return self.network.encode(read, Watch(probe or Chain(())))

        memory = edits.encode_copies(encode, src.ids)
        return self.network.decode(self.batch([sentence.tgt_in[:longest]] * copies), memory, src.mask, watch).logits

    def prompted(self, prompt: EncodedText, *, cached: bool = True) -> CheckpointStepper:
        """What writes after a prompt."""
        edits = self.changes.resolve([Sentence(tgt=prompt.tokens, tgt_text=prompt.text, cut=True)]).edits
        return CheckpointStepper(self.network, cached=cached, edits=edits)

    def plan(
        self, read: EncodedText, taught: EncodedText | None, *, new_tokens: int, choose: Choose, cached: bool
    ) -> tuple[CheckpointStepper, GenerationPlan]:
        """How to step after a prompt that was read, or for a source: fed what a teacher says, or the model's own."""
        if self.network.family == "decoder":
            count = 1 if taught else self.room(read, new_tokens)
            plan = GenerationPlan(taught or read, count, choose, interventions=self.changes.interventions)
            return self.prompted(read, cached=cached), plan
        count, encoder = 1 if taught else self.limit(read, new_tokens), Recorder()
        target = taught or EncodedText((), "")
        sentence = Sentence(read.tokens, target.tokens, read.text, target.text, cut=True)
        stepper = self.reading([sentence], encoder, cached=cached)
        fed = taught or self.begun(read)
        return stepper, GenerationPlan(fed, count, choose, read, encoder, self.changes.interventions)

    def taught(self, read: EncodedText, tgt_in: Sequence[int]) -> EncodedText:
        """Ids that a teacher feeds: after the prompt that was read, or a target from its first token on.

        Raises ValueError where they begin otherwise, or are more than the model has places for.
        """
        is_prompt = self.network.family == "decoder"
        begun = read if is_prompt else self._start(self.begun_in(read))
        first, rest = tuple(tgt_in[: len(begun.ids)]), tgt_in[len(begun.ids) :]
        if first != begun.ids:
            what = "the prompt's ids" if is_prompt else "the id that every target of this model begins with"
            raise ValueError(f"tgt_in begins with {list(first)}, and must begin with {what}: {list(begun.ids)}.")
        if len(tgt_in) > self.text.max_tokens:
            raise ValueError(f"tgt_in has {len(tgt_in)} tokens; the model has places for {self.text.max_tokens}.")
        return self.text.continued(begun, rest, segment=int(is_prompt))

    def generator(self, sentences: Sequence[Sentence], probe: Probe | None, *, cached: bool) -> TextGenerator:
        """What writes after prompts, all cut to the shortest, or for sources, read with the probe in force."""
        if self.network.family == "decoder":
            prompts = [[token.id for token in _prompt(sentence)] for sentence in sentences]
            shortest = min(map(len, prompts))
            begun = torch.tensor([prompt[:shortest] for prompt in prompts], device=self.network.device)
            stepper = CheckpointStepper(self.network, cached=cached, edits=self.changes.resolve(sentences).edits)
            return TextGenerator(stepper, begun, self.rules, self.text.max_tokens)
        stepper = self.reading(sentences, probe, cached=cached)
        begins = [self._as_begun(sentence) for sentence in sentences]
        shortest = min(map(len, begins))
        begun = torch.tensor([begin[:shortest] for begin in begins], device=self.network.device)
        return TextGenerator(stepper, begun, self.rules, self.text.max_tokens)

    def begun(self, src: EncodedText | None = None) -> EncodedText:
        """What a target begins with, whatever the model would choose: its language too, where there are several."""
        language = self.begun_in(src)
        forced = self.rules.forced if language is None or self._starts_with_language else (language,)
        return self.text.continued(self._start(language), forced)

    def given(self, tgt_text: str, src: EncodedText, max_tokens: int = MAX_TOKENS) -> EncodedText:
        """A target that somebody else wrote for a source, as the decoder is taught."""
        language = self.begun_in(src)
        given = self.text.encode_target(tgt_text, language, limit=max_tokens)
        return replace(given, tokens=(*self._start(language).tokens, *given.tokens))

    def limit(self, src: EncodedText, wanted: int | None) -> int:
        """Tokens that a target may have: room for any language, but an end to a model that repeats itself."""
        # A target that was cut is fed to its last token: what it begins with needs places too.
        places = max(1, self.text.max_tokens - len(self.begun().tokens))
        room = min(MAX_TOKENS, places, 2 * len(src.tokens) + 20)
        return room if wanted is None else max(1, min(wanted, room))

    def room(self, prompt: EncodedText, wanted: int) -> int:
        """Tokens that can be written after a prompt; one always can, as the last one written is not fed."""
        return max(1, min(wanted, self.text.max_tokens - len(prompt.tokens) + 1))

    def _continued(self, prompt: EncodedText, count: int) -> EncodedText:
        return self.text.continued(prompt, written(self.prompted(prompt), prompt.ids, self.rules, count), segment=1)

    def _translated(self, src: EncodedText) -> EncodedText:
        begun, stepper = self.begun(src), self.reading([Sentence(src.tokens, src_text=src.text)])
        return self.text.continued(begun, written(stepper, begun.ids, self.rules, self.limit(src, None)))

    def begun_in(self, src: EncodedText | None) -> int | None:
        """The id of the language that is written: as the source asks, or else as the checkpoint's files say."""
        languages = self.text.languages
        said = (src and src.language, *self.rules.forced, self.rules.start)
        return next((id_ for id_ in said if id_ in languages.ids.values()), languages.target)

    @property
    def _starts_with_language(self) -> bool:
        return self.text.languages.comes_last(self.text.frame)

    def _as_begun(self, sentence: Sentence) -> tuple[int, ...]:
        """What the target of a sentence began with; a language that the model chose itself it would choose again."""
        known, own = set(self.text.languages.ids.values()), [token.id for token in sentence.tgt[:2]]
        if not known & set(own):
            return self.begun().ids
        return tuple(own[: 2 if own[-1] in known and own[0] not in known else 1])

    def _start(self, language: int | None = None) -> EncodedText:
        assert self.rules.start is not None  # every encoder-decoder has one
        token = self.text.special(self.rules.start)
        if language is not None and self._starts_with_language:
            token = self.text.special(language)
        return EncodedText((replace(token, text=_START) if self.text.is_pad(token) else token,), "")


def _prompt(sentence: Sentence) -> tuple[Token, ...]:
    """What stood there before the model wrote; at least one token."""
    given = tuple(token for token in sentence.tgt_in if not token.segment)
    return given or sentence.tgt_in[:1]
