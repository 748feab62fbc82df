"""The line below every saved picture."""

from attnviz.kit.views.captions import LONGEST, Caption, sentence, with_caption
from attnviz.kit.wire import Payload, unpack
from attnviz.models.translator.tiny import tiny_translator
from attnviz.tracing.external.from_tensors import from_tensors


def plain(text: str) -> str:
    return text.replace("\u2068", "").replace("\u2069", "")


def test_a_text_and_its_translation_stand_side_by_side() -> None:
    trace = tiny_translator(seed=0).trace("un petit chien", to="fr", tgt_text="le chat")
    assert plain(sentence(trace)) == "un petit chien → le chat"
    assert plain(sentence(trace, written="un chat")) == "un petit chien → un chat"


def test_what_cannot_be_seen_is_named_and_markup_stays_text() -> None:
    trace = tiny_translator(seed=0).trace("a\u200bb <b>x</b>\n", to="fr", tgt_text="\u202ex")
    assert plain(sentence(trace)).startswith("a U+200B b <b>x</b>")
    assert "U+202E" in sentence(trace)


def test_weights_without_a_text_have_their_tokens() -> None:
    import torch

    trace = from_tensors(torch.full((1, 1, 2, 2), 0.5), ["one", "two"])
    assert plain(sentence(trace)) == "one two"


def test_a_long_text_is_cut() -> None:
    trace = tiny_translator(seed=0).trace("chat " * 200, to="fr", tgt_text="le chat")
    assert len(sentence(trace)) < LONGEST + 40


def test_a_payload_takes_its_caption_along_and_another_caption_is_another_picture() -> None:
    payload = Payload({"id": "1", "base": "1"}, b"blob")
    header, blobs = unpack(with_caption(payload, Caption("a → b", "model")).pack())
    other = with_caption(payload, Caption("a → c", "model")).header
    assert header["caption"] == {"sentence": "a → b", "model": "model", "site": ""}
    assert bytes(blobs) == b"blob"
    assert header["base"] == other["base"]
    assert header["id"] != other["id"]


def test_lines_leave_out_what_is_not_there() -> None:
    assert Caption("a", "m", "Cross-attention, L0 H1").lines() == ["a", "Cross-attention, L0 H1 · m"]
    assert Caption("", "m").lines() == ["m"]
