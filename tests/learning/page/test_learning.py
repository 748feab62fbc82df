"""The Learning page without a browser: what it hands to its component, what a link brings, and what it refuses."""

import re
from urllib.parse import parse_qs

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from attnviz.kit.bundle import PACKAGE
from attnviz.kit.glossary import definitions, words_of
from attnviz.learning.learning_state import LearningState, view_of
from attnviz.learning.page import controls, runs
from attnviz.toys import shipped
from attnviz.toys.experiment import experiment_of
from attnviz.toys.recording import Recording
from attnviz.toys.storage import toy_recording
from tests.app.pages.page_terms import read_terms
from tests.each_case import each_case
from tests.learning.page.learning_page import BLIND, chosen_view, copied_link, header, notes, states


def test_it_opens_with_the_mask_beside_without_and_asks_first(open_page) -> None:
    app = open_page("learning")
    assert not app.exception
    assert notes(app) == []
    told = header(app)
    assert [run["title"] for run in told["runs"]] == ["Nothing left out", "No causal mask"]
    assert chosen_view(told) == {"moment": 0, "site": "", "guess": ""}
    scores = toy_recording(shipped.path(BLIND)).scores
    asked = told["asked"]
    assert asked["text"].startswith(f"The training loss ends at {scores['loss']:.4f}. Will it translate ")
    assert told["runs"][asked["run"]]["title"] == "No causal mask"
    assert asked["verdict"]["yes"] == "You said: it will. It gets almost no line right."
    assert asked["verdict"]["no"] == "You said: it won’t. Right."


def test_what_is_said_of_a_run_is_what_its_recording_says(open_page) -> None:
    for run in header(open_page("learning", second="leak-one-head"))["runs"]:
        scores = toy_recording(shipped.FOLDER / f"{run['name']}.npz").scores
        own, teacher = (round(128 * scores[name]) for name in ("own_prefix", "teacher_prefix"))
        assert run["outcome"][0] == (
            f"On its own prefix it wrote {own} of 128 held-out lines right; on the teacher’s prefix, {teacher}. "
            f"Training loss {scores['loss']:.4f}."
        )


def test_a_link_brings_everything_back_and_the_copied_one_says_all_but_the_guess(open_page) -> None:
    link = {
        "task": "reverse", "seed": "2", "first": "heads-1~d-model-64", "second": "heads-1~d-model-64~without-scale",
        "guess": "some", "moment": "31", "site": "cross.0.0", "line": "a b c",
    }  # fmt: skip
    app = open_page("learning", **link)
    assert not app.exception
    told = header(app)
    assert [run["title"] for run in told["runs"]] == [
        "1 head, d_model 64, seed 2",
        "No 1/√d_k, 1 head, d_model 64, seed 2",
    ]
    assert chosen_view(told) == {"moment": 31, "site": "cross.0.0", "guess": "some"}
    assert copied_link(app) == link | {"v": "1", "train": "0", "guess": ""}
    assert copied_link(open_page("learning", guess="open"))["guess"] == "open", (
        "a teacher's own choice, that nobody be asked"
    )


@each_case("lesson", controls.LESSONS, ids=lambda name: name)
def test_every_experiment_of_the_menu_is_recorded(lesson: str) -> None:
    view, problems = view_of({name: text for name, text in controls.LESSONS[lesson].items() if text})
    assert problems == ()
    for parts in view.runs:
        assert shipped.is_shipped(experiment_of(view.task, parts, seed=view.seed)), parts


@pytest.mark.parametrize(
    ("link", "sentence"),
    [
        (
            {"task": "german"},
            "task “german”, but it can be french, reverse, sort, twice, add, digits; used instead: french.",
        ),
        ({"seed": "-1"}, "seed “-1”, but it is a whole number from 0 to 99999; used instead: 1."),
        (
            {"second": "x y"},
            "“x y”, but switches look like without-causal-mask~pairs-30; used instead: without-causal-mask.",
        ),
        (
            {"site": "cross"},
            "The link asks for site “cross”, but a head looks like cross.0.1; used instead: every head.",
        ),
        ({"guess": "maybe"}, "but a guess is yes, some, no, or open for no guess; used instead: the question."),
        ({"first": "without-causal-mask~leak-one-head"}, "is visible already, so nothing can leak."),
        ({"first": "pairs-30~pairs-100"}, "pairs is given twice, as 30 and as 100. Keep one."),
        ({"first": "layers-99"}, "layers is a whole number from 1 to 6, not 99."),
        (
            {"task": "twice", "first": "without-cross-attention"},
            "by a decoder-only model, which has no cross-attention.",
        ),
        (
            {"task": "digits", "first": "leak-one-head"},
            "an encoder of images, which has no causal-mask. It can be trained ",
        ),
        ({"line": "the zebra sees"}, "This toy does not know the word 'zebra'. It knows 83 words"),
        (
            {"task": "twice", "first": "layers-1", "second": "none", "line": "a b"},
            "” was recorded without its weights. ",
        ),
        (
            {"first": "steps-20000", "train": "1", "guess": "no", "second": "none"},
            "seconds of CPU time, but only 15 are allowed. Please use fewer steps or a smaller model",
        ),
    ],
    ids=str,
)
def test_what_cannot_be_is_said_in_one_sentence_and_the_page_goes_on(open_page, link: dict, sentence: str) -> None:
    app = open_page("learning", **link)
    assert not app.exception
    (found,) = notes(app)
    assert sentence in found
    assert header(app)["runs"]


def test_a_refused_run_leaves_the_recording_beside_it(open_page) -> None:
    app = open_page("learning", first="leak-one-head~without-causal-mask")
    assert states(app) == ["absent", "recorded"]


def test_a_run_that_nobody_recorded_says_how_it_is_had(open_page) -> None:
    app = open_page("learning", first="layers-2", second="none")
    (run,) = header(app)["runs"]
    assert (run["state"], run["note"]) == (
        "absent",
        "There is no recording of this run. To see it, press “Train it yourself”.",
    )
    assert header(app)["asked"] is None


def test_a_recording_of_another_version_is_told_and_the_other_run_plays(open_page, monkeypatch, tmp_path) -> None:
    for path in shipped.FOLDER.glob("french*.npz"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    with np.load(tmp_path / "french.npz") as file:
        np.savez(tmp_path / "french.npz", **dict(file) | {"format_version": np.array(99)})
    monkeypatch.setattr(shipped, "FOLDER", tmp_path)
    runs._recordings.forget(lambda name: True)
    app = open_page("learning")
    runs._recordings.forget(lambda name: True)
    assert not app.exception
    (sentence,) = notes(app)
    assert sentence.endswith("(its format_version is 99, this attnviz reads 1: record the run again).")
    assert states(app) == ["absent", "recorded"]


def test_a_line_of_ones_own_is_written_and_looked_at(open_page) -> None:
    line = "the black dogs see my small car"
    plain, blind = (run["own"] for run in header(open_page("learning", line=line))["runs"])
    assert plain["wrote"] == plain["right"] == ["les", "chiens", "noirs", "voient", "ma", "petite", "voiture"]
    assert blind["right"] == plain["right"] != blind["wrote"]
    assert [row[1] for row in plain["kinds"][2]["rows"]] == [*plain["wrote"], "<eos>"]
    assert plain["kinds"][2]["cols"] == [*line.split(), "<eos>"]


def way(app: AppTest, label: str, at: int) -> dict[str, str]:
    """Read the link to a page from the run `at`."""
    links = [part.proto for part in app.get("page_link") if part.proto.label == label and part.proto.query_string]
    found = [parse_qs(link.query_string) for link in links if "toy" in link.query_string]
    return {name: texts[0] for name, texts in found[at].items()}


def test_the_toy_opens_on_the_other_pages_by_its_name(open_page, monkeypatch) -> None:
    monkeypatch.setenv("ATTNVIZ_MODELS", "")  # an instance that offers nothing else
    app = open_page("learning", site="cross.0.1")
    asked = way(app, "Heads", 1)
    assert asked["model"] == "toy:french-without-causal-mask"
    assert (asked["kind"], asked["layer"], asked["head"]) == ("cross", "0", "1")
    for page in ("heads", "masks", "decoding"):
        there = open_page(page, **way(app, page.title(), 1))
        assert not there.exception
        assert not there.error
        assert [box.value for box in there.selectbox if box.label == "Model"] == [asked["model"]]


def test_a_toy_of_images_is_shown_without_positions_beside_it_and_opens_in_patches(open_page) -> None:
    app = open_page("learning", task="digits", site="encoder_self.1.2")
    assert notes(app) == []
    told = header(app)
    assert [run["title"] for run in told["runs"]] == ["Nothing left out", "No positions"]
    recording = toy_recording(shipped.path(experiment_of("digits", ["without-positions"])))
    right = round(360 * recording.scores["accuracy"])
    assert told["runs"][1]["outcome"][0].startswith(f"It read {right} of 360 held-out images right.")
    assert told["asked"]["text"].endswith("Will it read images of digits it has never seen?")
    assert told["asked"]["verdict"]["yes"] == "You said: it will. It gets some images right."
    assert "A line of your own" not in [field.label for field in app.text_input]
    asked = way(app, "Heads", 0)
    assert (asked["model"], asked["image"], asked["tab"]) == ("toy:digits", "digit-3", "patches")
    there = open_page("heads", **asked)
    assert not there.exception
    assert not there.error
    assert [box.value for box in there.selectbox if box.label == "Image"] == ["digit-3"]
    for page in ("Masks", "Causes"):
        other = open_page(page.lower(), **way(app, page, 0))
        assert not other.exception
        assert not other.error
    said = recording_says(toy_recording(shipped.path(experiment_of("digits"))))
    assert any(f"The toy reads the digit {said} with probability" in note for note in notes(there))


def recording_says(recording: Recording) -> str:
    """Return what a toy reads at the end in its first watched image."""
    return recording.answers_at(-1)[0][0]


def test_the_mask_is_put_back_on_the_masks_page_and_does_not_help(open_page) -> None:
    asked = way(open_page("learning"), "Masks", 1)
    assert (asked["masks"], asked["scope"], asked["kind"]) == ("causal", "kind", "decoder_self")
    app = open_page("masks", **asked)
    text = "".join(str(part.proto.body) for part in app.get("html") if "verdict" in part.proto.body)
    assert asked["tgt"] not in text


@pytest.mark.parametrize("name", ["toy:french-seed-77", "toy:nothing", "toy:../../etc/passwd"])
def test_a_toy_that_is_not_there_is_said(open_page, name: str) -> None:
    app = open_page("heads", model=name, src="the dog sees the cat")
    assert not app.exception
    (sentence,) = notes(app)
    assert (
        "train it again" in sentence or "is not the name of an experiment" in sentence or "There is no task" in sentence
    )


def test_another_experiment_forgets_what_was_guessed(open_page) -> None:
    app = open_page("learning", guess="no", moment="40")
    app.multiselect(key="first-switches").set_value(["pairs-30"]).run()
    told = header(app)
    assert [run["title"] for run in told["runs"]] == ["30 pairs", "No causal mask"]
    assert (told["view"]["moment"], told["view"]["guess"]) == (0, "")
    assert app.query_params["first"] == "pairs-30"


def test_every_word_that_the_widget_marks_is_defined(open_page) -> None:
    scripts = "".join(
        path.read_text(encoding="utf-8") for path in (PACKAGE / "learning" / "widget" / "js").glob("*.js")
    )
    asked = {last or first for first, last in re.findall(r'termNode\("([^"]*)"(?:, "([^"]+)")?', scripts)}
    assert len(asked) >= 4
    scores = {"superdiagonal", "previous-token", "induction", "alignment"}  # named by the recording
    assert asked | scores <= set(definitions("Learning"))
    app = open_page("learning")
    words = read_terms(app)
    assert words == dict(words_of("Learning"))
    marked = {term for part in app.get("html") for term in re.findall(r"data-term='([^']*)'", part.proto.body)}
    assert {"device", "held-out"} <= marked <= set(words)
    assert {
        "Task",
        "First run",
        "Second run",
        "Seed of the run",
        "A line of your own",
        "Train it yourself",
        "Experiments",
    } <= set(words)


def test_the_states_default_is_what_the_page_opens_with() -> None:
    assert view_of({})[0] == LearningState()
    assert view_of(LearningState().to_params())[0] == LearningState()
