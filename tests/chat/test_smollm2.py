"""A real instruct model: what attnviz reads, writes and shows of a conversation is what transformers does."""

import pytest
import torch

import attnviz
from attnviz.spans.numbers.needle import count_needles

FRANCE = [{"role": "user", "content": "What is the capital of France?"}]
TALK = [
    {"role": "system", "content": "You answer in one word."},
    {"role": "user", "content": "Which animal barks?"},
    {"role": "assistant", "content": "Dog."},
    {"role": "user", "content": "And which one meows?"},
]


def reply(model, messages, count=20) -> list[int]:
    return [step.token.id for step in model.reply(messages, new_tokens=count)]


def rendered(tokenizer, messages) -> list[int]:
    return tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=True, return_dict=True)[
        "input_ids"
    ]


@pytest.mark.parametrize("messages", [FRANCE, TALK], ids=["one turn", "several turns"])
def test_tokens_are_those_of_transformers(messages, model, peer):
    sentence = model.trace(messages=messages, new_tokens=0).sentences[0]
    assert [token.id for token in sentence.tgt] == rendered(peer[1], messages)
    for turn, span in zip(messages, sentence.spans[-len(messages) :], strict=True):
        first, last = sentence.tgt[span.start], sentence.tgt[span.end - 1]
        assert sentence.tgt_text[first.start : last.end] == turn["content"]


@pytest.mark.parametrize("messages", [FRANCE, TALK], ids=["one turn", "several turns"])
def test_a_greedy_reply_is_that_of_transformers(messages, model, peer):
    prompt = torch.tensor([rendered(peer[1], messages)])
    with torch.inference_mode():
        written = peer[0].generate(prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=20, do_sample=False)
    assert reply(model, messages) == written[0, prompt.shape[1] :].tolist()


def test_it_knows_the_capital_of_france(model):
    text = next(iter(reversed(list(model.reply(FRANCE, new_tokens=20))))).trace.sentences[0].tgt_text
    assert "The capital of France is Paris." in text


def test_weights_are_those_of_transformers_eager_pass(model, peer):
    trace = model.trace(messages=TALK, new_tokens=4)
    ids = torch.tensor([[token.id for token in trace.sentences[0].tgt_in]])
    with torch.inference_mode():
        expected = torch.cat(peer[0](ids, output_attentions=True).attentions)
    assert float((trace.attn("decoder_self") - expected).abs().max()) < 2e-5


def test_the_gguf_file_is_the_same_model(gguf_file, model):
    opened = attnviz.load(gguf_file, device="cpu", dtype="float32")
    assert opened.name == gguf_file.name
    assert opened.has_chat
    assert opened.model_id == model.model_id
    assert reply(opened, FRANCE, 8) == reply(model, FRANCE, 8)


def test_a_model_that_transformers_put_on_one_device_is_shown(folder, model):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    placed = AutoModelForCausalLM.from_pretrained(folder, device_map={"": "cpu"}, dtype=torch.float32)
    assert reply(attnviz.load(placed, AutoTokenizer.from_pretrained(folder)), FRANCE, 8) == reply(model, FRANCE, 8)


def test_the_answer_needs_the_sentence_that_it_is_in(model):
    """Three of twelve places; the how-to has all of them."""
    counted = count_needles(model, places=(2, 6, 10))
    assert counted.counts() | {"attended_most": 0} == {"of": 3, "says": 3, "hurts_most": 3, "attended_most": 0}
