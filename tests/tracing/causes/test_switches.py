"""Heads taken out, and what stands in their place, as switches set it and as an address holds it."""

import attnviz
from attnviz.tracing.causes import notation
from attnviz.tracing.causes.switches import Head, every_head, replace_heads, replacements, without_replacements
from tests.each_case import each_case

SHAPES = {"encoder_self": (2, 3), "decoder_self": (2, 3), "cross": (2, 3)}


@each_case("put", ["zero", "mean", "uniform", "diagonal"])
def test_what_is_set_is_what_is_read_and_cross_attention_has_no_diagonal(put: str) -> None:
    wanted = dict.fromkeys([Head("encoder_self", 0, 1), *(Head("cross", 1, head) for head in range(3))], put)
    made = replace_heads((), SHAPES, wanted)
    of_cross = "zero" if put == "diagonal" else put
    expected = {head: of_cross if head.kind == "cross" else put for head in wanted}
    assert replacements(made, SHAPES) == expected
    assert replacements(notation.parse(notation.write(made)).interventions, SHAPES) == expected


def test_whole_kinds_are_said_shortly_and_what_else_is_done_stays() -> None:
    swap = attnviz.exchange("cross", ["Tom", "Mary"])
    row = attnviz.ablate("cross", layer=0, heads=[1], positions=[2])
    done = (attnviz.ablate("cross", layer=0), swap, row)
    everything = dict.fromkeys(every_head(SHAPES), "zero")
    made = replace_heads(done, SHAPES, everything)
    assert notation.write(made[:3]) == "off.enc.all.all~off.dec.all.all~off.cross.all.all"
    assert made[3:] == without_replacements(done, SHAPES) == (swap, row)
    assert replace_heads(made, SHAPES, {}) == (swap, row)
