"""The Decoding page without a browser: what it hands to its component, the verdict, and what it says to bad links."""

import html
import re

import pytest

from attnviz.decoding import decoding as state
from attnviz.decoding.numbers import cost
from attnviz.decoding.numbers.cost import WAYS, Cost
from attnviz.decoding.page import controls, steps
from attnviz.kit import glossary
from attnviz.kit.bundle import PACKAGE
from tests.decoding.page.decoding_page import PAIR, copied_link, header, notes, verdict
from tests.models.huggingface import checkpoints


def test_training_and_steps_stand_side_by_side(open_page) -> None:
    app = open_page("decoding", **PAIR, way="teacher", padding="3")
    assert not app.exception
    told = header(app)
    rows, steps = told["training"]["rows"], told["steps"]
    assert [row["input"] for row in rows[: len(steps)]] == [step["input"] for step in steps]
    assert [row["counted"] for row in rows] == [True] * len(steps) + [False] * 3
    assert [step["teacher"] for step in steps] == [row["label"] for row in rows[: len(steps)]]
    assert {kind["kind"]: kind["grows"] for kind in told["kinds"] if kind["by"] != "pass"} == {
        "decoder_self": True,
        "cross": True,
        "encoder_self": False,
    }


def test_the_pass_over_the_steps_tokens_stands_beside_them(open_page) -> None:
    kinds = header(open_page("decoding", **PAIR, causal="none"))["kinds"]
    assert [(kind["kind"], kind["by"]) for kind in kinds] == [
        ("decoder_self", "pass"),
        ("decoder_self", "steps"),
        ("cross", "pass"),
        ("cross", "steps"),
        ("encoder_self", "encoder"),
    ]


def test_every_label_of_the_page_has_its_definition_under_the_pointer(open_page) -> None:
    """Each widget's help, and each term that the component asks for, in the words of the glossary."""
    defined = [" ".join(text.split()) for text in glossary.definitions("Decoding").values()]
    for choose in ("sampled", "beam"):
        app = open_page("decoding", **PAIR, choose=choose)
        switches = next(part.help for part in app.markdown if "What each does" in part.value)
        widgets = [part for name in ("number_input", "toggle", "button_group") for part in app.get(name)]
        helps = [part.help for part in widgets] + [switches]
        assert len(helps) > 9
        for widget, words in zip([*widgets, "Break it"], helps, strict=True):
            assert any(text in " ".join(words.split()) for text in defined), widget
        for term in ("Causal mask", "Precision (dtype) of the steps"):
            assert glossary.definition(term) in switches
        for term in ("what rounding allows", "|Δ|", "breaks first at", "blank", "embedding", "out", "logits"):
            assert glossary.definition(term) in html.unescape(verdict(app))
    scripts = "".join(path.read_text(encoding="utf-8") for path in (PACKAGE / "decoding" / "js").glob("*.js"))
    asked = {
        last or first for first, last in re.findall(r'termNode\((?:"([^"]*)"|[^,()]+|`[^`]*`)(?:, "([^"]+)")?', scripts)
    }
    heads = re.search(r"const heads = \[(.*?)\]", scripts)
    assert heads is not None
    asked |= set(re.findall(r'"([^"]+)"', heads[1])) | {
        *state.WAYS.values(),
        *state.CHOICES.values(),
        "cut",
    }
    assert asked - {""} <= {*glossary.definitions("Heads"), *glossary.definitions("Decoding")}


def test_a_link_brings_step_and_head_back(open_page) -> None:
    view = header(open_page("decoding", **PAIR, way="teacher", step="1", layer="1", head="3"))["view"]
    assert (view["step"], view["layer"], view["head"]) == (1, 1, 3)
    assert view["seq"] == 0, "the number of the choice that this answers: without it Back would change nothing"


def test_a_choice_writes_only_what_it_changes(monkeypatch) -> None:
    """A link that leaves the head open means the model's own: what was only shown is no choice."""
    shown = {"step": 5, "layer": "mean", "head": 3}
    session, written = {controls.PLACE_SHOWN: shown}, []
    monkeypatch.setattr(controls.st, "session_state", session)
    monkeypatch.setattr(controls.persistent, "write", written.append)
    for step in (2, 5):  # the second before a run has shown the first
        session[controls.COMPONENT] = {"view": shown | {"step": step, "seq": 1}}
        controls.adopt()
    assert written == [{"step": "2"}, {"step": "5"}]


def test_the_link_to_copy_carries_every_option(open_page) -> None:
    app = open_page("decoding", **PAIR, way="teacher", choose="sampled", seed="7", causal="none", step="1")
    for part in ("way=teacher", "choose=sampled", "seed=7", "causal=none", "step=1", "weights=", "v=1", "temperature="):
        assert part in copied_link(app)
    assert "ids_src" not in copied_link(app)


def test_a_beam_shows_its_hypotheses(open_page) -> None:
    steps = header(open_page("decoding", src="dog", to="fr", choose="beam", beam="3"))["steps"]
    assert all(step["beam"] for step in steps)
    assert any(kept for _, _, _, _, kept in steps[-1]["beam"])


def test_a_checkpoint_keeps_no_beam_and_says_so(open_page, tmp_path) -> None:
    model = str(checkpoints.save(tmp_path / "gpt2", checkpoints.ALL["gpt2"]))
    app = open_page("decoding", src="I love you.", model=model, choose="beam")
    assert not app.exception
    assert "Here each step takes the most likely token" in notes(app)
    assert not any(step["beam"] for step in header(app)["steps"])


def test_smoothing_is_explained_where_it_is_on(open_page) -> None:
    plain = header(open_page("decoding", **PAIR))["training"]
    smooth = header(open_page("decoding", **PAIR, smoothing="0.1"))["training"]
    assert plain["note"] == ""
    assert "Label smoothing 0.1 is on" in smooth["note"]
    assert plain["mean"] != smooth["mean"]


def test_each_wrong_part_of_a_link_is_told_and_the_page_goes_on(open_page) -> None:
    told = {
        "way": ("magic", "way “magic”, but it can be cached, recomputed, teacher"),
        "beam": ("99", "beam “99”, but it is a number from 1 to 8"),
        "dtype": ("int8", "dtype “int8”, but it can be float32, float16, bfloat16"),
        "dropout": ("maybe", "dropout “maybe”, but it is true or false"),
        "layer": ("9", "layer “9”, but this model has layers 0 to 1"),
        "step": ("first", "step “first”, but it is a position counted from 0"),
    }
    app = open_page("decoding", **PAIR, choose="beam", **{name: text for name, (text, _) in told.items()})
    assert not app.exception
    assert [words for _, words in told.values() if words not in notes(app)] == []
    assert header(app)["steps"]


def test_an_empty_sentence_is_one_sentence_and_keeps_what_was_typed(open_page) -> None:
    app = open_page("decoding", src="   ", to="fr", tgt="un chien")
    assert not app.exception
    assert "The sentence is empty. Please type one" in notes(app)
    assert app.text_input(key="tgt-shown").value == "un chien"


@pytest.mark.parametrize("more", ["verdict", "cost", "experiment", "tables"])
def test_what_stands_below_is_there(open_page, more: str) -> None:
    app = open_page("decoding", **PAIR, more=more)
    assert not app.exception
    found = {
        "verdict": lambda: len(app.get("plotly_chart")) == 1,
        "cost": lambda: len(app.get("plotly_chart")) == 1,
        "experiment": lambda: any("class='prefix-blocks'" in part.proto.body for part in app.get("html")),
        "tables": lambda: len(app.dataframe) == 2,
    }
    assert found[more]()


def test_the_experiment_takes_other_ids_and_refuses_wrong_ones(open_page) -> None:
    app = open_page("decoding", **PAIR, more="experiment")
    app.text_input(key="ids_tgt").set_value("1 2").run()
    (printed,) = [part.proto.body for part in app.get("html") if "class='prefix-blocks'" in part.proto.body]
    assert "tgt [1, 2]" in printed
    assert "ids_tgt=1+2" in copied_link(app)
    app.text_input(key="ids_tgt").set_value("1 two").run()
    assert "must be whole numbers" in notes(app)
    assert not app.exception


@pytest.mark.parametrize("step", [1, 10**6])
def test_a_translation_that_was_cut_is_written_again_in_heads(open_page, monkeypatch, step: int) -> None:
    told = header(open_page("decoding", src="I love you", to="fr"))
    assert "no <eos>" in told["way"][-1][0], "this untrained model reaches no end"
    assert told["opens"]
    sent = []
    monkeypatch.setattr(steps.navigation, "send", lambda *place: sent.append(place))
    monkeypatch.setattr(steps, "reported_value", lambda *_: {"step": step})
    monkeypatch.setattr(steps.mount, "stepper", lambda payload, *, key, on_change, on_open: on_open())
    assert not open_page("decoding", src="I love you", to="fr").exception
    ((page, query),) = sent
    assert page == "Heads"
    assert query["row"] == str(min(step, len(told["steps"]) - 1))
    assert "tgt" not in query


def test_what_an_address_asks_for_is_open_and_the_rest_is_folded(open_page) -> None:
    for link, opened in (({}, set()), ({"causal": "none"}, {"Break it"}), ({"way": "teacher"}, {"How it steps"})):
        app = open_page("decoding", **PAIR, **link)
        assert {fold.label for fold in app.expander if fold.proto.expanded} == opened
        assert not app.get("plotly_chart")


def test_costs_are_drawn_and_listed_as_far_as_they_are_known(open_page, monkeypatch) -> None:
    app = open_page("decoding", **PAIR, more="cost")
    (table,) = [part.value for part in app.dataframe]
    assert list(table) == ["way", "length", "multiply_adds"]
    costs = [Cost(way, 5, 10, 0.5) for way in WAYS]
    monkeypatch.setattr(cost, "measure_costs", lambda *_, **__: iter(costs))
    app.button(key="measure").click().run()
    (table,) = [part.value for part in app.dataframe]
    assert list(table["seconds"]) == [0.5] * 3


def test_tokens_that_are_written_are_counted_one_way(open_page) -> None:
    """The first token of a target is given to the model: neither the bar nor the table counts it as written."""
    app = open_page("decoding", src="I love you.", to="fr")
    text = "".join(part.proto.body for part in app.get("html"))
    (bar,) = re.findall(r"in · <b>(\d+)</b> out", text)
    assert int(bar) == len(header(app)["steps"])
    assert f"{bar} go in, {bar} come out" in str(header(app))


def test_a_row_is_named_by_the_texts_next_token_as_on_heads(open_page) -> None:
    """With the teacher's prefix the model may have chosen another token. Words beside the row's name say which."""
    app = open_page("decoding", **PAIR, way="teacher", more="verdict")
    steps = header(app)["steps"]
    heads = header(open_page("heads", **PAIR, tab="flow"))
    following = [step["chosen"] if step["next"] is None else step["next"] for step in steps]
    assert [[step["input"], token] for step, token in zip(steps, following, strict=True)] == heads["rows"]
    others = [step for step in steps if step["next"] is not None]
    assert others, "this model chooses otherwise somewhere"
    figures = "".join(part.proto.spec for part in app.get("plotly_chart"))
    figures = re.sub(r"\\u([0-9a-f]{4})", lambda found: chr(int(found[1], 16)), figures)
    figures = html.unescape(figures)
    for step in others:
        assert f"{step['input']} → {step['next']} (chose {step['chosen']})" in figures
