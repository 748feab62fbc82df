"""A checkpoint's network with its tokenizer: one recorded pass over sentences whose tokens are known."""

import time
from collections.abc import Sequence
from dataclasses import replace

from attnviz.models.huggingface.as_given import ShownRows
from attnviz.models.huggingface.checkpoint_model import NetworkModel
from attnviz.models.huggingface.generate import GenerationRules
from attnviz.models.huggingface.inputs import InputBuilder
from attnviz.models.huggingface.network.network import Network, PassRequest
from attnviz.models.huggingface.tokenizer import CheckpointTokenizer
from attnviz.tracing.causes.intervention import Intervention
from attnviz.tracing.causes.resolution import NO_INTERVENTIONS, CheckedInterventions
from attnviz.tracing.interventions import Chain
from attnviz.tracing.record import RunInfo, Sentence
from attnviz.tracing.recorder import Recorder
from attnviz.tracing.trace import Trace
from attnviz.transformer.device import wait_for
from attnviz.transformer.probe import SCORES_ONLY, Probe


class RecordedModel(NetworkModel):
    """A network, its tokenizer, and the pass that records every site."""

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
        """Return a builder that applies interventions. Raises ValueError for one that this model has no place for."""
        if not interventions:  # to ask for an id may take as long as to run
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
        """Run one recorded pass over sentences whose tokens are known; `first` acts, then the interventions.

        Raises ModelError for a text longer than all before that the model as it was given computes otherwise.
        """
        recorder, asked, resolved = request.probe, request.hidden, changes.resolve(sentences)
        assert isinstance(recorder, Recorder)  # each pass has its own
        looking = resolved.chain_with(recorder)
        request = replace(
            request,
            probe=looking if first is None else Chain((first, looking)),
            hidden=asked or resolved.edits is not None,  # they may change hidden states
        )
        src, tgt = [each.src for each in sentences], [each.tgt_in for each in sentences]
        memory, started = None, time.perf_counter()
        if self.family == "encoder-decoder":
            batch = self._builder.batch(src)
            memory = self.network.encode(batch, request)
            out = self.network.decode(self._builder.batch(tgt), memory, batch.mask, request)
        else:
            out = self.network.run_only_stack(self._builder.batch(src if self.family == "encoder" else tgt), request)
            memory = out.last_hidden_state if self.family == "encoder" and not request.logits else None
        wait_for(self.device)
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

    def _check_longer(self, sentences: Sequence[Sentence], shown: ShownRows | None = None) -> None:
        """Compare a text longer than all before with the model as it was given; `shown` is the output of the pass over
        the sentences, where it is at hand. Raises ModelError for a difference.
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
