"""Interventions on the package's own translator and on a toy: what must hold of them on every model."""

import pytest

from attnviz.models.translator.tiny import tiny_translator
from tests.each_case import each_case
from tests.tracing.causes import invariants
from tests.tracing.causes.invariants import Pair

KINDS = ("encoder_self", "decoder_self", "cross")
TEXTS, TARGET = ("A big red dog jumped.", "I love a small pond, and learning."), "un chien rouge a sauté"


@pytest.fixture(scope="module")
def pair() -> Pair:
    model = tiny_translator(seed=3, n_heads=5, n_layers=3, d_k=14)

    def trace(number, interventions=()):
        return model.trace(TEXTS[number], to="fr", tgt_text=TARGET, interventions=interventions)

    return Pair(model, trace)


def test_no_intervention_changes_nothing(pair) -> None:
    invariants.nothing_done_changes_nothing(pair)


def test_a_patch_from_itself_changes_nothing(pair) -> None:
    invariants.a_patch_from_itself_changes_nothing(pair)


@each_case("kind", KINDS)
@each_case("holds", invariants.PER_KIND, ids=lambda holds: holds.__name__)
def test_each_invariant_holds_for_each_kind_of_site(holds, kind, pair) -> None:
    holds(pair, kind)


@pytest.mark.parametrize("kind", KINDS)
def test_what_lies_outside_the_causal_cone_stays(kind, pair) -> None:
    invariants.check_causal_cone(pair, kind, position=3)
