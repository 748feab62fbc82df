"""Sentence pairs, prompts and continuations: which part a token belongs to, and the quadrants of a map."""

import shutil

import pytest
import torch
import transformers

import attnviz
from attnviz.maps.quadrants import quadrants
from attnviz.models.huggingface import load
from attnviz.text.limits import TextError
from tests.models.huggingface import checkpoints
from tests.models.huggingface.checkpoints import ENCODERS
from tests.models.huggingface.refused import CPU, change

pytestmark = pytest.mark.computes

A, B = "A cat sat on the mat.", "Where is it?"


@pytest.mark.parametrize("name", ENCODERS)
def test_a_pair_has_four_quadrants_that_make_its_map(name, model):
    trace = model(name).trace(A, B)
    maps = trace.attn("encoder_self", layer=1)
    found = {each.name: each.cut(maps) for each in quadrants(trace, "encoder_self")}
    assert list(found) == ["A → A", "A → B", "B → A", "B → B"]
    top, bottom = torch.cat((found["A → A"], found["A → B"]), -1), torch.cat((found["B → A"], found["B → B"]), -1)
    assert torch.equal(torch.cat((top, bottom), -2), maps)


@pytest.mark.parametrize("name", ENCODERS)
def test_tokens_know_their_sentence_and_where_they_stand_in_it(name, model):
    trace = model(name).trace(A, B)
    assert trace.src_text == f"{A} {B}"
    for token in trace.tokens("src"):
        if not token.is_special:
            assert trace.src_text[token.start : token.end] == token.text
            assert token.segment == int(token.start > len(A))
    spelled = [
        "".join(t.text for t in trace.tokens("src") if t.segment == segment and not t.is_special) for segment in (0, 1)
    ]
    assert spelled == [text.replace(" ", "") for text in (A, B)]


def test_a_prompt_does_not_see_what_was_written_after_it(model):
    trace = model("llama").trace("A cat sat", new_tokens=5)
    found = {each.name: each.cut(trace.attn("decoder_self")) for each in quadrants(trace, "decoder_self")}
    assert list(found) == ["A → A", "A → B", "B → A", "B → B"]
    assert not found["A → B"].any()
    assert found["B → A"].any()


def test_one_sentence_is_one_quadrant(model):
    trace = model("bert").trace(A)
    (only,) = quadrants(trace, "encoder_self")
    assert torch.equal(only.cut(trace.attn("encoder_self")), trace.attn("encoder_self"))


@pytest.mark.parametrize("name", ["bert", "gpt2", "marian"])
def test_the_padding_after_a_shorter_text_is_left_out(model, name, tmp_path):
    """Whatever a trace of several texts is asked about one of them: it answers as if that had run alone."""
    given = {"bert": {}, "gpt2": {"new_tokens": 0}, "marian": {"tgt_text": ["I love you, and the town.", "I"]}}[name]
    together = model(name).trace([A, B], **given)
    alone = model(name).trace(B, **(given | ({"tgt_text": "I"} if name == "marian" else {})))
    attnviz.save(together, tmp_path / "t.npz")
    for trace in (together, attnviz.load_trace(tmp_path / "t.npz")):
        for kind in alone.kinds:
            assert not any(map(model(name).is_pad, (*trace.query_tokens(kind, 1), *trace.key_tokens(kind, 1))))
            for ask in ("attn", "scores", "thumbnails"):
                ours, expected = (getattr(one, ask)(kind, item=at).float() for one, at in ((trace, 1), (alone, 0)))
                torch.testing.assert_close(ours, expected, atol=1.1 if ask == "thumbnails" else 1e-5, rtol=1e-5)
            for ask in ("context", "input_", "layer_mask"):
                ours, expected = (getattr(one, ask)(kind, 1, at).float() for one, at in ((trace, 1), (alone, 0)))
                torch.testing.assert_close(ours, expected, atol=1e-5, rtol=1e-5)
        for stack, layer in alone.layers:
            assert trace.layer_output(stack, layer, 1).shape == alone.layer_output(stack, layer).shape


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("gpt2", {"pair": B}, "Only an encoder can read a pair of sentences; .* accepts text\\."),
        ("bert", {"tgt_text": B}, "bert does not accept a target"),
        ("bert", {"pair": " "}, "The sentence is empty"),
        ("bert", {"new_tokens": 3}, "bert does not accept new_tokens"),
        ("marian", {"new_tokens": 3}, "marian does not accept new_tokens"),
    ],
)
def test_what_a_model_does_not_take_is_said(name, arguments, says, model):
    with pytest.raises(ValueError, match=says):
        model(name).trace(A, **arguments)


def test_targets_of_which_some_are_empty_are_refused_and_not_dropped(model):
    with pytest.raises(ValueError, match="Target 1 is empty and others are not"):
        model("marian").trace([A, B], tgt_text=["I love you.", " "])
    assert len(model("marian").trace([A, B], tgt_text=["", " "]).sentences) == 2


@pytest.mark.filterwarnings("ignore:.*nly the first:UserWarning")
def test_a_long_pair_loses_tokens_of_its_longer_sentence_and_says_of_which(model):
    trace = model("bert").trace("cat " * 90, B)
    assert len(trace.tokens("src")) == 61
    assert trace.info.notes == (
        "Sentence: only the first 53 of 90 tokens were kept.", "This model reads at most 61 tokens."
    )  # fmt: skip
    assert [token.text for token in trace.tokens("src") if token.segment][:3] == ["Whe", "re", "is"]
    assert model("bert").trace(A, "cat " * 90).info.notes[0].startswith("Second sentence: only the first")
    both = model("bert").trace("cat " * 90, "dog " * 5000)
    names = [note.split(" only")[0] for note in both.info.notes[:3]]
    assert names == ["Sentence:", "Second sentence:", "Second sentence:"]
    assert "characters were read" in both.info.notes[1]


@pytest.mark.filterwarnings("ignore:.*nly the first:UserWarning")
@pytest.mark.parametrize(("name", "says"), [("gpt2", "Prompt: only"), ("bart", "Source: only"), ("bert", "Sentence: ")])
def test_a_note_names_what_it_is_about(name, says, model):
    note, limit = model(name).trace("cat " * 90, **({"tgt_text": A} if name == "bart" else {})).info.notes
    assert note.startswith(says)
    assert limit.startswith("This model reads at most")
    if name == "bart":
        assert model(name).trace(A, tgt_text="cat " * 90).info.notes[0].startswith("Target: only the first")


def test_no_room_for_a_sentence_is_said(model):
    with pytest.raises(TextError, match="there is no room"):
        model("bert").trace(A, max_tokens=2)


def test_a_tokenizer_without_segments_among_its_inputs_marks_none(checkpoint, tmp_path):
    """Its file marks a pair's second sentence, but transformers hands the model no such ids."""
    shutil.copytree(checkpoint("bert"), tmp_path / "bert")
    change(tmp_path / "bert" / "tokenizer_config.json", model_input_names=["input_ids", "attention_mask"])
    loaded = load(tmp_path / "bert", **CPU)
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "bert")
    made = tokenizer("A cat sat.", "It sleeps on.", return_tensors="pt")
    assert "token_type_ids" not in made
    with torch.inference_mode():
        expected = checkpoints.reference(tmp_path / "bert")(**made, output_attentions=True).attentions
    found = loaded.trace("A cat sat.", "It sleeps on.").attn("encoder_self")
    torch.testing.assert_close(found, torch.stack([layer[0] for layer in expected]), atol=5e-5, rtol=5e-5)
