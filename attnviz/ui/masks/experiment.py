"""The Masks page's experiment: the trace, one head's call, the mask in words and cells, and the re-run."""

from dataclasses import dataclass, replace
from functools import cached_property

import streamlit as st
import torch
from torch import Tensor

from attnviz.analysis.masks import both_ways, effect
from attnviz.analysis.masks.effect import Effect, Refused
from attnviz.analysis.masks.fills import FilledScores, Weighing, filled, one_head
from attnviz.analysis.masks.findings import findings
from attnviz.analysis.masks.mask_spec import MaskSpec
from attnviz.analysis.rerun import Writing, batch_of_two, writing
from attnviz.maps.selection import labels
from attnviz.text.entries import token_texts
from attnviz.text.tokens import Token
from attnviz.tracing.interventions import MaskOverride
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import AttentionCall, Site
from attnviz.ui.cache import budget, traces
from attnviz.ui.cache.bounded import BoundedCache
from attnviz.ui.masks.state import MasksState
from attnviz.ui.request import Request
from attnviz.views.interventions import touched
from attnviz.widgets.entries import col_entries, row_entries

CROSS_CAUSAL = (
    "A causal mask makes no sense between two sentences. The whole source is there before the first target token is "
    "written, and position 3 of one has nothing to do with position 3 of the other. The picture shows what tril would "
    "hide. Useful here: padding, or wait-k, for a translator that starts before the speaker has finished."
)


@dataclass(frozen=True, eq=False)
class MaskExperiment:
    """One site of one run under one view. `trace` holds one sentence, or two as a padded batch."""

    request: Request
    view: MasksState
    trace: Trace

    @property
    def model(self):
        """The model that ran."""
        return traces.model(self.request.entry.name)

    @cached_property
    def call(self) -> AttentionCall:
        """The chosen head's call for the sentence that is shown."""
        return one_head(self.trace.call(self.view.kind, self.view.layer), self.view.head, self.view.item)

    @cached_property
    def recipe(self) -> MaskSpec:
        """The mask as it is put together."""
        return self.view.recipe

    @cached_property
    def real(self) -> Tensor:
        """Which keys are no padding, `(batch, k_len)`."""
        rows = [self.trace.key_tokens(self.view.kind, item) for item in range(len(self.trace.sentences))]
        is_pad = self.model.is_pad  # asked for once: to find a model costs more than to ask it
        return torch.tensor([[not is_pad(token) for token in row] for row in rows])

    @property
    def shape(self) -> tuple[int, int]:
        """`(q_len, k_len)` of the site."""
        return self.call.query.shape[2], self.call.key.shape[2]

    @cached_property
    def rules(self) -> Tensor:
        """The mask without paint for the sentence that is shown, `(q_len, k_len)`."""
        return self._of_item(self.recipe.by_rules(*self.shape, real=self.real))

    @cached_property
    def mask(self) -> Tensor:
        """The whole mask for the sentence that is shown, `(q_len, k_len)`."""
        return self._of_item(self.recipe.build(*self.shape, real=self.real))

    @cached_property
    def filled(self) -> FilledScores:
        """The pipeline, without batch and head axes."""
        result = filled(self.call, self.mask, self.view.choice)
        parts = ("mask", "scores", "masked_scores", "attn", "context")
        cut = {name: None if (part := getattr(result, name)) is None else part[0, 0] for name in parts}
        return replace(result, **cut)

    @property
    def findings(self) -> tuple[str, ...]:
        """What happened, in sentences."""
        no_sense = self.view.kind == "cross" and "causal" in self.recipe.rules
        return (*((CROSS_CAUSAL,) if no_sense else ()), *self._done_here, *findings(self.filled))

    @property
    def _done_here(self) -> tuple[str, ...]:
        """What is done to the head that is shown: the pipeline has what it would compute by itself."""
        said = touched(self.trace.interventions, (self.view.kind, self.view.layer, self.view.head))
        return (said,) if said else ()

    @property
    def rows(self) -> list[tuple[str, str | None]]:
        """What goes in at each row, and what comes out, safe to show."""
        ins = self.trace.query_tokens(self.view.kind, self.view.item)
        outs = self.trace.output_tokens(self.view.kind, self.view.item)
        return list(zip(texts(ins), [None] * len(ins) if outs is None else texts(outs), strict=True))

    @property
    def cols(self) -> list[str]:
        """Each key, safe to show."""
        return texts(self.trace.key_tokens(self.view.kind, self.view.item))

    @property
    def entries(self) -> tuple[list, list]:
        """What the vocabulary has for each row's tokens, going in and coming out, and for each key."""
        return row_entries(self._labels[0]), col_entries(self._labels[1])

    @property
    def _labels(self):
        return labels(self.trace, self.view.kind, item=self.view.item)

    @property
    def sites(self) -> list[Site]:
        """Where the mask is in force in a re-run."""
        layers = range(self.trace.shape(self.view.kind)[0]) if self.view.scope == "kind" else (self.view.layer,)
        return [Site(self.view.kind, layer) for layer in layers]

    @property
    def named(self) -> str:
        """What the run has in the place of the model's own mask, to stand in a sentence."""
        return "without any mask" if self.recipe.is_none else "with this mask"

    @property
    def where(self) -> str:
        """The scope in words."""
        view = self.view
        return {"head": f"L{view.layer} H{view.head}", "layer": f"every head of L{view.layer}"}.get(
            view.scope, "all heads of all layers of this kind"
        )

    def probe(self, *, writing: bool) -> MaskOverride:
        """The mask as an intervention: on the sentence as it is, or while one is written, which has no pads."""
        own = self.view.kind == "decoder_self" and writing
        real = None if own else self.real
        choice = self.view.choice
        plain = choice.fill == "fused" and choice.dtype == "float32"
        return MaskOverride(
            self.sites,
            lambda q_len, k_len: self.recipe.build(q_len, k_len, real=real),
            head=self.view.head if self.view.scope == "head" else None,
            weigh=None if plain else Weighing(choice),
        )

    def effect(self) -> Effect | Refused:
        """The model run again with the mask in force, from the cache where it is there."""
        after = _again.get(self._key(self._in_force), read=lambda *_: self._run())
        # Cached without the run before, which has a cache of its own.
        return after if isinstance(after, Refused) else Effect(self.trace, after, self.probe(writing=False))

    def _run(self) -> Trace | Refused:
        found = effect.effect(self.model, self.trace, self.probe(writing=False))
        return found if isinstance(found, Refused) else found.after

    def written_up_to(self, step: int) -> Trace:
        """The pass that writing makes at a decoder row with the mask in force: no later token is there yet."""
        asked = self._key((*self._in_force, "up to", step))
        made = _again.get(
            asked, read=lambda *_: both_ways.run_up_to(self.model, self.trace, self.probe(writing=False), step)
        )
        assert not isinstance(made, Refused)  # a refusal is raised here, and met by `effect` before
        return made

    def writing(self) -> Writing:
        """What the model would now write, as far as it has come."""
        return _writing(self._key(self._in_force), self)

    def unchanged(self) -> Writing:
        """What it writes without the mask: the same whatever the mask is."""
        return _unchanged(self._key(()), self)

    @property
    def _in_force(self) -> tuple:
        view = self.view
        return (view.kind, view.layer, view.head, view.rules, view.paint, view.choice, view.scope)

    def _key(self, what: tuple) -> str:
        request = (self.request.entry.name, self.trace.model_id, *self.request.to_params().values())
        return repr((request, self.view.second, what))

    def _of_item(self, mask: Tensor) -> Tensor:
        return mask[min(self.view.item, len(mask) - 1)]


def mask_experiment(request: Request, trace: Trace, view: MasksState) -> MaskExperiment:
    """Put a view on the bench. Raises ValueError for a second sentence that cannot be read."""
    second = view.second.strip()
    if second:
        asked = repr((trace.model_id, request.to_params(), second))
        alone, model = trace, traces.model(request.entry.name)
        how = {"to": alone.to, "interventions": alone.interventions}
        trace = _batches.get(asked, read=lambda *_: batch_of_two(model, alone, traces.run(model, second, **how)))
    return MaskExperiment(request, view, trace)


def texts(tokens: tuple[Token, ...]) -> list[str]:
    """Tokens as they can be shown."""
    return token_texts(tokens)


# By size, as `session` keeps traces, and beside its room. A run that torch refused is what it said.
_batches: BoundedCache[str, Trace] = BoundedCache(most=budget.bytes_for("batches"), size=lambda batch: batch.nbytes())
_again: BoundedCache[str, Trace | Refused] = BoundedCache(
    most=budget.bytes_for("masked runs"),
    size=lambda after: len(after.error) if isinstance(after, Refused) else after.nbytes(),
)


@st.cache_resource(max_entries=32, show_spinner=False)
def _writing(key: str, _bench: MaskExperiment) -> Writing:
    ahead = _bench.view.kind == "decoder_self" and _bench.recipe.sees_ahead(_bench.shape[0])
    return writing(_bench.model, _bench.trace, _bench.probe(writing=True), cached=not ahead)


@st.cache_resource(max_entries=32, show_spinner=False)
def _unchanged(key: str, _bench: MaskExperiment) -> Writing:
    return writing(_bench.model, _bench.trace, None)
