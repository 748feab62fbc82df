"""A conversation is traced and answered: the tokens are transformers' own, and steps are the rows of one pass."""

import pytest
import torch

import attnviz
from attnviz.models.chat import can_chat
from attnviz.models.huggingface.checkpoint_facts import checkpoint_facts
from attnviz.text.limits import TextError
from attnviz.text.tokens import Span
from tests.models.huggingface.chat.templates import TEMPLATES
from tests.models.huggingface.parity.test_parity import CLOSE

ASKED = [{"role": "system", "content": "The cat sat."}, {"role": "user", "content": "The dog looked at the cat"}]
NAMES = ("llama", "mistral", "qwen3", "gemma")


def chat_ids(model, messages) -> list[int]:
    """Encode a conversation with transformers alone."""
    asks = messages[-1]["role"] == "user"
    made = model.text.tokenizer.apply_chat_template(messages, add_generation_prompt=asks, return_dict=True)
    return list(made["input_ids"])


@pytest.mark.parametrize("template", TEMPLATES)
def test_tokens_of_a_conversation_are_transformers_own(template, chat):
    llama, messages = chat("llama", TEMPLATES[template]), [*ASKED[1:], {"role": "assistant", "content": "A cat."}]
    for said in (messages[:1], messages):
        sentence = llama.trace(messages=said, new_tokens=0).sentences[0]
        assert [token.id for token in sentence.tgt_in] == chat_ids(llama, said)


def test_turns_are_spans_and_what_the_model_writes_is_the_assistants(chat):
    sentence = chat("llama").trace(messages=ASKED, new_tokens=5).sentences[0]
    roles = {span.name: "".join(token.text for token in sentence.tgt[span.start : span.end]) for span in sentence.spans}
    assert roles["system"] == "Thecatsat."
    assert roles["user"] == "Thedoglookedatthecat"
    assert sentence.spans[-1].name == "assistant"
    written = sentence.tgt[sentence.spans[-1].start :]
    assert len(written) == 5
    assert all(token.segment == 1 for token in written)
    assert not any(token.segment for token in sentence.tgt[: sentence.spans[-1].start])


@pytest.mark.parametrize("name", NAMES)
def test_a_reply_is_what_generate_writes_and_its_steps_are_rows_of_one_pass(name, chat):
    found = chat(name)
    steps = list(found.reply(ASKED, new_tokens=9))
    ids = torch.tensor([chat_ids(found, ASKED)])
    expected = found.torch_module.generate(
        ids, attention_mask=torch.ones_like(ids), do_sample=False, num_beams=1, max_new_tokens=9, use_cache=False
    )
    last = steps[-1].trace.sentences[0]
    assert [token.id for token in last.tgt] == expected[0].tolist()
    whole = found.rerun(steps[-1].trace)
    for step in steps:
        rows = step.attn("decoder_self")
        end = len(step.prefix)
        same = whole.attn("decoder_self")[:, :, end - rows.shape[2] : end, : rows.shape[3]]
        torch.testing.assert_close(rows, same, **CLOSE)
        torch.testing.assert_close(step.logits, whole.logits[0, end - 1], atol=1e-4, rtol=1e-4)
    assert steps[0].attn("decoder_self").shape[2] == ids.shape[1]  # the conversation is read at once
    assert {step.attn("decoder_self").shape[2] for step in steps[1:]} <= {1}


def test_a_reply_is_drawn_again_from_the_same_seed_and_another_from_another(chat):
    found = chat("llama")

    def ids(**asked):
        return [step.token.id for step in found.reply(ASKED, new_tokens=12, **asked)]

    assert ids(temperature=2.0, seed=3) == ids(temperature=2.0, seed=3)
    assert len({tuple(ids(temperature=2.0, seed=seed)) for seed in range(4)}) > 1
    assert ids(top_p=1e-6, seed=5) == ids()


def test_a_saved_conversation_keeps_its_turns(chat, tmp_path):
    trace = chat("qwen3").trace(messages=ASKED, new_tokens=2)
    attnviz.save(trace, tmp_path / "conversation.npz")
    assert attnviz.load_trace(tmp_path / "conversation.npz").sentences[0].spans == trace.sentences[0].spans
    assert isinstance(trace.sentences[0].spans[0], Span)


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"messages": ASKED, "text": "The cat"}, "Give messages or text, not both"),
        ({"messages": ASKED * 60}, "only the first turn may be"),
        ({"messages": [{"role": "user", "content": "cat " * 700}]}, "tokens; at most"),
        ({"messages": ASKED, "new_tokens": -1}, "new_tokens must be 0 or more"),
        ({"messages": "The cat"}, "messages"),
    ],
)
def test_a_conversation_that_cannot_be_traced_is_one_sentence(asked, sentence, chat):
    with pytest.raises(ValueError, match=sentence) as refused:
        chat("llama").trace(**asked)
    assert "\n" not in str(refused.value)


def test_a_model_without_a_template_and_one_that_does_not_write_say_so(chat, model):
    with pytest.raises(TextError, match="has no chat template, so it can read a plain text"):
        chat("llama", "").trace(messages=ASKED)
    with pytest.raises(ValueError, match="cannot hold a conversation: only a decoder"):
        model("bert").trace(messages=ASKED)
    with pytest.raises(TextError, match="end with a user turn"):
        chat("llama").reply([*ASKED, {"role": "assistant", "content": "A cat."}])


_ANSWERED = [*ASKED, {"role": "assistant", "content": "A cat "}]


def test_writing_after_the_assistants_own_turn_continues_inside_it(chat):
    llama = chat("llama", TEMPLATES["Llama 3"])
    tokenizer = llama.text.tokenizer
    open_ids = tokenizer.apply_chat_template(_ANSWERED, continue_final_message=True, return_dict=True)["input_ids"]
    sentence = llama.trace(messages=_ANSWERED, new_tokens=4).sentences[0]
    assert [token.id for token in sentence.tgt[:-4]] == open_ids
    assert [span.name for span in sentence.spans] == ["system", "user", "assistant"]
    assert sentence.spans[-1].end == len(sentence.tgt)
    assert sentence.tgt[sentence.spans[-1].start].text == "A"
    last = list(llama.stepwise(messages=_ANSWERED, new_tokens=4))[-1]
    assert last.trace.sentences[0].spans == sentence.spans
    closed = llama.trace(messages=_ANSWERED).sentences[0]
    assert [token.id for token in closed.tgt_in] == chat_ids(llama, _ANSWERED)
    assert [span.name for span in closed.spans] == ["system", "user", "assistant"], "what follows is no second answer"
    assert "".join(token.text for token in closed.tgt[slice(closed.spans[-1].start, closed.spans[-1].end)]) == "Acat"


def test_notes_say_what_the_template_did_to_a_turn_and_the_others_keep_their_bands(chat):
    thought = {"role": "assistant", "content": "<think>Hm.</think>A cat"}
    asked = [*ASKED, thought, {"role": "user", "content": "Why?"}]
    trace = chat("llama", TEMPLATES["Qwen 3"]).trace(messages=asked, new_tokens=2)
    assert [span.name for span in trace.sentences[0].spans] == ["system", "user", "user 2", "assistant 2"]
    (note,) = (note for note in trace.info.notes if "chat template" in note)
    assert note == "The chat template changes the text of turn 3 (assistant), so this turn has no band."
    moved = chat("llama", TEMPLATES["Mistral"]).trace(messages=asked, new_tokens=2)
    assert [span.name for span in moved.sentences[0].spans] == ["user", "assistant", "system", "user 2", "assistant 2"]
    assert "The chat template moves turn 1 (system) behind turn 3 (assistant)." in moved.info.notes
    loud = chat("llama", TEMPLATES["Phi"].replace("m.content", "m.content | upper"))
    assert (
        "The chat template changes the text of turns 1 (system) and 2 (user), so these turns have no bands."
        in loud.trace(messages=ASKED, new_tokens=0).info.notes
    )


def test_a_template_that_writes_the_date_gets_a_note(chat):
    dated = chat("llama", "{{ strftime_now('%Y') }}" + TEMPLATES["Phi"])
    assert any("writes the date: on another day" in note for note in dated.trace(messages=ASKED).info.notes)


def test_a_model_with_several_templates_and_no_default_says_which_there_are(chat):
    llama = chat("llama", {"rag": TEMPLATES["Phi"], "tool_use": TEMPLATES["Phi"]})
    with pytest.raises(TextError, match="several chat templates, “rag” and “tool_use”"):
        llama.trace(messages=ASKED)
    assert "“rag” and “tool_use”" in checkpoint_facts(llama)["text"]["conversation"]
    assert not can_chat(llama)
