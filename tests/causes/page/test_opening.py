"""What Causes opens on: one head of the shipped translator is off, and the words change by more than any rounding."""

import attnviz
from attnviz.app.address.persistent import OPENING
from attnviz.causes.numbers.chances import chances, compared_tokens
from attnviz.causes.numbers.findings import HAIR
from attnviz.tracing.causes import notation
from tests.causes.page.causes_page import header
from tests.learning.page.learning_page import copied_link


def test_a_single_head_turns_the_opening_sentence_and_not_by_a_hair() -> None:
    model, opening = attnviz.load(), OPENING["Causes"]
    done = notation.parse(opening["do"]).interventions
    assert [len(each.heads or ()) for each in done] == [1]
    plain = model.trace(opening["src"], to=opening["to"])
    now = model.trace(opening["src"], to=opening["to"], interventions=done)
    assert plain.tgt_text != now.tgt_text
    for trace in (plain, now):
        assert float(chances(trace, compared_tokens(model, trace)).margins.min()) > HAIR, (
            "of every word that either writes"
        )


def test_a_page_of_which_nothing_is_said_opens_on_it_and_its_link_says_all_of_it(open_page) -> None:
    app = open_page("causes")
    assert not app.exception
    assert dict(app.query_params) == {}
    assert app.text_input(key="src-shown").value == OPENING["Causes"]["src"]
    assert copied_link(app)["src"] == OPENING["Causes"]["src"]
    assert len(app.button) > 0
    app.button(key="undo-0").click().run()
    assert not app.exception
    assert "do" not in app.query_params
    assert app.text_input(key="src-shown").value == OPENING["Causes"]["src"]
    assert header(app)["done"] == []


def test_another_page_keeps_its_own_sentence(open_page) -> None:
    app = open_page("causes")
    app.switch_page("pages/heads.py").run()
    assert app.text_input(key="src-shown").value != OPENING["Causes"]["src"]
    app.text_input(key="src-shown").set_value("a big red dog").run()
    app.switch_page("pages/causes.py").run()
    assert app.text_input(key="src-shown").value == "a big red dog"
    assert header(app)["done"] == []
