"""The translator: order, blanks, batches, steps, and the catalogue's sentences for what cannot be loaded."""

import json

import pytest
import torch

import attnviz
from attnviz.models import catalogue
from attnviz.models.translator.tiny import tiny_translator
from attnviz.text.limits import TextError
from attnviz.transformer import checkpoint
from attnviz.transformer.checkpoint import weights_id

pytestmark = pytest.mark.computes

SENTENCES = ["I love you", "", "A big red dog jumped over a small pond", "   ", "dog", "machine learning is fun"]


@pytest.fixture(scope="module")
def model():
    return tiny_translator(seed=1)


@pytest.fixture
def folder(model, tmp_path):
    checkpoint.save(model.model, tmp_path, dtype=torch.float32)
    model.codec.save(tmp_path / "tokenizer.json")
    return tmp_path


def test_a_batch_translates_as_each_alone_in_the_same_order_and_blank_stays_blank(model):
    together = model.translate(SENTENCES, to="fr", batch=3)
    assert together == [model.translate(text, to="fr") if text.strip() else "" for text in SENTENCES]
    assert together[1] == together[3] == ""


def test_what_is_translated_is_what_is_traced(model):
    assert model.trace("I love you", to="zh").tgt_text == model.translate("I love you", to="zh")


@pytest.mark.parametrize("cached", [True, False])
def test_steps_are_the_rows_of_the_pass(model, cached):
    trace = model.trace("I love you", to="fr")
    steps = list(model.stepwise("I love you", to="fr", cached=cached, max_tokens=len(trace.output_tokens("cross"))))
    written = [token.id for token in trace.tokens("tgt")[1:]]
    assert [step.token.id for step in steps][: len(written)] == written
    for step in steps[: len(trace.query_tokens("cross"))]:
        torch.testing.assert_close(
            step.attn("cross")[..., -1, :], trace.attn("cross")[:, :, step.index], rtol=0, atol=2e-6
        )
        row = trace.attn("decoder_self")[:, :, step.index, : step.index + 1]
        torch.testing.assert_close(step.attn("decoder_self")[..., -1, :], row, rtol=0, atol=2e-6)
        torch.testing.assert_close(step.logits, trace.logits[0, step.index], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("text", ["", "   ", "\n\t"])
def test_an_empty_sentence_is_refused_with_an_example(model, text):
    with pytest.raises(TextError, match=r"The sentence is empty\. Please type one"):
        model.trace(text, to="fr")


def test_an_unknown_language_is_refused_with_those_there_are(model):
    with pytest.raises(TextError, match="does not write 'xx'; it writes fr, zh"):
        model.trace("dog", to="xx")


@pytest.mark.filterwarnings("ignore:.*nly the first:UserWarning")
def test_a_hundred_thousand_characters_are_cut_and_said_so(model):
    trace = model.trace("dog " * 25_000, to="fr", tgt_text="un")
    assert trace.info.notes[0] == "Source: only the first 2,000 of 100,000 characters were read."
    assert len(trace.tokens("src")) <= 512


@pytest.mark.filterwarnings("ignore:.*nly the first:UserWarning")
def test_notes_name_the_sentence_that_was_cut(model):
    notes = model.trace("a cat", to="fr", tgt_text="un chat " * 300).info.notes
    assert notes[0] == "Target: only the first 2,000 of 2,400 characters were read."


def test_load_reads_a_folder_back(model, folder):
    loaded = attnviz.load(folder, device="cpu", dtype="float32")
    assert loaded.model_id == weights_id(folder)
    weights = model.model.state_dict()
    assert all(torch.equal(weight, weights[name]) for name, weight in loaded.model.state_dict().items())
    # A loaded matrix lies by columns, so that its products are rounded in another order.
    again, expected = loaded.trace("dog", to="fr"), model.trace("dog", to="fr")
    assert again.tokens("tgt") == expected.tokens("tgt")
    torch.testing.assert_close(again.logits, expected.logits, rtol=0, atol=1e-5)


def test_other_weights_have_another_id(model, folder, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    checkpoint.save(tiny_translator(seed=2).model, other, dtype=torch.float32)
    assert weights_id(other) != weights_id(folder)


def test_a_model_that_is_not_there_is_named():
    with pytest.raises(
        ValueError, match=r"There is no model 'nowhere'\. Please pass a folder, or one of the shipped ones"
    ):
        catalogue.translator("nowhere")


def test_a_tokenizer_of_another_model_is_refused(model, folder):
    config = json.loads((folder / "config.json").read_text())
    other = tiny_translator(seed=0)
    bigger = type(other.model)(type(other.model.config)(**(config["model"] | {"vocab_size": 161}))).initialise(0)
    checkpoint.save(bigger, folder)
    with pytest.raises(ValueError, match=r"has \d+ entries; the model expects 161"):
        attnviz.load(folder)


def test_what_was_cut_is_told_with_its_place(model):
    told = []
    model.translate(["I love you", "", "a big red dog and " * 200], to="fr", tell=lambda *each: told.append(each))
    assert (2, "Only the first 2,000 of 3,600 characters were read.") in told
    assert {index for index, _ in told} <= {0, 2}


@pytest.mark.parametrize("batch", [0, -1])
def test_a_batch_of_none_is_refused(model, batch):
    with pytest.raises(ValueError, match="at least 1 sentence"):
        model.translate(["I love you"], to="fr", batch=batch)


def test_room_for_no_token_is_refused(model):
    with pytest.raises(ValueError, match="at least 1 token, not -3"):
        model.trace("I love you", to="fr", max_tokens=-3)


def test_an_item_that_is_not_there_is_refused_by_its_tokens_too(model):
    trace = model.trace("I love you", to="fr")
    for read in (lambda item: trace.tokens("src", item), lambda item: trace.query_tokens("cross", item)):
        for item in (-1, 1):
            with pytest.raises(ValueError, match=f"There is no item {item}"):
                read(item)
