"""An intervention is a value: it says what it is, is saved with a trace, and is refused in a sentence where it errs."""

import numpy as np
import pytest
import torch

import attnviz
from attnviz.models.translator.tiny import tiny_translator
from attnviz.tracing.external.from_tensors import from_tensors
from tests.each_case import each_case
from tests.fixtures.red_dog import TARGET

TEXT = "A big red dog jumped."


@pytest.fixture(scope="module")
def interventions(model, make_trace):
    donor = make_trace("A big and very red dog jumped.")
    means = attnviz.mean_contexts(model, [donor])
    keys = len(make_trace(TEXT).tokens("src"))
    return (
        attnviz.ablate("cross", layer=1, heads=[2, 4]),
        attnviz.ablate("decoder_self", layer=0, heads=[1], to=means),
        attnviz.ablate("encoder_self", layer=2, to="uniform", positions=["red", 0]),
        attnviz.patch(donor, "encoder", layer=1, what="layer"),
        attnviz.patch(donor, "cross", layer=0, what="value", heads=[0]),
        attnviz.edit("cross", torch.eye(keys)[:2], layer=2, heads=[3]),
        attnviz.exchange("cross", ("red", "A"), heads=[0, 1]),
    )


def test_a_saved_trace_says_what_was_done_to_it_and_shows_it(make_trace, interventions, tmp_path) -> None:
    after = make_trace(TEXT, *interventions)
    attnviz.save(after, tmp_path / "t.npz")
    again = attnviz.load_trace(tmp_path / "t.npz")
    assert again.interventions == after.interventions == interventions
    assert [str(each) for each in again.interventions] == [str(each) for each in interventions]
    for kind in after.kinds:
        torch.testing.assert_close(again.attn(kind), after.attn(kind), rtol=0, atol=1e-6)
    keys = len(after.tokens("src"))
    assert torch.equal(again.attn("cross", layer=2, head=3)[:2], torch.eye(keys)[:2])
    with np.load(tmp_path / "t.npz") as file:
        assert np.array_equal(file["attn.cross"][0, 2, 3, :2], np.eye(keys)[:2])


def test_what_was_read_from_a_file_can_be_done_again(model, make_trace, interventions, tmp_path) -> None:
    after = make_trace(TEXT, *interventions)
    attnviz.save(after, tmp_path / "t.npz", maps=False)
    again = attnviz.load_trace(tmp_path / "t.npz")
    assert torch.equal(make_trace(TEXT, *again.interventions).logits, after.logits)
    assert torch.equal(model.rerun(again).logits, after.logits)


OTHER = [
    (b'"interventions": [{"where"', b'"interventions": [{"here"'),
    (b'"where": "cross"', b'"where": "crass"'),
    (b'"how": "mean"', b'"how": "zero"'),
    (b'"heads": [2, 4]', b'"heads": [2, {}]'),
    (b'"layer": 1', b'"layer": []'),
    (b'"positions": ["red", 0]', b'"positions": [["red"], 0]'),
]


@each_case(("own", "other"), OTHER, ids=[other.decode() for _, other in OTHER])
def test_a_file_whose_interventions_are_none_is_refused(own, other, make_trace, interventions, tmp_path) -> None:
    attnviz.save(make_trace(TEXT, *interventions), tmp_path / "t.npz", maps=False)
    with np.load(tmp_path / "t.npz") as file:
        arrays = dict(file)
    assert own in arrays["meta"].tobytes()
    meta = arrays["meta"].tobytes().replace(own, other)
    np.savez_compressed(tmp_path / "t.npz", **(arrays | {"meta": np.frombuffer(meta, dtype=np.uint8)}))
    with pytest.raises(ValueError, match=r"t\.npz is not a trace saved by attnviz"):
        attnviz.load_trace(tmp_path / "t.npz")


def test_a_notebook_is_told_what_was_done(model, make_trace, interventions) -> None:
    assert repr(make_trace(TEXT, interventions[0])).endswith("; interventions: cross L1 H2 H4: context zero>")
    assert "interventions" not in repr(make_trace(TEXT))


def test_equal_values_are_equal(interventions) -> None:
    assert attnviz.ablate("cross", layer=1, heads=(4, 2)) == interventions[0]
    assert hash(attnviz.ablate("cross", layer=1, heads=(4, 2))) == hash(interventions[0])
    assert attnviz.ablate("cross", layer=1, heads=[2]) != interventions[0]
    assert attnviz.edit("cross", torch.eye(3), layer=0) != attnviz.edit("cross", 2 * torch.eye(3), layer=0)
    assert len(set(interventions)) == len(interventions)


def test_an_intervention_describes_itself_as_a_text(interventions) -> None:
    assert str(interventions[0]) == "cross L1 H2 H4: context zero"
    assert str(interventions[2]) == "encoder_self L2: attn at red, 0 even"
    assert str(interventions[3]) == "encoder L1: layer from “A big and very red dog jumped.”"
    assert str(interventions[6]) == "cross H0 H1: attn of red and A exchanged"


MAKING = [
    (lambda d: attnviz.ablate("corss"), "kind must be one of"),
    (lambda d: attnviz.ablate("cross", to="average"), "to must be one of zero, mean, uniform, diagonal"),
    (lambda d: attnviz.ablate("cross", to="diagonal"), "no diagonal"),
    (lambda d: attnviz.ablate("cross", heads=[-1]), r"A head must be a number \(0 or more\), not -1"),
    (lambda d: attnviz.ablate("cross", heads=[]), "names no head"),
    (lambda d: attnviz.ablate("cross", positions=[]), "names no position"),
    (lambda d: attnviz.ablate("cross", positions=[-1]), r"a number \(0 or more\) or a word"),
    (lambda d: attnviz.patch(d, "cross", what="residual"), "what must be one of context"),
    (lambda d: attnviz.patch(d, "cross", layer=7), "There is no layer 7"),
    (lambda d: attnviz.patch(d, "cross", heads=[5]), "There is no head 5: this model has cross heads 0 to 4"),
    (lambda d: attnviz.patch(d, "encoder", what="layer"), "pass layer="),
    (lambda d: attnviz.patch(d, "encoder", layer=9, what="layer"), "no output of encoder layer 9"),
    (lambda d: attnviz.patch(d, "cross", item=1), "There is no item 1"),
    (lambda d: attnviz.patch(from_tensors(torch.eye(3), ["a", "b", "c"]), "encoder_self"), "bare weights"),
    (lambda d: attnviz.edit("cross", "even", layer=0), "weights is a tensor or a list, not 'even'"),
    (lambda d: attnviz.edit("cross", [[1.0, float("nan")]], layer=0), "weights must be finite numbers"),
    (lambda d: attnviz.edit("cross", torch.eye(3), layer=0, rows=[1]), "must fit all heads and 1 rows"),
    (lambda d: attnviz.edit("decoder_self", torch.ones(2, 2), layer=0), "cannot look at what comes after it"),
    (lambda d: attnviz.exchange("cross", "ab"), "exchange swaps two columns"),
    (lambda d: attnviz.mean_contexts(tiny_translator(seed=9), [d]), "traces of this model"),
    (lambda d: attnviz.mean_contexts(tiny_translator(seed=9), []), "at least one trace"),
]
RUNNING = [
    (lambda d: attnviz.ablate("cross", heads=[5]), "There is no head 5: this model has cross heads 0 to 4"),
    (lambda d: attnviz.ablate("cross", layer=3), "There is no layer 3: this model has cross layers 0 to 2"),
    (lambda d: "cross L1 H2", "what attnviz.ablate, patch, edit or exchange returns, not"),
    (lambda d: attnviz.ablate("cross", positions=["chat"]), "There is no word “chat” in “un chien rouge a sauté”"),
    (lambda d: attnviz.ablate("encoder_self", positions=[99]), "There is no position 99"),
    (lambda d: attnviz.patch(d, "encoder", what="embedding", positions=["cat"]), "There is no word “cat”"),
    (lambda d: attnviz.patch(d, "encoder_self", layer=0, what="attn"), "the donor's weights are over"),
    (lambda d: attnviz.edit("cross", torch.eye(3), layer=0), "the donor's weights are over 3 keys"),
    (lambda d: attnviz.edit("cross", torch.rand(3, 2, 9), layer=0), "that is for 3 heads, and there are 5"),
    (lambda d: attnviz.exchange("cross", ("red", "cat")), "There is no word “cat”"),
    (lambda d: attnviz.exchange("cross", (0, 0)), "choose two different places of the same length"),
]


@each_case(("make", "says"), MAKING, ids=[says for _, says in MAKING])
def test_what_cannot_be_is_said_when_it_is_made(make, says, make_trace) -> None:
    donor = make_trace("I love machine learning very much.")
    with pytest.raises(ValueError, match=says) as told:
        make(donor)
    assert "\n" not in str(told.value)


@each_case(("make", "says"), RUNNING, ids=[says for _, says in RUNNING])
def test_what_this_model_or_sentence_has_not_is_said_before_anything_runs(make, says, make_trace) -> None:
    donor = make_trace("A big and very red dog jumped.")
    with pytest.raises(ValueError, match=says) as told:
        make_trace(TEXT, make(donor))
    assert "\n" not in str(told.value)


def test_a_donor_of_another_model_is_refused(model, make_trace) -> None:
    stranger = tiny_translator(seed=9, n_heads=5, n_layers=3, d_k=14).trace(TEXT, to="fr", tgt_text=TARGET)
    with pytest.raises(ValueError, match="recorded with other weights"):
        make_trace(TEXT, attnviz.patch(stranger, "cross"))


def test_sentences_of_no_common_token_cannot_be_aligned(model, make_trace) -> None:
    with pytest.raises(ValueError, match="have no token in common and differ in length"):
        make_trace("xyz", attnviz.patch(make_trace("A big red dog"), "encoder", what="embedding"))


def test_a_word_of_a_target_that_is_not_written_yet_is_asked_for(model) -> None:
    with pytest.raises(ValueError, match="is in a target that is not written yet"):
        model.trace(TEXT, to="fr", interventions=[attnviz.ablate("cross", positions=["chien"])])
    with pytest.raises(ValueError, match="There is no head 9"):
        model.translate(TEXT, to="fr", interventions=[attnviz.ablate("cross", heads=[9])])
    with pytest.raises(ValueError, match="There is no head 9"):
        next(model.stepwise(TEXT, to="fr", interventions=[attnviz.ablate("cross", heads=[9])]))


def test_a_word_that_stands_there_twice_does_not_say_which_column(make_trace) -> None:
    with pytest.raises(ValueError, match="occurs 2 times"):
        make_trace("A dog, a dog", attnviz.exchange("cross", ("dog", 0)))
