"""The tabs of the Heads page without a browser: only the open one is computed, links and files lead where they say."""

import io

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from attnviz.heads.links.links import LinksRules, links_payload
from attnviz.heads.neuron import neuron
from attnviz.heads.page import choices
from attnviz.kit.wire import unpack
from attnviz.maps.lines import FAINTEST

LINK = {"src": "I love you", "to": "fr", "kind": "cross", "layer": "1", "head": "3"}


def header(app: AppTest) -> dict:
    """Read what the one component on the page is told, less the bytes of its maps."""
    (component,) = [part for part in app.get("bidi_component") if part.proto.bytes]
    return unpack(component.proto.bytes).header


def notes(app: AppTest) -> str:
    return "\n".join(note.value for note in (*app.error, *app.info, *app.warning)).replace("\\", "")


def test_links_open_with_the_head_in_focus(open_page) -> None:
    app = open_page("heads", **LINK, tab="links")
    assert not app.exception
    told = header(app)
    assert told["view"] == {
        "kind": "cross", "heads": [[1, 3]], "token": None, "scale": "fixed", "rows": "read", "seq": 0
    }  # fmt: skip
    assert all(taken and given for taken, given in told["rows"]), "decoder rows are labelled input → output"


def test_links_open_with_the_heads_and_the_token_of_the_address(open_page) -> None:
    view = header(open_page("heads", **LINK, tab="links", lines="0.1~1.2", held="k2", opacity="max", fit="fit"))["view"]
    assert view["heads"] == [[0, 1], [1, 2]]
    assert (view["token"], view["scale"], view["rows"]) == ("k2", "max", "fit")
    assert header(open_page("heads", **LINK, tab="links", lines="none"))["view"]["heads"] == []


def test_chosen_heads_of_a_text_with_too_many_lines_are_sent_whole(open_page, monkeypatch) -> None:
    monkeypatch.setitem(links_payload.__kwdefaults__, "budget", 20)
    told = header(open_page("heads", **LINK | {"src": "You love me"}, tab="links", lines="0.1~1.2"))
    assert told["threshold"] > FAINTEST
    assert told["fine"]["heads"] == [[0, 1], [1, 2]]
    assert told["fine"]["threshold"] == FAINTEST


def test_a_head_that_is_not_there_is_no_fine_line_either(open_page, monkeypatch) -> None:
    monkeypatch.setitem(links_payload.__kwdefaults__, "budget", 20)
    asked = {"src": "You love me so", "lines": "0000009.0000000~1.2"}
    app = open_page("heads", **LINK | asked, tab="links")
    assert not app.exception
    assert header(app)["fine"]["heads"] == [[1, 2]]


def test_links_opens_on_the_pinned_row_unless_a_link_names_another_token(open_page) -> None:
    assert header(open_page("heads", **LINK, tab="links", row="2"))["view"]["token"] == "q2"
    assert header(open_page("heads", **LINK, tab="links", row="2", held="k1"))["view"]["token"] == "k1"
    assert header(open_page("heads", **LINK, tab="links"))["view"]["token"] is None


@pytest.mark.parametrize(
    ("token", "kind", "means"),
    [
        ("q3", "cross", {"row": "3", "held": ""}),
        ("k1", "cross", {"held": "k1"}),
        (None, "cross", {"row": "", "held": ""}),
        ("q3", "encoder_self", {"row": "", "held": ""}),
    ],
)
def test_a_query_that_links_holds_is_the_pinned_row_of_every_tab(token, kind, means) -> None:
    view, shown = {"token": token, "kind": kind}, choices.ShownTab({"kind": "cross"})
    assert LinksRules().choose(view, {"held": token or ""}, shown) == means


def test_a_token_that_is_neither_query_nor_key_is_not_held(open_page) -> None:
    for wrong in ("x1", " 1", "q٣"):
        assert header(open_page("heads", **LINK, tab="links", held=wrong))["view"]["token"] is None, wrong


def test_a_mean_means_all_its_heads(open_page) -> None:
    view = header(open_page("heads", **LINK | {"head": "mean"}, tab="links"))["view"]
    assert [layer for layer, _ in view["heads"]] == [1] * len(view["heads"])
    assert len(view["heads"]) > 1


def test_the_whole_model_is_eight_bits_of_one_kind(open_page) -> None:
    told = header(open_page("heads", **LINK, tab="model", mini="lines"))
    assert told["kind"] == "cross"
    assert told["size"] == told["shape"][2:]
    assert told["view"]["mini"] == "lines"


def test_the_neuron_view_takes_the_pair_of_the_address(open_page) -> None:
    told = header(open_page("heads", **LINK, tab="neuron", row="2", key="1", order="contribution"))
    assert (told["layer"], told["head"]) == (1, 3)
    assert (told["view"]["row"], told["view"]["key"], told["view"]["order"]) == (2, 1, "contribution")


def test_the_neuron_view_shows_the_token_that_was_pinned_where_rows_are_words_or_hidden(open_page) -> None:
    """Rows are counted as they are shown, queries as tokens: the pinned row must stay the same one."""
    merged = {"tab": "heads", "kind": "encoder_self", "words": "1", "src": "unbelievably tall, she said", "tgt": "elle"}
    labels = header(open_page("heads", **LINK | merged, row="1"))["kinds"][0]["rows"]
    told = header(open_page("heads", **LINK | merged | {"tab": "neuron"}, row="1"))
    queries = [row[0] for row in told["rows"]]
    first = told["view"]["row"]
    assert labels[1][0].startswith(queries[first])
    assert first > 1  # the first word is several pieces, or this says nothing
    assert header(open_page("heads", **LINK | merged | {"tab": "neuron"}, row="1", query="0"))["view"]["row"] == first


def test_a_query_inside_a_word_is_told_apart_from_its_first_piece() -> None:
    rows = ((0, 1, 2), (4,))  # token 3 is hidden
    assert [neuron.row_of(rows, query) for query in range(5)] == [0, 0, 0, None, 1]
    assert neuron.query_of(rows, row=0, query=None) == 0
    assert neuron.query_of(rows, row=0, query=2) == 2
    assert neuron.query_of(rows, row=1, query=2) == 4  # another row was pinned since
    assert neuron.query_of(rows, row=None, query=3) == 3
    assert neuron.query_of(rows, row=9, query=None) is None


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"tab": "sideways"}, ["tab “sideways”"]),
        ({"tab": "links", "lines": "0000009.0000000", "held": "q"}, ["lines", "held “q”"]),
        ({"tab": "model", "mini": "x"}, ["mini"]),
    ],
)
def test_each_wrong_part_of_a_link_is_told_and_the_page_goes_on(open_page, wrong: dict, words: list[str]) -> None:
    app = open_page("heads", **LINK | wrong)
    assert not app.exception
    assert [word for word in words if word not in notes(app)] == []
    assert header(app)


def npz(**arrays) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def upload(app: AppTest, content: bytes, name: str = "own.npz") -> AppTest:
    return app.file_uploader(key="own-file").upload(name, content).run()


ATTN = np.full((2, 3, 4, 4), 0.25, np.float32)
TOKENS = np.array(["<b>", "$x$", ":red[y]", "爱"])


@pytest.mark.parametrize("tab", ["heads", "links", "model"])
def test_a_file_takes_the_place_of_the_model(open_page, tab) -> None:
    app = upload(open_page("heads", **LINK, tab=tab), npz(attn=ATTN, tokens=TOKENS))
    assert not app.exception
    told = header(app)
    shape = told["kinds"][0]["shape"] if tab == "heads" else told["shape"]
    assert shape == [2, 3, 4, 4]
    if tab == "links":
        assert told["cols"] == list(TOKENS)


def test_rows_that_do_not_sum_to_one_are_flagged(open_page) -> None:
    app = upload(open_page("heads", **LINK, tab="links"), npz(attn=ATTN * 2, tokens=TOKENS))
    assert "24 of 24 rows of encoder_self do not sum to 1" in notes(app)
    assert header(app)["count"] == 2 * 3 * 4 * 4


def test_the_neuron_view_says_that_bare_weights_are_not_enough(open_page) -> None:
    app = upload(open_page("heads", **LINK, tab="neuron"), npz(attn=ATTN, tokens=TOKENS))
    assert not app.exception
    assert "only weights" in notes(app)
    assert not [part for part in app.get("bidi_component") if part.proto.bytes]


def test_a_file_that_cannot_be_read_is_one_sentence_and_the_model_stays(open_page) -> None:
    app = upload(open_page("heads", **LINK, tab="links"), b"hello")
    assert not app.exception
    assert "not an .npz archive" in notes(app)
    assert header(app)["kinds"]
