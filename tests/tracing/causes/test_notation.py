"""Interventions in an address are read back equal; an unreadable part gets a sentence, at little cost."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as some

import attnviz
from attnviz.models.translator.tiny import tiny_translator
from attnviz.tracing.causes import notation, switches
from attnviz.tracing.causes.intervention import Intervention
from attnviz.tracing.causes.switches import Head
from tests.each_case import each_case

KINDS = some.sampled_from(["encoder_self", "decoder_self", "cross"])
NUMBER = some.integers(0, 30)
PLACE = NUMBER | some.text(min_size=1, max_size=12)
LAYER, HEADS = some.none() | NUMBER, some.none() | some.lists(NUMBER, min_size=1, max_size=4)
ROWS = some.none() | some.lists(PLACE, min_size=1, max_size=3)
WHERE = {"layer": LAYER, "heads": HEADS, "positions": ROWS}
ABLATED = some.fixed_dictionaries({"kind": KINDS, "to": some.sampled_from(["zero", "mean", "uniform"]), **WHERE})
DIAGONAL = some.fixed_dictionaries({"kind": KINDS.filter("cross".__ne__), "to": some.just("diagonal"), **WHERE})
SWAPPED = some.fixed_dictionaries({"kind": KINDS, "columns": some.lists(PLACE, min_size=2, max_size=2), **WHERE})
WEIGHTS = some.lists(some.floats(0, 1, width=32), min_size=1, max_size=5).map(lambda row: [row])
BY_HAND = some.fixed_dictionaries({
    "kind": some.just("cross"), "weights": WEIGHTS, "layer": NUMBER, "heads": HEADS, "rows": some.tuples(NUMBER),
})  # fmt: skip
SHAPES = {"encoder_self": (2, 4), "decoder_self": (3, 5), "cross": (3, 5)}
EVERY_HEAD = [
    Head(kind, layer, head) for kind, shape in SHAPES.items() for layer in range(shape[0]) for head in range(shape[1])
]


def make_intervention(asked: dict) -> Intervention:
    makers = {"columns": attnviz.exchange, "weights": attnviz.edit, "to": attnviz.ablate}
    return next(make for name, make in makers.items() if name in asked)(**asked)


@given(some.lists(ABLATED | DIAGONAL | SWAPPED | BY_HAND, max_size=5).map(tuple))
def test_what_is_written_is_read_again(said) -> None:
    asked = [make_intervention(each) for each in said]
    text = notation.write(asked)
    assert notation.parse(text) == (tuple(asked), ())
    assert notation.parse(text.replace("+", " ")).interventions == tuple(asked)  # as typed addresses have a plus


def test_an_address_reads_as_what_is_done() -> None:
    asked = [attnviz.ablate("cross", layer=1, heads=[5, 2]), attnviz.exchange("cross", ["Tom", "Mary"])]
    assert notation.write(asked) == "off.cross.1.2+5~swap.cross.all.all.Tom.Mary"


def test_rows_of_several_heads_by_hand_do_the_same_once_read_again() -> None:
    model = tiny_translator()
    plain = model.trace("I love you", to="fr")
    q_len, k_len = plain.attn("cross").shape[-2:]
    weights = torch.rand(2, q_len, k_len, generator=torch.Generator().manual_seed(3))
    asked = [attnviz.edit("cross", weights, layer=1, heads=[0, 1])]
    read = notation.parse(notation.write(asked)).interventions
    assert len(read) == 2 * q_len
    one, other = (model.trace("I love you", to="fr", interventions=done).logits for done in (asked, read))
    assert torch.equal(one, other)


@each_case(
    ("text", "why"),
    [
        ("off", "off takes 3 parts"),
        ("of.cross.1.2", "must begin with one of off, mean, even"),
        ("off.crss.1.2", "the kind must be one of enc, dec, cross"),
        ("off.cross.-1.2", "numbers (0 or more)"),
        ("off.cross.1.٣", "numbers (0 or more)"),
        ("off.cross.1.2+all", "numbers (0 or more)"),
        ("off.cross.1.", "not “”"),
        ("diagonal.cross.0.0", "has no diagonal"),
        ("swap.cross.all.all.Tom", "swap takes 5 parts"),
        ("swap.cross.all.all.Tom.", "a position, or a word"),
        ("row.cross.1.2.0.0.5+nan", "a weight is a number"),
        ("row.cross.1.2.99999.1", "the first 2,048"),  # which would take half a gigabyte
        ("row.cross.all.2.0.1", "need one layer"),
        ("row.dec.1.2.0.0+1", "cannot look at what comes after"),
        ("<script>.cross.1.2", "must begin with one of"),
    ],
)
def test_what_cannot_be_followed_is_said_and_the_rest_holds(text: str, why: str) -> None:
    found = notation.parse(f"off.enc.0.1~{text}~even.cross.0.all")
    assert [str(each) for each in found.interventions] == ["encoder_self L0 H1: context zero", "cross L0: attn even"]
    assert len(found.problems) == 1
    assert why in found.problems[0]
    assert text[:40] in found.problems[0]


@pytest.mark.parametrize("text", ["off.cross.1." + "+".join(["1"] * 5_000), "~" * 10_000, "off.cross.0.0~" * 100])
def test_a_text_of_ten_thousand_characters_is_refused_unread(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notation, "_intervention", lambda _: pytest.fail("nothing of it is read"))
    found = notation.parse(text)
    assert found.interventions == ()
    assert "and may have 64 in" in found.problems[0]


def test_what_needs_a_donor_has_no_text() -> None:
    donor = tiny_translator().trace("I love you", to="fr")
    with pytest.raises(ValueError, match="a link cannot hold"):
        notation.write([attnviz.patch(donor, "cross", layer=0)])


@given(some.sets(some.sampled_from(EVERY_HEAD)))
def test_the_heads_that_are_off_are_those_that_were_switched_off(heads) -> None:
    swap = attnviz.exchange("cross", [0, 1])
    done = switches.switch_heads_off([swap, attnviz.ablate("cross", heads=[1])], SHAPES, heads)
    assert switches.heads_off(done, SHAPES) == heads
    assert swap in done
    assert len(done) <= 1 + len(SHAPES) * 3


def test_a_head_of_a_layer_that_is_off_is_switched_on_by_itself() -> None:
    done, head = [attnviz.ablate("cross")], {Head("cross", 1, 3)}
    for written in ("off.cross.0.all~off.cross.1.0+1+2+4~off.cross.2.all", "off.cross.all.all"):
        done = switches.switch_heads_off(done, SHAPES, switches.heads_off(done, SHAPES) ^ head)
        assert notation.write(done) == written
