"""Changes to the run stand in the address of every page and as chips below the bar, and every page applies them."""

import json
from pathlib import Path
from urllib.parse import parse_qs

import pytest
import torch
from streamlit.testing.v1 import AppTest

import attnviz
from attnviz.app.cache import traces
from attnviz.app.request import Request
from attnviz.models import catalogue
from attnviz.models.catalogue import Entry
from attnviz.tracing.causes import notation
from tests.app.pages.on_screen import notes
from tests.decoding.page.decoding_page import copied_link, header, verdict

OFF = "off.cross.0.1"
ASKED = {"src": "I love you", "to": "fr"}


def chips(app: AppTest) -> list[str]:
    assert not app.exception, app.exception
    return [button.label.replace("\\", "") for button in app.button if str(button.key).startswith("undo-")]


def caption(app: AppTest) -> str:
    """Read the caption below the pictures of the Heads page."""
    return header(app)["caption"]["model"]


def link_interventions(app: AppTest) -> str:
    return parse_qs(json.loads(copied_link(app))["query"])["do"][0]


def press(app: AppTest, words: str) -> AppTest:
    return next(button for button in app.button if words in button.label).click().run()


@pytest.mark.parametrize("page", ["", "heads", "masks", "decoding"])
def test_a_link_puts_a_head_off_on_every_page(open_page, page: str) -> None:
    app = open_page(page, **ASKED, do=OFF)
    assert chips(app) == ["cross L0 H1 off ✕"]
    assert app.query_params["do"] == OFF
    assert "do" not in press(app, "cross L0 H1").query_params
    assert chips(app) == []


def test_the_pages_trace_is_that_of_the_model_with_the_head_ablated(open_page) -> None:
    open_page("heads", **ASKED, do=OFF)  # in whose catalogue the tiny model is
    entry = next(entry for entry in catalogue.entries() if entry.name == catalogue.DEFAULT)
    model, request = traces.model(entry.name), Request(entry, **ASKED, do=OFF)
    expected = model.trace(ASKED["src"], to="fr", interventions=[attnviz.ablate("cross", layer=0, heads=[1])])
    shown, plain = traces.trace(request), traces.trace(Request(entry, **ASKED))
    assert torch.equal(shown.logits, expected.logits)
    assert shown.interventions == expected.interventions
    assert plain.interventions == ()  # another visitor, who has it on
    assert not torch.equal(plain.logits[:, :1], shown.logits[:, :1])


@pytest.mark.parametrize(
    ("way", "done", "words"),
    [
        (
            "cached",
            "even.dec.0.0~swap.cross.1.all.0.1",
            "decoder self L0 H0 even; cross L1, every head: 0 and 1 swapped",
        ),
        ("recomputed", OFF, "cross L0 H1 off"),
        ("teacher", OFF, "cross L0 H1 off"),
    ],
)
def test_steps_and_pass_agree_with_heads_off_and_the_verdict_says_so(
    open_page, way: str, done: str, words: str
) -> None:
    app = open_page("decoding", **ASKED, do=done, way=way)
    assert not app.exception
    assert "steps and pass are equal" in verdict(app)
    assert f"these changes apply to steps and pass alike:  {words}" in verdict(app)


@pytest.mark.parametrize("name", ["gpt2", "bert", "bart"])
def test_a_head_of_a_checkpoint_is_off_too(open_page, folder, name: str) -> None:
    kind = "enc" if name == "bert" else "dec"
    model = folder(name)
    open_page("heads", src="A big dog", model=model, new="3", do=f"off.{kind}.0.1")
    entry, done = Entry(model, Path(model), model, ()), attnviz.ablate(notation.KINDS[kind], layer=0, heads=[1])
    shown = traces.trace(Request(entry, "A big dog", new=3, do=f"off.{kind}.0.1"))
    assert [str(each) for each in shown.interventions] == [str(done)]
    assert not shown.context(notation.KINDS[kind], 0)[1].any()
    if name == "gpt2":
        app = open_page("decoding", src="A big dog", model=model, new="3", do=f"off.{kind}.0.1")
        assert "decoder self L0 H1 off" in verdict(app)
        assert "steps and pass are equal" in verdict(app)


def test_what_the_model_has_no_head_for_is_said_and_left_out(open_page) -> None:
    app = open_page("heads", **ASKED, do=f"{OFF}~off.cross.7.1~nonsense")
    assert chips(app) == ["cross L0 H1 off ✕", "cross L7 H1 off (not in this model) ✕", "Undo all changes ✕"]
    assert "There is no layer 7: this model has cross layers 0 to 1" in notes(app)
    assert "“nonsense” cannot be applied" in notes(app)
    assert link_interventions(app) == OFF  # for a visitor who opens the link
    assert app.query_params["do"] == f"{OFF}~off.cross.7.1~nonsense"  # another model may have such a head


def test_a_word_that_the_sentence_lacks_is_said_and_the_rest_is_done(open_page) -> None:
    app = open_page("heads", **ASKED, do=f"{OFF}~swap.cross.all.all.Tom.Mary")
    assert not app.exception
    assert "There is no word “Tom” in “I love you”" in notes(app)
    assert caption(app).endswith("changes to the run: cross L0 H1 off")


def test_a_model_that_only_replays_says_that_nothing_can_be_done_to_it(open_page, monkeypatch) -> None:
    entry = next(entry for entry in catalogue.entries() if entry.name == catalogue.DEFAULT)
    loaded = traces.model(entry.name)
    plain = loaded.trace

    def refusing(*given, interventions=(), **asked):
        if interventions:
            raise ValueError("Nothing can be done to a run of this model.")
        return plain(*given, **asked)

    monkeypatch.setattr(loaded, "trace", refusing)
    app = open_page("heads", src="I love you so", to="fr", do=OFF)
    assert "Nothing can be done to a run of this model." in notes(app)
    assert "changes to the run" not in caption(app)


def test_masks_and_neuron_say_what_is_done_to_the_head_that_they_show(open_page) -> None:
    app = open_page("masks", **ASKED, kind="cross", layer="0", head="1", do=OFF)
    assert "This head is changed in the run: cross L0 H1 off" in json.dumps(header(app))
    app = open_page("masks", **ASKED, kind="cross", layer="0", head="0", do=OFF)
    assert "This head is changed in the run" not in json.dumps(header(app))
    app = open_page("heads", **ASKED, tab="neuron", kind="cross", layer="0", head="1", do=OFF)
    assert "This head is changed in the run: cross L0 H1 off" in notes(app)


@pytest.mark.parametrize("page", ["anatomy", "implementations", "learning"])
def test_a_page_that_leaves_it_out_says_so(open_page, page: str) -> None:
    app = open_page(page, **ASKED, do=OFF)
    assert chips(app) == ["cross L0 H1 off ✕"]
    assert "ignores the changes made on other pages" in "".join(part.proto.body for part in app.get("html"))


def test_two_visitors_at_once_each_have_their_own(open_page) -> None:
    one, other = open_page("heads", **ASKED, do=OFF), open_page("heads", **ASKED, do="even.cross.all.all")
    assert (chips(one), chips(other)) == (["cross L0 H1 off ✕"], ["every cross head even ✕"])
    one = one.run()
    assert caption(one).endswith("changes to the run: cross L0 H1 off")
    assert caption(other).endswith("changes to the run: every cross head even")
    assert header(one)["id"] != header(other)["id"]


def test_back_on_the_model_writes_its_own_target_again(open_page) -> None:
    app = open_page("heads", **ASKED, tgt="un chien", do=OFF)  # a link's target is what the model wrote
    assert "tgt" not in press(app, "cross L0 H1").query_params
    app = open_page("heads", **ASKED, do=OFF)
    app = next(box for box in app.text_input if box.label.startswith("Target")).set_value("un chat").run()
    assert press(app, "cross L0 H1").query_params["tgt"] == "un chat"
