"""A trace in a file: the same again, with whatever was typed, and no other file taken for one."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

import attnviz
from attnviz.tracing.external.from_tensors import from_tensors
from tests.each_case import each_case
from tests.tracing.conftest import LAYERS


def test_a_file_brings_back_the_same_trace(trace, tmp_path):
    attnviz.save(trace, tmp_path / "love.npz")
    again = attnviz.load_trace(tmp_path / "love.npz")
    assert (again.sentences, again.info, again.kinds) == (trace.sentences, trace.info, trace.kinds)
    for kind in trace.kinds:
        torch.testing.assert_close(again.attn(kind), trace.attn(kind), rtol=0, atol=1e-6)  # other strides, other kernel
        torch.testing.assert_close(again.scores(kind), trace.scores(kind), rtol=1e-6, atol=1e-6)
        assert torch.equal(again.mask(kind), trace.mask(kind))
    assert torch.equal(again.logits, trace.logits)
    assert torch.equal(again.layer_output("decoder", LAYERS - 1), trace.layer_output("decoder", LAYERS - 1))


def test_a_file_keeps_strange_tokens(model, tmp_path):
    strange = model.trace("a\x00 \u202e \ud800 <b> 🐕\n", to="zh", tgt_text="\u200b我")
    attnviz.save(strange, tmp_path / "t.npz", maps=False)
    assert attnviz.load_trace(tmp_path / "t.npz").sentences == strange.sentences


def test_a_file_keeps_caps_sinks_and_the_layers_that_attend(model, tmp_path):
    trace = model.trace("I love you.", to="fr", tgt_text="Je t'aime.")
    odd = {
        site: replace(call, softcap=0.5, sinks=torch.rand(1, call.query.shape[1], 1, 1))
        for site, call in trace.calls.items()
    }
    trace = replace(trace, calls=odd, numbers={"cross": (3, *range(7, 6 + LAYERS))})
    attnviz.save(trace, tmp_path / "t.npz", maps=False)
    again = attnviz.load_trace(tmp_path / "t.npz")
    for kind in trace.kinds:
        assert torch.equal(again.attn(kind), trace.attn(kind))
        assert torch.equal(again.sink_weights(kind), trace.sink_weights(kind))
    assert again.layer_number("cross", 1) == 7
    assert again.layer_number("encoder_self", 1) == 1


def test_a_file_from_before_segments_had_their_name_is_read(model, tmp_path):
    pair = model.trace("I love you.", to="fr", tgt_text="Je t'aime.")
    second = tuple(replace(token, segment=1) for token in pair.sentences[0].tgt)
    pair = replace(pair, sentences=(replace(pair.sentences[0], tgt=second),))
    attnviz.save(pair, tmp_path / "t.npz", maps=False)
    with np.load(tmp_path / "t.npz") as file:
        meta = file["meta"].tobytes().replace(b'"segment"', b'"part"')
    file = changed_file(pair, tmp_path, meta=np.frombuffer(meta, dtype=np.uint8))
    assert attnviz.load_trace(file).sentences == pair.sentences


def test_a_file_from_before_tokens_knew_their_pieces_is_read(trace, tmp_path):
    attnviz.save(trace, tmp_path / "t.npz", maps=False)
    with np.load(tmp_path / "t.npz") as file:
        meta = json.loads(file["meta"].tobytes())
    for sentence in meta["sentences"]:
        for token in (*sentence["src"], *sentence["tgt"]):
            assert token.pop("piece")
            token.pop("is_unknown")
    file = changed_file(
        trace, tmp_path, meta=np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8),
        **{f"{part}.{side}": None for part in ("pieces", "ids") for side in ("src", "tgt")},
    )  # fmt: skip
    again = attnviz.load_trace(file)
    assert [token.id for token in again.tokens("tgt")] == [token.id for token in trace.tokens("tgt")]
    assert {(token.piece, token.is_unknown) for token in again.tokens("tgt")} == {("", False)}


def test_text_piece_and_id_of_every_token_lie_in_the_file_for_a_quick_look(model, tmp_path):
    strange = model.trace("i love 龘", to="fr", tgt_text="un chien")
    attnviz.save(strange, tmp_path / "t.npz", maps=False)
    with np.load(tmp_path / "t.npz") as file:
        for side in ("src", "tgt"):
            tokens = strange.tokens(side)
            assert file[f"tokens.{side}"].tolist() == [token.text for token in tokens]
            assert file[f"pieces.{side}"].tolist() == [token.piece for token in tokens]
            assert file[f"ids.{side}"].tolist() == [token.id for token in tokens]
    assert [token.text for token in strange.tokens("src") if token.is_unknown] == ["龘"]


def test_any_other_file_is_refused(tmp_path):
    (tmp_path / "x.npz").write_bytes(b"not a trace")
    with pytest.raises(ValueError, match=r"x\.npz is not a trace saved by attnviz"):
        attnviz.load_trace(tmp_path / "x.npz")


def test_a_saved_trace_that_is_opened_as_a_model_names_its_reader(trace, tmp_path):
    attnviz.save(trace, tmp_path / "t.npz")
    with pytest.raises(ValueError, match=r"attnviz\.load_trace"):
        attnviz.load(tmp_path / "t.npz")


OTHER_META = [
    b"{}",
    b"[]",
    b"5",
    b'{"sentences": 5, "info": {}}',
    b'{"sentences": [5], "info": {"notes": []}}',
    b"\xff",
    b"[",
]


@each_case("meta", OTHER_META)
def test_a_file_that_says_something_else_of_itself_is_refused(trace, tmp_path, meta):
    with pytest.raises(ValueError, match=r"t\.npz is not a trace"):
        attnviz.load_trace(changed_file(trace, tmp_path, meta=np.frombuffer(meta, dtype=np.uint8)))


@each_case("key", ["format_version", "meta", "key.cross.0", "value.cross.0", "scale.cross.0"])
def test_a_file_in_which_something_is_missing_is_refused(trace, tmp_path, key):
    with pytest.raises(ValueError, match=r"t\.npz is not a trace"):
        attnviz.load_trace(changed_file(trace, tmp_path, **{key: None}))


def changed_file(trace, folder, **arrays):
    """Return the file of a trace with other arrays, or without those that are None."""
    attnviz.save(trace, folder / "t.npz", maps=False)
    with np.load(folder / "t.npz") as file:
        kept = {key: file[key] for key in file.files} | arrays
    np.savez_compressed(folder / "t.npz", **{key: array for key, array in kept.items() if array is not None})
    return folder / "t.npz"


def test_a_damaged_file_is_refused(trace, tmp_path):
    attnviz.save(trace, tmp_path / "t.npz", maps=False)
    content = (tmp_path / "t.npz").read_bytes()
    places, refused = range(0, len(content), len(content) // 40), 0
    for at in places:
        (tmp_path / "t.npz").write_bytes(content[:at] + b"\xff\x00\xff" + content[at + 3 :])
        try:
            attnviz.load_trace(
                tmp_path / "t.npz"
            )  # a date of an archive's member, for example, is nothing that a trace needs
        except ValueError:
            refused += 1
    assert refused > 0.8 * len(places)


def test_bare_weights_come_back_from_the_file_that_they_saved(tmp_path):
    attn, mask = torch.eye(3).expand(2, 5, 3, 3), torch.eye(3, dtype=torch.bool)
    first = from_tensors(attn, ["[CLS]", "a", "b"], mask=mask)
    attnviz.save(first, tmp_path / "own.npz")
    again = attnviz.load_trace(tmp_path / "own.npz")
    assert (again.sentences, again.info, again.kinds) == (first.sentences, first.info, first.kinds)
    assert torch.equal(again.attn("encoder_self"), attn)
    assert torch.equal(again.mask("encoder_self"), mask)


def test_weights_that_do_not_fit_their_tokens_are_refused(tmp_path):
    np.savez(tmp_path / "own.npz", **{"attn.cross": np.eye(3), "tokens.src": np.array(["a"])})
    with pytest.raises(ValueError, match=r"own\.npz is not a trace saved by attnviz"):
        attnviz.load_trace(tmp_path / "own.npz")
