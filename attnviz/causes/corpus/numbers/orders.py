"""Orders in which heads are removed: by importance, by greedy search, or at random."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np
import torch

from attnviz.analysis.cancellable import TO_THE_END, Cancellable
from attnviz.analysis.corpus.reading import ReadCorpus, require_targets
from attnviz.analysis.runs import HeadPlace, head_places
from attnviz.causes.corpus.numbers.importance import HeadImportance
from attnviz.causes.numbers.effects import head_effects
from attnviz.models.protocol import Model
from attnviz.tracing.causes.intervention import Intervention
from attnviz.tracing.causes.making import ablate

SEEDS = 5  # number of random orders


@dataclass(frozen=True)
class PruningOrder:
    """Heads in the order in which they are removed. A search that was stopped lists fewer than all heads."""

    name: str
    places: tuple[HeadPlace, ...]


def switch_off_heads(places: Sequence[HeadPlace]) -> tuple[Intervention, ...]:
    """Return interventions that set these heads to zero, one intervention per attention site."""
    ordered = sorted(places)
    return tuple(
        ablate(kind, layer=layer, heads=[head for _, _, head in group])
        for (kind, layer), group in groupby(ordered, key=lambda place: place[:2])
    )


def order_by_importance(importance: HeadImportance, *, most_first: bool = False) -> PruningOrder:
    """Order heads by importance, least important first, or most important first with `most_first`."""
    ranked = importance.of_heads.argsort(descending=most_first, stable=True).tolist()
    name = f"{importance.how}, most important first" if most_first else f"{importance.how}, least important first"
    return PruningOrder(name, tuple(importance.places[nth] for nth in ranked))


def random_orders(places: Sequence[HeadPlace], *, seeds: int = SEEDS) -> tuple[PruningOrder, ...]:
    """Return one random order of the heads for each seed from 0 to `seeds` - 1."""
    drawn = (np.random.default_rng(seed).permutation(len(places)) for seed in range(seeds))
    return tuple(
        PruningOrder(f"random, seed {seed}", tuple(places[nth] for nth in order)) for seed, order in enumerate(drawn)
    )


def greedy(model: Model, corpus: ReadCorpus, *, a_step: int = 1, stop: Cancellable = TO_THE_END) -> PruningOrder:
    """Remove at each step the `a_step` heads whose removal lowers the target's log-probability least.

    Each step ablates every head in every sentence, together with the heads removed so far. If the search is stopped,
    the order ends with the last complete step. Raise ValueError if a sentence has no target.
    """
    require_targets(corpus)
    places, out = head_places(model), list[HeadPlace]()
    for _ in range(0, len(places), a_step):
        kept = torch.zeros(len(places), dtype=torch.double)
        done = 0
        for item in stop.iterate(range(len(corpus.sentences)), len(corpus.sentences)):
            kept += _gains(model, corpus, item, out)
            done += 1
        if done < len(corpus.sentences):
            break
        ranked = [places[nth] for nth in kept.argsort(descending=True, stable=True).tolist()]
        out += [place for place in ranked if place not in out][:a_step]
    name = "greedy" if a_step == 1 else f"greedy, {a_step} a step"
    return PruningOrder(name, tuple(out))


def _gains(model: Model, corpus: ReadCorpus, item: int, out: Sequence[HeadPlace]) -> torch.Tensor:
    """Compute the change of a target's log-probability without each head, with the heads `out` already removed."""
    trace = model.rerun(replace(corpus.one_sentence(item), interventions=switch_off_heads(out)))
    return head_effects(model, trace).per_token.double().sum(dim=1)
