"""A reply is written, stopped, gone on with and taken back: the same tokens and rows as in one pass."""

from dataclasses import replace

import pytest
import torch

from attnviz.decoding.reply.numbers.reply import Choosing, Reply, start_reply
from attnviz.models.huggingface import load
from attnviz.text.limits import TextError
from attnviz.tracing.causes.making import ablate
from attnviz.tracing.record import Sentence
from tests.models.huggingface import architectures
from tests.models.huggingface.chat.conftest import POSITIONS
from tests.models.huggingface.chat.test_chat_model import ASKED, NAMES, chat_ids
from tests.models.huggingface.parity.test_parity import CLOSE
from tests.models.huggingface.refused import CPU

TEXT = "The quick brown fox jumps over the dog."
WARM = Choosing(temperature=2.0, top_p=0.9, seed=7)


def ids(reply) -> list[int]:
    return [each.token.id for each in reply.written]


def same_pass(model, reply, **changed):
    """Trace the whole of a reply in one pass: the rows that its steps have computed."""
    sentence = Sentence(tgt=reply.tokens, tgt_text=reply.prompt.encoded.text + reply.spoken)
    return model.rerun(replace(model.trace(TEXT, new_tokens=0, **changed), sentences=(sentence,)))


@pytest.mark.parametrize("name", NAMES)
def test_a_greedy_reply_is_what_generate_writes_and_its_rows_are_one_pass(name, chat):
    found = chat(name)
    reply = start_reply(found, ASKED, limit=13)
    reply.go_on(13)
    prompt = torch.tensor([chat_ids(found, ASKED)])
    expected = found.torch_module.generate(
        prompt, attention_mask=torch.ones_like(prompt), do_sample=False, num_beams=1, max_new_tokens=13, use_cache=False
    )
    assert [token.id for token in reply.tokens] == expected[0].tolist()
    assert reply.ended
    whole = same_pass(found, reply).attn("decoder_self")
    assert reply.attn().shape == whole.shape
    torch.testing.assert_close(reply.attn(), whole, **CLOSE)
    layers, heads = whole.shape[:2]
    torch.testing.assert_close(reply.attn(layer=layers - 1, head=heads - 2), whole[-1, -2], **CLOSE)
    few = reply.rows.mean(layer=None, head=None, start=9, stop=11)
    torch.testing.assert_close(few, whole.mean(dim=(0, 1))[9:11, :11], **CLOSE)


@pytest.mark.parametrize("name", ["gemma2", "gpt_oss", "gemma3_text"])
def test_rows_keep_windows_capped_scores_and_sinks(name, tmp_path):
    found = load(architectures.ALL[name](tmp_path), **CPU)
    reply = start_reply(found, text=TEXT, limit=11)
    reply.go_on(11)
    torch.testing.assert_close(reply.attn(), same_pass(found, reply).attn("decoder_self"), **CLOSE)


def test_rows_under_an_intervention_are_those_of_its_pass(chat):
    found, done = chat("llama"), [ablate("decoder_self", layer=1, heads=[2], to="uniform")]
    reply = start_reply(found, text=TEXT, limit=9, interventions=done)
    reply.go_on(9)
    torch.testing.assert_close(reply.attn(), same_pass(found, reply, interventions=done).attn("decoder_self"), **CLOSE)


@pytest.mark.parametrize("choosing", [Choosing(), WARM])
def test_stopping_and_going_on_changes_nothing(choosing, chat):
    found = chat("qwen3")
    once, twice = (start_reply(found, ASKED, choosing=choosing, limit=14) for _ in range(2))
    once.go_on(14)
    for count in (1, 4, 2, 7):
        twice.go_on(count)
    assert ids(once) == ids(twice)
    assert [each.alternatives for each in once.written] == [each.alternatives for each in twice.written]


@pytest.mark.parametrize("choosing", [Choosing(), WARM])
def test_going_back_and_choosing_another_is_the_reply_that_a_link_asks_for(choosing, chat):
    found = chat("mistral")
    reply = start_reply(found, ASKED, choosing=choosing, limit=15)
    before = ids_after(reply, 15)
    another = next(each.id for each in reply.written[6].alternatives if each.id != before[6])
    taken = reply.take(6, another)
    assert (taken.token.id, taken.is_taken) == (another, True)
    assert len(reply.written) == 7
    after = ids_after(reply, 8)
    assert after[:6] == before[:6]
    linked = start_reply(found, ASKED, choosing=choosing, limit=15, taken=reply.taken)
    assert ids_after(linked, 15) == after
    torch.testing.assert_close(reply.attn(), same_pass(found, reply).attn("decoder_self"), **CLOSE)
    reply.go_back(6)  # and what was chosen by hand is given up
    assert ids_after(reply, 15) == before


def ids_after(reply, count: int) -> list[int]:
    reply.go_on(count)
    return ids(reply)


def test_the_first_token_can_be_chosen_and_later_choices_are_forgotten(chat):
    reply = start_reply(chat("gemma"), ASKED, taken={4: 9}, limit=8)
    reply.go_on(8)
    assert ids(reply)[4] == 9
    reply.take(0, 11)
    assert reply.taken == {0: 11}
    reply.go_on(3)
    assert ids(reply)[0] == 11


@pytest.mark.parametrize("name", architectures.HYBRIDS)
def test_a_cache_that_cannot_be_cut_is_filled_anew(name, tmp_path):
    found = load(architectures.ALL[name](tmp_path), **CPU)
    reply = start_reply(found, text=TEXT, limit=8)
    before = ids_after(reply, 8)
    reply.take(3, before[3])
    assert ids_after(reply, 4) == before
    torch.testing.assert_close(reply.attn(), same_pass(found, reply).attn("decoder_self"), **CLOSE)


def test_a_seed_draws_again_and_another_draws_others(chat):
    found = chat("llama")

    def drawn(seed: int) -> list[int]:
        return ids_after(start_reply(found, ASKED, choosing=Choosing(2.0, None, seed), limit=12), 12)

    assert drawn(3) == drawn(3)
    assert len({tuple(drawn(seed)) for seed in range(4)}) > 1
    tokens = start_reply(found, ASKED, choosing=Choosing(top_p=1e-6, seed=5), limit=12)
    assert ids_after(tokens, 12) == ids_after(start_reply(found, ASKED, limit=12), 12)


def test_alternatives_have_probabilities_before_and_after_the_cut(chat):
    reply = start_reply(chat("qwen3"), ASKED, choosing=WARM, limit=6)
    reply.go_on(6)
    for each in reply.written:
        chances = [one.probability for one in each.alternatives[:10]]
        assert chances == sorted(chances, reverse=True)
        assert each.token.id in {one.id for one in each.alternatives}
        drawn = {one.id: one.drawn for one in each.alternatives}
        assert drawn[each.token.id] > 0
        assert sum(drawn.values()) <= 1 + 1e-5


def test_memory_grows_with_the_length_and_not_with_its_square(chat):
    reply = start_reply(chat("llama"), ASKED, limit=330)
    counts = []
    for _ in range(3):
        reply.go_on(100)
        counts.append(reply.count)
    found = chat("llama")
    layers, heads = found.shapes["decoder_self"]
    size = found.torch_module.config.head_dim
    kv = found.torch_module.config.num_key_value_heads
    a_token = layers * size * (heads + kv + 2 * kv)  # a query, a key, and the cache's pair
    assert counts[2] <= 1.5 * a_token * (reply.row_count + 64)
    assert counts[2] - counts[1] <= 1.5 * (counts[1] - counts[0]) + 64 * a_token


def test_each_end_is_a_sentence(chat):
    found = chat("llama")
    reply = start_reply(found, ASKED, limit=4)
    assert reply.ended == ""
    reply.go_on(9)
    assert reply.ended == "The reply stopped because it reached the limit of 4 tokens."
    last = reply.written[1].token
    ending = with_ends(start_reply(found, ASKED, limit=4), last.id)
    ending.go_on(9)
    assert len(ending.written) == ids(reply).index(last.id) + 1
    assert ending.ended == f"The model ended the reply with {last.text}."
    long = with_ends(start_reply(found, text="cat " * 395, limit=50))
    long.go_on(50)
    assert long.ended == "The reply stopped because the model can read at most 397 tokens."
    assert len(long.tokens) == POSITIONS + 1  # the last one is not fed


def with_ends(reply: Reply, *ids: int) -> Reply:
    rules = replace(reply.prompt.rules, ends=frozenset(ids))
    return Reply(replace(reply.prompt, rules=rules), limit=reply.limit)


def test_a_step_that_was_interrupted_is_done_again(chat, monkeypatch):
    found = chat("qwen3")
    expected = ids_after(start_reply(found, ASKED, limit=9), 9)
    reply = start_reply(found, ASKED, limit=9)
    reply.go_on(4)
    append, calls = type(reply.rows).append, []

    def interrupt(rows, found):
        calls.append(1)
        append(rows, found)
        if len(calls) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(type(reply.rows), "append", interrupt)
    with pytest.raises(KeyboardInterrupt):
        reply.go_on(5)
    reply.go_on(5)
    assert ids(reply) == expected
    torch.testing.assert_close(reply.attn(), same_pass(found, reply).attn("decoder_self"), **CLOSE)


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"messages": [*ASKED, {"role": "assistant", "content": "A cat."}]}, "end with a user turn"),
        ({"text": "  "}, "The sentence is empty"),
        ({"messages": ASKED, "text": "cat"}, "Give messages or text, not both"),
        ({"text": "cat", "limit": 0}, "A reply may have 1 to 1,000 tokens, not 0"),
        ({"text": "cat", "choosing": (0.0,)}, "temperature must be a number of at least"),
        ({"text": "cat", "choosing": (1.0, 2.0)}, "top_p must be"),
        ({"text": "cat", "choosing": (None, None, -1)}, "seed must be 0 or more"),
        ({"text": "cat", "taken": {0: 10**6}}, "There is no token 1000000"),
    ],
)
def test_what_cannot_be_answered_is_one_sentence(asked, sentence, chat):
    with pytest.raises(ValueError, match=sentence):
        start_reply(chat("llama"), **{**asked, "choosing": Choosing(*asked.get("choosing", ()))})


def test_models_that_write_no_reply_say_so(model):
    with pytest.raises(ValueError, match="cannot write a reply: only a decoder"):
        start_reply(model("bert"), text=TEXT)
    with pytest.raises(TextError, match="has no chat template"):
        start_reply(model("llama"), ASKED)
    with pytest.raises(ValueError, match="so there is no token 3"):
        start_reply(model("llama"), text="cat").take(3, 5)
