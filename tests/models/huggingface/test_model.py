"""The methods that analyses and pages call on every model, on a checkpoint: rerun, generate, spell, save."""

import math
import re
from dataclasses import replace

import pytest
import torch

import attnviz
from attnviz.guards.memory import available_memory
from attnviz.maps.selection import select
from attnviz.models.huggingface import load
from attnviz.models.protocol import Model
from attnviz.text.display import display_token
from attnviz.tracing.interventions import MaskOverride
from attnviz.tracing.recorder import GroupedCalls
from attnviz.transformer import device, row_blocks
from attnviz.transformer.device import OutOfDeviceMemoryError
from attnviz.transformer.masks import VisibleKeys
from attnviz.transformer.probe import Site, listen_to_sites
from tests.models.huggingface import checkpoints
from tests.models.huggingface.tokenizers_made import one_special

pytestmark = pytest.mark.computes

TEXT = "A cat sat on the mat."
KINDS = {"albert": "encoder_self", "gpt2": "decoder_self", "t5": "cross"}
THREE = pytest.mark.parametrize("name", KINDS)


def make_trace(model, name):
    return model(name).trace(TEXT, **({"tgt_text": "I love you."} if name == "t5" else {}))


@THREE
def test_a_checkpoint_has_the_face_of_every_model(name, model):
    assert isinstance(model(name), Model)


@THREE
def test_running_a_trace_again_gives_the_same(name, model):
    trace = make_trace(model, name)
    again = model(name).rerun(trace)
    assert again.info == trace.info
    assert torch.equal(again.logits, trace.logits)
    for kind in trace.kinds:
        assert torch.equal(again.attn(kind), trace.attn(kind))


@THREE
def test_a_mask_edit_reaches_one_head_and_what_comes_after_it(name, model):
    trace, kind = make_trace(model, name), KINDS[name]
    first = MaskOverride(
        [Site(kind, 1)], lambda q_len, k_len: torch.arange(k_len).eq(0).expand(1, q_len, k_len), head=2
    )
    edited = model(name).rerun(trace, first)
    assert torch.equal(edited.attn(kind, layer=0), trace.attn(kind, layer=0))
    assert torch.equal(edited.attn(kind, layer=1, head=2)[:, 0], torch.ones(len(trace.query_tokens(kind))))
    assert torch.equal(edited.attn(kind, layer=1, head=1), trace.attn(kind, layer=1, head=1))
    assert not torch.allclose(edited.attn(kind, layer=2), trace.attn(kind, layer=2))


@pytest.mark.parametrize("cached", [True, False])
@pytest.mark.parametrize("name", ["gpt2", "t5"])
def test_the_writer_writes_what_the_steps_choose(name, cached, model):
    steps = list(model(name).stepwise(TEXT, new_tokens=5))
    chosen = [token.id for token in (*steps[-1].prefix, steps[-1].token)]
    writer = model(name).generator(make_trace(model, name), cached=cached)
    ids, fed = writer.prompt_ids[0].tolist(), writer.prompt_ids
    while len(ids) < len(chosen):
        best = writer.vocabulary.forbid(writer.stepper.step(fed)).argmax(-1)
        ids.append(int(best))
        fed = best.unsqueeze(1)
    assert ids == chosen


def test_an_encoder_has_no_writer(model):
    with pytest.raises(ValueError, match="bert writes no text"):
        model("bert").generator(model("bert").trace(TEXT))


@THREE
def test_ids_are_spelled_as_they_were_read(name, model):
    pieces = model(name).encode_target(TEXT)
    assert not any(token.is_special for token in pieces)
    text, tokens = model(name).decode_ids([token.id for token in pieces])
    assert [token.id for token in tokens] == [token.id for token in pieces]
    assert text.strip().replace(" ", "").lower() == TEXT.replace(" ", "").lower()


@THREE
def test_a_trace_is_saved_and_read_back(name, model, tmp_path):
    trace = make_trace(model, name)
    attnviz.save(trace, tmp_path / "trace.npz", maps=False)
    read = attnviz.load_trace(tmp_path / "trace.npz")
    assert read.sentences == trace.sentences
    for kind in trace.kinds:
        # not to the bit: the tensors lie otherwise in memory, and sums are made in another order
        torch.testing.assert_close(read.attn(kind), trace.attn(kind), atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(read.scores(kind), trace.scores(kind), atol=1e-4, rtol=1e-5)


def test_a_character_of_several_bytes_is_shown_once_and_its_other_bytes_are_no_spaces(model):
    labels = [label.text for label in select(model("gpt2").trace("I 爱 you", new_tokens=0), "decoder_self").cols]
    assert labels[labels.index("爱") :] == ["爱", "⋯", "⋯", "␣", "y", "ou"]  # this tokenizer has the space as a token


def test_an_id_that_is_a_part_of_a_character_is_no_space_by_itself(model):
    gpt2 = model("gpt2")
    ids = [token.id for token in gpt2.encode_target("爱")]
    assert len(ids) == 3
    alone = [gpt2.decode_ids([id_])[1][0] for id_ in ids]
    assert [display_token(token) for token in alone] == ["⋯"] * 3
    assert [display_token(token) for token in gpt2.decode_ids(ids)[1]] == ["⋯", "⋯", "爱"], "the last byte completes it"
    (space,) = gpt2.encode_target(" ")
    assert display_token(gpt2.decode_ids([space.id])[1][0]) == "␣"


def test_the_token_that_ends_a_text_is_special_though_it_is_also_the_unknown_one(tmp_path):
    sizes = checkpoints.DECODERS["gpt2"].sizes
    folder = checkpoints.save(
        tmp_path / "gpt2", checkpoints.Recipe("GPT2LMHeadModel", "GPT2Config", sizes, one_special)
    )
    gpt2 = load(folder, device=torch.device("cpu"), dtype=torch.float32)
    typed = next(token for token in gpt2.trace("A cat<|endoftext|>sat", new_tokens=0).tokens("tgt") if token.id == 0)
    (written,) = gpt2.decode_ids([0])[1]
    for token in (typed, written):
        assert token.is_special
        assert display_token(token) == "<|endoftext|>"


@pytest.mark.parametrize("name", ["bert", "roberta"])
def test_a_mask_and_an_unknown_word_stand_for_words_and_are_not_special(name, model):
    tokenizer = model(name).text
    assert not {"[MASK]", "[UNK]", "<mask>", "<unk>"} & {
        tokenizer.special_token(id_).text for id_ in tokenizer.special_ids
    }


@pytest.mark.parametrize(("name", "side", "other"), [("gpt2", "src", "tgt"), ("albert", "tgt", "src")])
def test_a_side_that_a_model_does_not_have_is_refused_and_the_other_named(name, side, other, model):
    trace = model(name).trace("I love you.")
    assert trace.tokens(other)
    with pytest.raises(ValueError, match=rf"This trace has no .*, tokens\('{other}'\)"):
        trace.tokens(side)


@pytest.mark.parametrize("name", ["llama", "mistral", "t5", "bert"])  # groups, a window, a bias, no mask
def test_numbers_read_in_blocks_are_those_of_transformers_own_eager_weights(name, model, checkpoint, monkeypatch):
    monkeypatch.setattr(VisibleKeys, "ROWS", 5)
    monkeypatch.setattr(row_blocks, "ROWS", 5)
    trace = make_trace(model, name)
    kind = trace.kinds[0]
    ids = torch.tensor([[token.id for token in trace.query_tokens(kind)]])
    reference = checkpoints.reference(checkpoint(name))
    run = reference.get_encoder() if name == "t5" else reference
    with torch.inference_mode():
        eager = torch.cat(run(ids, output_attentions=True).attentions)
    wanted = torch.nn.functional.adaptive_max_pool2d(eager, 4)
    assert (trace.thumbnails(kind, side=4) - wanted.mul(255).round()).abs().max() <= 1
    table, places = trace.metrics(kind), torch.arange(ids.shape[1])
    bits = (torch.special.entr(eager).sum(-1) / math.log(2)).mean(-1).flatten()
    away = (eager * (places - places[:, None]).abs()).sum(-1).mean(-1).flatten()
    torch.testing.assert_close(torch.tensor(table["entropy"]).float(), bits, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(torch.tensor(table["mean_distance"]).float(), away, atol=1e-5, rtol=1e-5)
    first = eager[..., 0].mean(-1).flatten()
    torch.testing.assert_close(torch.tensor(table["first_token_mass"]).float(), first, atol=1e-5, rtol=1e-5)


def test_keys_and_values_that_heads_share_are_kept_once(model):
    trace = make_trace(model, "llama")  # six heads in two groups
    kept, call = trace.calls.as_kept(Site("decoder_self", 1)), trace.call("decoder_self", 1)
    assert kept.key.shape[1] == kept.value.shape[1] == 2
    assert torch.equal(call.key, kept.key.repeat_interleave(3, dim=1))
    assert torch.equal(call.value, kept.value.repeat_interleave(3, dim=1))
    changed = replace(call, key=call.key + torch.arange(6).view(1, 6, 1, 1))  # as an intervention changes heads
    assert torch.equal(GroupedCalls({Site("decoder_self", 0): changed})[Site("decoder_self", 0)].key, changed.key)


def test_a_text_without_room_is_refused_before_the_run_and_the_advice_fits(model, tmp_path, monkeypatch):
    """The limit of the container holds, not the machine's memory."""
    text, group = TEXT * 5, tmp_path / "sys/fs/cgroup"
    needed, heard = model("gpt2").trace(text).nbytes(), []
    group.mkdir(parents=True)
    (group / "memory.max").write_text(f"{5_000_000 + needed // 2}\n", encoding="ascii")
    (group / "memory.current").write_text("5000000\n", encoding="ascii")
    monkeypatch.setattr(device, "available_memory", lambda: available_memory(tmp_path))
    with listen_to_sites(heard.append), pytest.raises(OutOfDeviceMemoryError) as raised:
        model("gpt2").trace(text)
    assert not heard
    said = re.fullmatch(
        r"A run over 50 tokens needs about (\d) MB of memory on the CPU, which has (\d) MB for it: "
        r"about (\d+) tokens would fit \(max_tokens=(\d+)\)\.",
        str(raised.value),
    )
    assert said is not None, raised.value
    assert model("gpt2").trace(text, max_tokens=int(said[4])).nbytes() <= needed // 2
