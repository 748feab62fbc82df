"""Interventions on checkpoints: the same invariants as on our own model, and decoding on transformers' cache."""

import pytest
import torch

import attnviz
from attnviz.models.huggingface import ReplayedModel, load
from tests.models.huggingface import architectures
from tests.models.huggingface.checkpoints import PAIRS
from tests.models.huggingface.refused import CPU
from tests.tracing.causes import invariants
from tests.tracing.causes.invariants import Pair

pytestmark = pytest.mark.computes

TEXTS, TARGET = ("The quick brown fox jumps.", "The quick dog jumps over the fox."), "I love you."
NAMES = ("bert", "albert", "gpt2", "llama", "marian", "t5")  # ALBERT: one module for all layers; Llama: shared keys


@pytest.fixture(scope="module")
def pair(model):
    def make_pair(name) -> Pair:
        held = model(name)
        how = {"tgt_text": TARGET} if name in PAIRS else {} if name in ("bert", "albert") else {"new_tokens": 0}
        return Pair(held, lambda number, done=(): held.trace(TEXTS[number], interventions=done, **how))

    return make_pair


@pytest.mark.parametrize("name", NAMES)
def test_nothing_done_and_a_patch_from_itself_change_nothing(name, pair) -> None:
    invariants.nothing_done_changes_nothing(pair(name))
    invariants.a_patch_from_itself_changes_nothing(pair(name))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("holds", invariants.PER_KIND, ids=lambda holds: holds.__name__)
def test_each_invariant_holds_for_each_kind_of_site(holds, name, pair) -> None:
    for kind in pair(name).model.kinds:
        holds(pair(name), kind)


@pytest.mark.parametrize("name", NAMES)
def test_what_lies_outside_the_causal_cone_stays(name, pair) -> None:
    for kind in pair(name).model.kinds:
        invariants.check_causal_cone(pair(name), kind, position=2)


@pytest.mark.parametrize("name", PAIRS)
def test_a_source_is_its_embedding_and_what_cross_attention_gathers(name, model) -> None:
    held = model(name)

    def trace(text, *done):
        return held.trace(text, tgt_text=TARGET, interventions=done)

    clean, changed, longer = "A cat sat on it.", "A dog sat on it.", TEXTS[1]
    plain, donor, other = trace(clean), trace(changed), trace(longer)
    assert len(donor.tokens("src")) == len(plain.tokens("src")) != len(other.tokens("src"))
    assert torch.equal(trace(clean, attnviz.patch(donor, "encoder", what="embedding")).logits, donor.logits)
    assert torch.equal(trace(clean, attnviz.patch(other, "cross")).logits, other.logits)


@pytest.mark.parametrize("name", ["gpt2", "llama", "marian", "t5"])
def test_steps_on_a_cache_are_the_one_pass(name, model) -> None:
    held = model(name)
    text, how = "A cat.", {"tgt_text": "I am."} if name in PAIRS else {"new_tokens": 3}
    donor = held.trace("A dog ran.", **({"tgt_text": TARGET} if name in PAIRS else {"new_tokens": 0}))
    last = donor.kinds[-1]
    for done in (
        [attnviz.ablate(last, layer=1, heads=[2]), attnviz.ablate("decoder_self", layer=0, heads=[0], to="uniform")],
        [attnviz.patch(donor, "decoder_self", what="key", layer=1), attnviz.patch(donor, last, layer=0, heads=[1])],
        [attnviz.patch(donor, "decoder", what="layer", layer=0, positions=[0]),
         attnviz.exchange("decoder_self", (0, 1), layer=1)],
    ):  # fmt: skip
        whole = held.trace(text, interventions=done, **how)
        assert whole.interventions == tuple(done)
        for cached in (True, False) if name == "t5" else (True,):
            steps = list(held.stepwise(text, cached=cached, interventions=done, **how))
            assert steps[-1].trace.interventions == tuple(done)
            for row, step in enumerate(steps[: whole.logits.shape[1]]):
                torch.testing.assert_close(step.logits, whole.logits[0, row], atol=3e-4, rtol=3e-4)
                found = step.attn("decoder_self")[:, :, -1]
                expected = whole.attn("decoder_self")[:, :, row, : found.shape[-1]]
                torch.testing.assert_close(found, expected, atol=2e-5, rtol=0)


def test_a_target_is_written_with_them_in_force(model) -> None:
    held, done = model("marian"), [attnviz.ablate("cross", layer=1, heads=[2]), attnviz.ablate("encoder_self", layer=0)]
    whole = held.trace("A cat.", interventions=done)
    *_, last = held.stepwise("A cat.", interventions=done)
    assert last.trace.tgt_text == whole.tgt_text == held.write_target("A cat.", interventions=done)[0]
    assert whole.tgt_text != held.trace("A cat.").tgt_text
    assert torch.equal(held.rerun(whole).logits, whole.logits)


def test_a_prompt_of_another_length_is_aligned_and_what_follows_it_left_alone(model) -> None:
    held = model("gpt2")
    donor = held.trace("The quick fox jumps.", new_tokens=0)
    plain = held.trace(TEXTS[0], new_tokens=3)
    after = held.trace(TEXTS[0], new_tokens=3, interventions=[attnviz.patch(donor, "decoder", what="embedding")])
    own, theirs = (trace.layer_output("decoder", -1) for trace in (after, donor))
    texts = [[token.text for token in trace.tokens("tgt")] for trace in (after, donor)]
    for at, text in enumerate(texts[0][: len(plain.sentences[0].tgt_in) - 2]):
        if text.strip() == "brown":
            assert torch.equal(own[at], plain.layer_output("decoder", -1)[at])
        elif texts[1].count(text) == texts[0].count(text) == 1:
            assert torch.equal(own[at], theirs[texts[1].index(text)])
    assert any("have a partner in the donor" in note for note in after.info.notes)


def test_each_text_of_a_batch_has_it_done_to_itself(model) -> None:
    held, done = model("bert"), [attnviz.ablate("encoder_self", layer=1, heads=[2], positions=["fox"])]
    both = held.trace(list(TEXTS), interventions=done)
    for item, text in enumerate(TEXTS):
        alone = held.trace(text, interventions=done)
        length = len(alone.tokens("src"))
        torch.testing.assert_close(both.logits[item, :length], alone.logits[0], atol=1e-4, rtol=1e-4)


def test_hidden_states_are_changed_even_where_nobody_asked_to_keep_them(model) -> None:
    held = model("gpt2")
    donor = held.trace("The quick white fox jumps.", new_tokens=0)
    done = [attnviz.patch(donor, "decoder", what="layer", layer=1)]
    lean = held.trace(TEXTS[0], new_tokens=0, hidden=False, interventions=done)
    assert torch.equal(lean.logits, held.trace(TEXTS[0], new_tokens=0, interventions=done).logits)
    assert not lean.layers
    assert not lean.contexts


def test_a_model_that_is_only_replayed_says_that_nothing_can_be_done(tmp_path) -> None:
    held = load(architectures.ALL["prophetnet"](tmp_path / "prophetnet"), **CPU)
    assert isinstance(held, ReplayedModel)
    with pytest.raises(ValueError, match="Its runs cannot be changed"):
        held.trace("A cat sat.", interventions=[attnviz.ablate("decoder_self", heads=[0])])


@pytest.mark.parametrize("name", ["gemma2", "gpt_oss", "lfm2", "bloom", "gpt_neo"])
def test_invariants_hold_with_capped_scores_sinks_scores_alone_and_layers_without_attention(name, tmp_path) -> None:
    held = load(architectures.ALL[name](tmp_path / name), **CPU)
    pair = Pair(held, lambda number, done=(): held.trace(TEXTS[number], new_tokens=0, interventions=done))
    if name != "bloom":  # whose queries cannot be patched
        invariants.a_patch_from_itself_changes_nothing(pair)
    invariants.a_head_gives_its_context_through_w_o(pair, "decoder_self")
    invariants.an_edited_map_is_what_the_trace_shows_and_what_ran(pair, "decoder_self")
    even = held.trace(
        TEXTS[0], new_tokens=0, interventions=[attnviz.ablate("decoder_self", layer=0, heads=[1], to="uniform")]
    )
    sunk = even.sink_weights("decoder_self")
    if sunk is not None:  # even weights leave nothing to the sink
        torch.testing.assert_close(sunk[0, 1], torch.zeros_like(sunk[0, 1]), atol=1e-6, rtol=0)
        assert bool((sunk[0, 0] > 0).all())
