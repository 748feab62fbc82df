"""The visitor's choices that a session keeps, and those that stand in a page's address."""

from dataclasses import dataclass

import pytest
from streamlit.runtime.state.query_params import QueryParams
from streamlit.testing.v1 import AppTest

from attnviz.app.address import persistent
from attnviz.kit import fields
from tests.each_case import each_case


@dataclass(frozen=True)
class State:
    kind: str = fields.choice("cross")
    layer: int | str = fields.index(of="layer")
    other: int | str = fields.or_mean(fields.MEAN, of="layer", name="map_layer")
    row: int | None = fields.whole_number()
    share: float = fields.number(0.5, 0, 1)
    words: bool = fields.flag()
    note: str = fields.text(limit=5)
    zoom: tuple[int, int, int, int] | None = fields.window()


THERE = {"kind": ("cross", "self"), "layer": lambda found: {"cross": 3, "self": 5}[found["kind"]], "other": 3}


def test_a_state_comes_back_from_its_texts() -> None:
    state = State("self", 4, 2, 7, 0.25, words=True, note="1&2=%", zoom=(0, 2, 1, 3))
    assert fields.read(State, fields.write(state), THERE) == (state, ())
    assert fields.write(state)["map_layer"] == "2"


@each_case(
    ("name", "text", "says"),
    [
        ("kind", "both", "it can be cross, self; used instead: cross"),
        ("layer", "3", "this model has layers 0 to 2; used instead: 0"),
        ("map_layer", "-1", "this model has layers 0 to 2; used instead: mean"),
        ("row", "²", "it is a position counted from 0; used instead: none"),
        ("share", "nan", "it is a number from 0 to 1; used instead: 0.5"),
        ("words", "maybe", "it is true or false; used instead: false"),
        ("zoom", "3.3.0.5", "used instead: the whole map"),
    ],
)
def test_a_text_that_cannot_be_followed_is_said_and_the_others_count(name: str, text: str, says: str) -> None:
    state, problems = fields.read(State, {name: text, "note": "kept"}, THERE)
    assert state == State(note="kept")
    assert [problem.name for problem in problems] == [name]
    assert f"“{text}”, but" in problems[0]
    assert says in problems[0]


def test_what_another_page_knows_is_the_default_without_a_word() -> None:
    assert fields.read(State, {"layer": "mean"}, THERE) == (State(), ())
    assert fields.read(State, {"words": "true"}, THERE) == (State(words=True), ())


def _page() -> None:
    import streamlit as st

    from attnviz.app.address import persistent

    persistent.begin(st.session_state["on"])
    persistent.write(st.session_state.get("chosen", {}))
    persistent.linked_problems(st.session_state.get("problems", {}).get(persistent.text("model"), ()))
    persistent.publish()


def _go_to(app: AppTest, page: str, **chosen: str) -> AppTest:
    app.session_state["on"], app.session_state["chosen"] = page, chosen
    return app.run()


def _open(page: str, **link: str) -> AppTest:
    app = AppTest.from_function(_page)
    for name, text in link.items():
        app.query_params[name] = text
    return _go_to(app, page)


def _address(app: AppTest) -> dict[str, str]:
    assert not app.exception
    return {name: texts[-1] if isinstance(texts, list) else texts for name, texts in app.query_params.items()}


def test_an_address_stays_as_the_link_has_it_until_something_is_chosen() -> None:
    link = {"v": "1", "weights": "0123", "src": "dog", "row": "0"}
    app = _open("Heads", **link)
    assert _address(app) == link
    assert _address(_go_to(app, "Heads", row="0")) == link, "what is there already is no choice"
    assert _address(_go_to(app, "Heads", row="2")) == {"src": "dog", "row": "2"}


def test_the_last_choice_is_told_to_a_browser_that_has_not_heard_of_those_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[str] = []
    monkeypatch.setattr(QueryParams, "_send_query_param_msg", lambda params: told.append(params["head"]))
    app = _open("Heads", head="0")
    for head in ("1", "0", "0"):
        app.query_params["head"] = "0"  # each request is sent before the news of the one before arrives
        _go_to(app, "Heads", head=head)
    assert told == ["1", "0"]


def test_the_head_in_focus_goes_along_and_a_pages_own_choices_wait_there() -> None:
    app = _open("Heads", src="dog", kind="cross", layer="2", head="3", tab="links")
    assert _address(_go_to(app, "Masks", tab="leak")) == {
        "src": "dog", "kind": "cross", "layer": "2", "head": "3", "tab": "leak",
    }  # fmt: skip
    assert _address(_go_to(app, "Decoding", head="1")) == {"src": "dog", "layer": "2", "head": "1"}
    assert _address(_go_to(app, "Welcome")) == {"src": "dog"}
    assert _address(_go_to(app, "Heads")) == {"src": "dog", "kind": "cross", "layer": "2", "head": "1", "tab": "links"}


def test_the_head_of_another_pages_address_is_no_choice_of_a_page_that_spells_it_otherwise() -> None:
    """Back pressed twice at once can ask for one page with the address of the next."""
    app = _open("Decoding", src="I love you.", kind="cross", layer="1", head="3", step="2")
    assert dict(app.session_state["address"].own["Decoding"]) == {"step": "2"}


@each_case(
    ("page", "link", "means"),
    [
        ("Masks", {"room": "leak", "other": "dog"}, {"tab": "leak", "instead": "dog"}),
        ("Anatomy", {"part": "claims"}, {"tab": "claims"}),
        ("Heads", {"part": "0-1", "tab": "links"}, {"quadrant": "0-1", "tab": "links"}),
        ("Decoding", {"map_layer": "1", "map_head": "2"}, {"layer": "1", "head": "2"}),
    ],
)
def test_an_older_link_says_the_same_and_stays_as_it_is(page: str, link: dict, means: dict) -> None:
    app = _open(page, **link)
    assert _address(app) == link
    assert _address(_go_to(app, page, step="3")) == means | {"step": "3"}


def _page_with_component() -> None:
    import streamlit as st

    from attnviz.app.address import persistent

    persistent.begin("Heads")
    persistent.write(st.session_state.get("chosen", {}))
    if st.session_state["stops"]:
        st.stop()
    persistent.catch_up("component", lambda: persistent.write({"head": st.session_state["component"]}))
    persistent.publish()


def test_a_choice_that_interrupted_the_first_run_is_taken_once() -> None:
    app = AppTest.from_function(_page_with_component)
    app.session_state["stops"] = True
    app.run()
    app.session_state["stops"], app.session_state["component"] = False, "5"
    assert _address(app.run()) == {"head": "5"}
    app.session_state["chosen"] = {"head": "2"}
    assert _address(app.run()) == {"head": "2"}, "the component's old choice does not come back"


OPENING = persistent.OPENING["Causes"]


def _shown_values(app: AppTest) -> dict[str, str]:
    """Read what the page is shown with, whether the address says it or not."""
    memory = app.session_state[persistent._KEY]
    return {name: (memory.shared | persistent._opening_texts(memory)).get(name, "") for name in ("src", "to", "do")}


def test_a_page_shows_its_opening_while_nothing_is_said_and_no_other_page_does() -> None:
    app = _open("Causes")
    assert _address(app) == {}, "no entry of the history is made of what nobody chose"
    assert _shown_values(app) == OPENING
    assert _address(_go_to(app, "Heads")) == {}
    assert _shown_values(app) == dict.fromkeys(OPENING, "")
    _go_to(app, "Heads", kind="cross", layer="1")
    _go_to(app, "Causes")
    assert _shown_values(app) == OPENING, "a head in focus is no sentence"


@each_case(
    ("chosen", "left"),
    [
        ({"do": None}, {"src": OPENING["src"], "to": OPENING["to"]}),
        ({"src": "dog"}, OPENING | {"src": "dog"}),
        ({"src": None}, {"to": OPENING["to"], "do": OPENING["do"]}),
        ({"tab": "patch"}, OPENING | {"tab": "patch"}),
        ({"model": "gpt2"}, {"src": OPENING["src"], "to": OPENING["to"], "model": "gpt2"}),
        ({"src": OPENING["src"], "tgt": None}, {}),
    ],
)
def test_the_first_choice_has_the_opening_said_and_what_is_given_up_stays_so(chosen: dict, left: dict) -> None:
    app = _open("Causes")
    assert _address(_go_to(app, "Causes", **chosen)) == left
    assert _shown_values(_go_to(app, "Causes")) == {name: left.get(name, "") for name in OPENING} if left else OPENING


@each_case("link", [{"src": "dog"}, {"src": ""}, {"to": "de"}, {"tab": "patch"}, {"do": "off.cross.0.1"}])
def test_a_link_and_a_visitors_own_sentence_stay_as_they_are(link: dict) -> None:
    app = _open("Causes", **link)
    assert _shown_values(app) == dict.fromkeys(OPENING, "") | {name: link[name] for name in link if name in OPENING}
    app = _go_to(_open("Heads", **{name: text for name, text in link.items() if name != "tab"}), "Causes")
    assert "tab" in link or _shown_values(app)["src"] == link.get("src", "")


def test_an_emptied_sentence_is_a_choice_and_other_empty_texts_are_none() -> None:
    app = _open("Heads", src="dog", tgt="chien")
    assert _address(_go_to(app, "Heads", src="", tgt="")) == {"src": ""}


def test_what_no_link_asked_for_leaves_the_address_without_a_word() -> None:
    problem = fields.read(State, {"layer": "7"}, THERE)[1]
    app = _open("Heads", layer="7")
    memory = app.session_state[persistent._KEY]
    assert memory.linked == {"layer"}
    _go_to(app, "Masks")
    assert memory.linked == set()
    memory.unsupported["Masks", problem[0].name, ""] = "7"
    assert _address(_go_to(app, "Masks", tab="leak")) == {"tab": "leak"}
    assert _address(_go_to(app, "Heads", tab="links"))["layer"] == "7", "another page may have use for it"


def test_what_one_model_has_no_use_for_is_back_in_the_address_with_a_model_that_has() -> None:
    app = _open("Heads", model="large")
    app.session_state["problems"] = {"small": fields.read(State, {"layer": "7"}, THERE)[1]}
    assert _address(_go_to(app, "Heads", layer="7"))["layer"] == "7"
    assert _address(_go_to(app, "Heads", model="small")) == {"model": "small"}
    assert _address(_go_to(app, "Heads", model="large")) == {"model": "large", "layer": "7"}
