"""The lines that the browser draws are the weights of the maps."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import attnviz
from attnviz.heads.links.links import links_payload
from attnviz.hosts import registry
from attnviz.kit.bundle import source
from attnviz.maps.lines import FAINTEST
from tests.heads.component import heads_app
from tests.heads.component.heads_page import NEEDS_A_BROWSER
from tests.kit.bare_page import BarePage
from tests.kit.sent import payload_bytes

pytestmark = NEEDS_A_BROWSER

LAYERS, HEADS = heads_app.LAYERS, heads_app.HEADS
VIEW = {"kind": "cross", "heads": [], "token": None, "scale": "fixed", "rows": "read"}
# An app with a payload and a view; `given` is [bytes, heads, …].
APP = """const [bytes, heads, ...rest] = given;
  const payload = globalThis.unpackLinks(Uint8Array.from(bytes));
  const app = { payload, view: { ...payload.header.view, heads }, theme: { name: "light" } };
  lines.readLines(app);"""


@pytest.fixture(scope="module")
def lines(module):
    module("kit/js/unpack.js")("({ unpack }) => { globalThis.unpackLinks = unpack; }")
    script = module("heads/links/js/lines.js")
    return lambda act, *given: script(f"(lines, given) => {{ {APP} return ({act})(app, ...rest); }}", list(given))


def payload_of(maps) -> list[int]:
    return payload_bytes(links_payload(maps, [maps.kind], view=VIEW))


def expected_lines(maps, heads) -> set[tuple]:
    found = set()
    for place, (layer, head) in enumerate(heads):
        attn = maps.attn[layer, head].numpy()
        found |= {(int(r), int(c), float(attn[r, c]), place) for r, c in np.argwhere(attn >= FAINTEST)}
    return found


EACH = """(app, token) => {
  const found = [];
  lines.eachLine(app, token, (...line) => found.push(line));
  return found;
}"""


@pytest.mark.parametrize("kind", ["encoder_self", "decoder_self", "cross"])
def test_each_weight_that_can_be_seen_is_a_line(lines, kind: str) -> None:
    maps, heads = heads_app.maps()[kind], [[1, 0], [2, 1]]
    drawn = lines(EACH, payload_of(maps), heads, None)
    assert len(drawn) == len(expected_lines(maps, heads))
    assert {tuple(line) for line in drawn} == expected_lines(maps, heads)


def test_a_token_has_its_own_lines_from_either_side(lines) -> None:
    maps, heads = heads_app.maps()["cross"], [[0, 0], [1, 1]]
    every = expected_lines(maps, heads)
    assert {tuple(line) for line in lines(EACH, payload_of(maps), heads, "q3")} == {one for one in every if one[0] == 3}
    assert {tuple(line) for line in lines(EACH, payload_of(maps), heads, "k0")} == {one for one in every if one[1] == 0}


CHOSEN = """(app) => {
  const { lines: drawn, ...rest } = lines.chosenLines(app, null);
  return [drawn.map(({ row, col, weight, place }) => [row, col, weight, place]), rest];
}"""


def test_few_lines_are_all_drawn_at_their_own_weight(lines) -> None:
    maps, heads = heads_app.maps()["cross"], [[0, 0]]
    drawn, rest = lines(CHOSEN, payload_of(maps), heads)
    assert {tuple(line) for line in drawn} == expected_lines(maps, heads)
    assert rest == {"leftOut": 0, "least": 0, "top": 1}


def test_of_too_many_lines_the_strongest_stay_and_the_rest_is_counted(lines) -> None:
    maps = heads_app.maps(100)["encoder_self"]
    heads = [[layer, head] for layer in range(LAYERS) for head in range(HEADS)]
    drawn, rest = lines(CHOSEN, payload_of(maps), heads)
    every = expected_lines(maps, heads)
    assert len(every) > 12_000 >= len(drawn) > 0
    assert len(drawn) + rest["leftOut"] == len(every)
    assert {tuple(line) for line in drawn} == {line for line in every if line[2] >= rest["least"]}


def test_opacity_may_count_from_the_strongest_line(lines) -> None:
    maps = heads_app.maps()["cross"]
    act = "(app) => { app.view.scale = 'max'; return lines.chosenLines(app, null).top; }"
    assert lines(act, payload_of(maps), [[1, 1]]) == maps.attn[1, 1].max().item()


def test_a_head_of_another_model_and_a_token_of_another_text_are_let_go(lines) -> None:
    maps = heads_app.maps()["cross"]
    act = """(app, tokens) => [tokens.map((token) => {
      app.view.token = token;
      lines.settle(app);
      return app.view.token;
    }), app.view.heads]"""
    rows, cols = maps.attn.shape[2:]
    tokens = [None, "q0", f"q{rows}", f"k{cols - 1}", f"k{cols}", "x0", "k1.5"]
    kept, heads = lines(act, payload_of(maps), [[0, 0], [0, 0], [LAYERS, 0], [0, HEADS], ["mean", 0]], tokens)
    assert kept == [None, "q0", None, f"k{cols - 1}", None, None, None]
    assert heads == [[0, 0]]


def test_hues_repeat_where_there_are_more_heads(lines) -> None:
    act = "(app) => [lines.hueOf(app, 0), lines.hueOf(app, 8), lines.hueOf(app, 1)]"
    first, again, other = lines(act, payload_of(heads_app.maps()["cross"]), [])
    assert first == again != other


def test_maps_without_a_line_draw_none(lines) -> None:
    maps = heads_app.maps()["cross"]
    empty = replace(maps, attn=torch.zeros_like(maps.attn))
    drawn, rest = lines(CHOSEN, payload_of(empty), [[0, 0]])
    assert drawn == []
    assert rest["top"] == 1


@pytest.mark.parametrize("words", [["שלום", "עולם"], ["hello", "עולם"], ["مرحبا", "world"]])
def test_the_query_of_a_strong_link_stands_first_in_any_script(words: list[str], browser) -> None:
    trace = attnviz.from_tensors([torch.tensor([[[0.0, 1.0], [0.5, 0.5]]])], words)
    page = browser.new_page()
    bare = BarePage(
        page, source(registry.widget("links")), attnviz.picture("links").of(trace, heads=[(0, 0)]).payload()
    )
    bare.attach()
    left = """(node, word) => {
      const range = document.createRange(), text = node.firstChild, at = text.data.indexOf(word);
      range.setStart(text, at), range.setEnd(text, at + word.length);
      return range.getBoundingClientRect().left;
    }"""
    strongest = page.locator(".list-token").first
    query, key = (strongest.evaluate(left, word) for word in words)
    assert query < key
    page.close()
