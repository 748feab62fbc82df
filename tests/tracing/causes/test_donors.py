"""Numbers from another run: patched at the right places, complete where they are the only difference, and refused with
a reason elsewhere.
"""

import torch

import attnviz
from attnviz.tracing.causes.alignment import align_tokens
from attnviz.transformer.probe import Site

CLEAN, CHANGED, LONGER = "A big red dog jumped.", "A big blue dog jumped.", "A big and very red dog jumped."


def words(trace, side="src"):
    return [token.text for token in trace.tokens(side)]


def test_the_encoders_embedding_is_all_that_a_source_is(make_trace) -> None:
    donor = make_trace("A red big dog jumped.")
    assert len(donor.tokens("src")) == len(make_trace(CLEAN).tokens("src"))
    assert not torch.equal(donor.logits, make_trace(CLEAN).logits)
    assert torch.equal(make_trace(CLEAN, attnviz.patch(donor, "encoder", what="embedding")).logits, donor.logits)


def test_all_of_crosss_context_is_all_that_a_source_says_whatever_its_length(make_trace) -> None:
    donor, after = make_trace(LONGER), make_trace(CLEAN, attnviz.patch(make_trace(LONGER), "cross"))
    assert torch.equal(after.logits, donor.logits)
    assert torch.equal(make_trace(LONGER, attnviz.patch(make_trace(CLEAN), "cross")).logits, make_trace(CLEAN).logits)


def test_the_last_layers_output_is_all_that_a_decoder_says(make_trace) -> None:
    donor = make_trace(LONGER)
    assert torch.equal(make_trace(CLEAN, attnviz.patch(donor, "decoder", layer=2, what="layer")).logits, donor.logits)


def test_sources_of_other_lengths_are_aligned_and_the_rest_is_named(make_trace) -> None:
    donor, plain = make_trace(CLEAN), make_trace(LONGER)
    after = make_trace(LONGER, attnviz.patch(donor, "encoder", layer=1, what="layer"))
    pairs = align_tokens(plain.tokens("src"), donor.tokens("src"))
    assert [words(plain)[here] for here, _ in pairs.pairs] == [words(donor)[there] for _, there in pairs.pairs]
    own, theirs = after.layer_output("encoder", 1), donor.layer_output("encoder", 1)
    for here, there in pairs.pairs:
        assert torch.equal(own[here], theirs[there])
    for here in pairs.only_here:
        assert torch.equal(own[here], plain.layer_output("encoder", 1)[here])
    (note,) = after.info.notes
    assert f"{len(pairs.pairs)} of {len(plain.tokens('src'))} tokens have a partner in the donor" in note
    assert all(f"“{words(plain)[here]}”" in note for here in pairs.only_here)


def test_one_word_that_was_replaced_by_as_many_tokens_stands_for_the_other() -> None:
    from attnviz.text.tokens import Token

    def tokens(*texts):
        return [Token(text, sum(map(ord, text)), 3 * at, 3 * at + len(text)) for at, text in enumerate(texts)]

    found = align_tokens(tokens("a", "red", "dog", "ran"), tokens("a", "very", "old", "blue", "dog", "sat"))
    assert found.pairs == ((0, 0), (2, 4), (3, 5))
    assert (found.only_here, found.only_there) == ((1,), (1, 2, 3))


def test_a_word_is_patched_wherever_it_stands(make_trace) -> None:
    donor, plain = make_trace(CHANGED), make_trace(CLEAN)
    after = make_trace(CLEAN, attnviz.patch(donor, "encoder", what="embedding", positions=["Dog"]))
    changed = (after.layer_output("encoder", -1) != plain.layer_output("encoder", -1)).any(dim=1)
    assert {words(plain)[at] for at in changed.nonzero()[:, 0]} <= {"dog", "d", "og", "do", "g"}
    for place in ("dog", 1):
        one = make_trace(CLEAN, attnviz.ablate("encoder_self", layer=0, heads=[1], positions=[place]))
        gone = one.context("encoder_self", 0)[1].abs().sum(dim=1) == 0
        expected = {"d", "og", "dog", "do", "g"} if place == "dog" else {words(plain)[1]}
        assert {words(plain)[at] for at in gone.nonzero()[:, 0]} <= expected
        assert gone.any()


def test_exchanged_columns_are_each_others_in_every_head(make_trace) -> None:
    plain, after = make_trace(CLEAN), make_trace(CLEAN, attnviz.exchange("cross", (0, 2)))
    attn = plain.attn("cross", layer=0)
    expected = attn.clone()
    expected[..., 0], expected[..., 2] = attn[..., 2], attn[..., 0]
    torch.testing.assert_close(after.attn("cross", layer=0), expected, atol=1e-6, rtol=0)
    twice = make_trace(CLEAN, attnviz.exchange("cross", (0, 2)), attnviz.exchange("cross", (2, 0)))
    torch.testing.assert_close(twice.logits, plain.logits, atol=1e-4, rtol=0)


def test_a_decoders_columns_change_places_only_where_a_row_sees_both(make_trace) -> None:
    plain = make_trace(CLEAN).attn("decoder_self", layer=0)
    after = make_trace(CLEAN, attnviz.exchange("decoder_self", (1, 3), layer=0)).attn("decoder_self", layer=0)
    torch.testing.assert_close(after[:, :3], plain[:, :3])
    torch.testing.assert_close(after[:, 3:, [1, 3]], plain[:, 3:, [3, 1]])
    assert not after.triu(1).any()


def test_a_mean_is_measured_over_a_set_and_the_same_wherever_it_is_put(model, make_trace) -> None:
    reference = [make_trace(text) for text in (CLEAN, LONGER)]
    means = attnviz.mean_contexts(model, reference)
    rows = torch.cat([one.context("cross", 1) for one in reference], dim=1)
    torch.testing.assert_close(means.values["cross", 1], rows.mean(dim=1), atol=1e-6, rtol=0)
    assert means.rows["encoder_self"] == sum(len(one.tokens("src")) for one in reference)
    after = make_trace(CLEAN, attnviz.ablate("cross", layer=1, heads=[2], to=means)).contexts[Site("cross", 1)][0, 2]
    assert torch.equal(after, means.values["cross", 1][2].expand_as(after))


def test_a_mean_of_rows_that_are_all_alike_changes_nothing(model, make_trace) -> None:
    even = make_trace(CLEAN, attnviz.ablate("cross", layer=0, to="uniform"))  # each row gathers the mean of the values
    means = attnviz.mean_contexts(model, [make_trace(CLEAN)])
    context = even.contexts[Site("cross", 0)]
    alike = type(means)({("cross", 0): context[0, :, 0]}, {"cross": 1}, model.model_id)
    again = make_trace(
        CLEAN, attnviz.ablate("cross", layer=0, to="uniform"), attnviz.ablate("cross", layer=0, to=alike)
    )
    torch.testing.assert_close(again.logits, even.logits, atol=1e-4, rtol=0)
