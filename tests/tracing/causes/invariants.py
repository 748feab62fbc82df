"""Invariants of interventions on any model. Each is a function of the model and of two of its sentences.

A `Pair` says how a model is asked for a trace: what is done to the run, and which of the two sentences.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

import attnviz
from attnviz.analysis.output_maps import OutputMap, output_maps
from attnviz.tracing.causes.resolution import CheckedInterventions
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import Site

HEADS = [2, 0]


@dataclass(frozen=True)
class Pair:
    """A model, and two texts of which `trace(n, interventions)` makes the nth; targets are the same."""

    model: Any
    trace: Callable[..., Trace]

    def plain(self) -> Trace:
        return self.trace(0)

    def other(self) -> Trace:
        return self.trace(1)


def same(one: Trace, other: Trace) -> bool:
    """Check that two runs computed the same, to the bit."""
    return (
        torch.equal(one.logits, other.logits)
        and all(torch.equal(one.contexts[site], other.contexts[site]) for site in one.contexts)
        and all(torch.equal(one.layers[key], other.layers[key]) for key in one.layers)
    )


def nothing_done_changes_nothing(pair: Pair) -> None:
    plain = pair.plain()
    assert same(pair.trace(0, []), plain)
    assert same(pair.model.rerun(plain), plain)
    kind = plain.kinds[-1]
    elsewhere = attnviz.ablate(kind, layer=0, heads=[1], positions=[57])  # a place that this text does not reach
    if kind != "encoder_self":
        assert same(pair.trace(0, [elsewhere]), plain)


def a_patch_from_itself_changes_nothing(pair: Pair) -> None:
    plain = pair.plain()
    done = [
        attnviz.patch(plain, kind, layer=layer, heads=heads, what=what)
        for kind in plain.kinds
        for what, layer, heads in (("context", None, None), ("query", 1, HEADS), ("key", 0, None), ("value", 1, [1]))
    ]
    stacks = {"encoder" if kind == "encoder_self" else "decoder" for kind in plain.kinds}
    done += [attnviz.patch(plain, stack, what=what, layer=1) for stack in stacks for what in ("embedding", "layer")]
    assert same(pair.trace(0, done), plain)


def a_head_gives_its_context_through_w_o(pair: Pair, kind: str) -> None:
    """out − out_without_h = z_h W_o^h, at the site itself."""
    plain, site = pair.plain(), Site(kind, 1)
    edits = CheckedInterventions.check(
        [attnviz.ablate(kind, layer=1, heads=HEADS)], pair.model.shapes, pair.model.model_id
    )
    whole = output_maps(pair.model, plain)[site]
    without = output_maps(pair.model, plain, edits.resolve(plain.sentences).edits)[site]
    assert isinstance(whole, OutputMap)
    assert isinstance(without, OutputMap)
    parts = whole.head_outputs(plain.contexts[site].float())
    gone = parts[:, HEADS].sum(dim=1)
    assert gone.abs().max() > 1e-2  # it says something
    torch.testing.assert_close(whole.output - without.output, gone, atol=2e-5, rtol=1e-5)
    torch.testing.assert_close(parts.sum(dim=1) + whole.bias, whole.output, atol=2e-5, rtol=1e-5)


def the_context_of_ablated_heads_is_zero_and_of_no_others(pair: Pair, kind: str) -> None:
    plain, done = pair.plain(), pair.trace(0, [attnviz.ablate(kind, layer=1, heads=HEADS)])
    found, before = done.contexts[Site(kind, 1)], plain.contexts[Site(kind, 1)]
    rest = [head for head in range(before.shape[1]) if head not in HEADS]
    assert not found[:, HEADS].any()
    assert torch.equal(found[:, rest], before[:, rest])
    assert torch.equal(done.contexts[Site(kind, 0)], plain.contexts[Site(kind, 0)])
    assert not torch.equal(done.logits, plain.logits)


def check_causal_cone(pair: Pair, kind: str, position: int) -> None:
    """Check that a change at (layer 1, row t) reaches rows from t on, after layer 1; of an encoder every row."""
    plain = pair.plain()
    stack = "encoder" if kind == "encoder_self" else "decoder"
    done = [
        attnviz.ablate(kind, layer=1, heads=[2], positions=[position]),
        attnviz.ablate(kind, layer=1, heads=[0], positions=[position], to="uniform"),
    ]
    after = pair.trace(0, done)
    rows = slice(position) if stack == "decoder" else slice(0)
    last = max(layer for of, layer in plain.layers if of == stack)
    for (of, layer), output in plain.layers.items():
        if of != stack and stack == "decoder":
            assert torch.equal(after.layers[of, layer], output)
        if of == stack:
            unchanged = slice(None) if layer < 1 else rows
            assert torch.equal(after.layers[of, layer][:, unchanged], output[:, unchanged])
    assert not torch.equal(after.layers[stack, last], plain.layers[stack, last])
    if stack == "decoder":
        assert torch.equal(after.logits[:, rows], plain.logits[:, rows])


def disjoint_heads_of_a_layer_commute(pair: Pair, kind: str) -> None:
    plain = pair.plain()
    one, other = attnviz.ablate(kind, layer=1, heads=[0]), attnviz.ablate(kind, layer=1, heads=[2], to="uniform")
    third = attnviz.patch(plain, kind, layer=1, heads=[1], what="value", positions=[0])
    first = pair.trace(0, [one, other, third])
    assert same(first, pair.trace(0, [third, other, one]))
    both = pair.trace(0, [attnviz.ablate(kind, layer=1, heads=[0, 1])])
    assert same(both, pair.trace(0, [attnviz.ablate(kind, layer=1, heads=[head]) for head in (1, 0)]))


def an_edited_map_is_what_the_trace_shows_and_what_ran(pair: Pair, kind: str) -> None:
    """Weights by hand, put in row by row: the map shows them, and the context is their mean of the values."""
    plain = pair.plain()
    own = plain.attn(kind, layer=1)
    after = pair.trace(0, [attnviz.edit(kind, own[sorted(HEADS)], layer=1, heads=HEADS)])  # each has the other's
    expected = own.clone()
    expected[sorted(HEADS)] = own[HEADS]
    torch.testing.assert_close(after.attn(kind, layer=1), expected, atol=1e-6, rtol=0)
    value = plain.call(kind, 1).value[0].float()
    torch.testing.assert_close(after.context(kind, 1), expected @ value, atol=1e-5, rtol=1e-5)
    identity = pair.trace(0, [attnviz.edit(kind, own, layer=1)])
    scale = max(1.0, float(plain.logits.abs().max()))
    assert (identity.logits - plain.logits).abs().max() <= 1e-5 * scale


def even_weights_are_even_over_what_a_row_sees(pair: Pair, kind: str) -> None:
    after = pair.trace(0, [attnviz.ablate(kind, layer=0, heads=HEADS, to="uniform")])
    seen = after.layer_mask(kind, 0)[HEADS].float()
    torch.testing.assert_close(after.attn(kind, layer=0)[HEADS], seen / seen.sum(dim=-1, keepdim=True))
    if kind != "cross":
        alone = pair.trace(0, [attnviz.ablate(kind, layer=0, to="diagonal")])
        assert torch.equal(alone.attn(kind, layer=0), torch.eye(seen.shape[-1]).expand_as(alone.attn(kind, layer=0)))


def another_items_context_is_put_in_its_place(pair: Pair, kind: str) -> None:
    plain, other = pair.plain(), pair.other()
    after = pair.trace(0, [attnviz.ablate(kind, layer=0, heads=[1], to=other)])
    found, theirs, own = (trace.context(kind, 0)[1] for trace in (after, other, plain))
    both = min(len(theirs), len(own))
    assert torch.equal(found[:both], theirs[:both])
    assert torch.equal(found[both:], own[both:])
    assert same(pair.trace(0, [attnviz.ablate(kind, layer=0, heads=[1], to=plain)]), plain)


# What must hold of each kind of attention that a model has.
PER_KIND = [
    a_head_gives_its_context_through_w_o,
    the_context_of_ablated_heads_is_zero_and_of_no_others,
    disjoint_heads_of_a_layer_commute,
    an_edited_map_is_what_the_trace_shows_and_what_ran,
    even_weights_are_even_over_what_a_row_sees,
    another_items_context_is_put_in_its_place,
]
