"""A recording that a visitor opens on the Learning page: a translator's training, a toy's run, and what is neither."""

import io
import json
import shutil

import numpy as np
import pytest
from streamlit.runtime.caching import cache_resource_api
from streamlit.testing.v1 import AppTest

import attnviz
from attnviz.app.cache import pictures
from attnviz.app.cache.pictures import Room
from attnviz.kit.bundle import PACKAGE
from attnviz.learning.page import controls, upload
from attnviz.toys import shipped
from attnviz.toys.experiment import Experiment
from attnviz.toys.packing import pack_meta
from attnviz.toys.storage import read_recording
from tests.hostile import archives
from tests.learning.page.learning_page import copied_link, header, notes
from tests.learning.translator import trained

TOYS = ["Nothing left out", "No causal mask"]


@pytest.fixture(autouse=True)
def _a_new_visitor() -> None:
    """Clear the kept files of the test before, whose session has the same name."""
    cache_resource_api.clear_session_cache("test session id")


def upload_recording(app: AppTest, content: bytes, name: str = "run.npz") -> AppTest:
    return app.file_uploader(key="recording-file").upload(name, content).run()


def titles(app: AppTest) -> list[str]:
    return [run["title"] for run in header(app)["runs"]]


def test_a_translators_training_is_shown_with_what_its_file_holds(open_page) -> None:
    app = upload_recording(open_page("learning", moment="31", site="cross.0.1"), trained.content())
    assert not app.exception
    assert notes(app) == []
    told = header(app)
    assert titles(app) == ["A translator’s training"]
    assert told["asked"] is None
    view = {name: told["view"][name] for name in ("moment", "site", "guess", "sentence")}
    assert view == {"moment": 0, "site": "", "guess": "", "sentence": 0}
    assert told["view"]["of"] == told["runs"][0]["key"]
    about, moments = told["runs"][0]["about"], told["runs"][0]["moments"]
    assert moments["steps"] == list(trained.STEPS)
    assert [(one["src"], one["to"], one["tgt"]) for one in about["sentences"]] == [
        ("The red dog.", "fr", "Le chien rouge."),
        ("The big cat sleeps.", "zh", "大猫睡觉。"),
        ("The old house.", "fr", "La vieille maison."),
        ("A small pond.", "zh", "小池塘。"),
    ]
    assert [one["learned"] for one in about["sentences"]] == [at != trained.UNSEEN for at in range(4)]
    assert sorted(about["curves"]) == ["bleu.fr", "bleu.zh", "chrf.fr", "chrf.zh"]


def test_what_means_nothing_there_is_not_offered_and_the_experiments_are_a_press_away(open_page) -> None:
    app = upload_recording(open_page("learning", task="reverse", second="none"), trained.content())
    assert app.query_params["recording"] == "file"
    assert not app.selectbox
    assert {field.key for field in app.text_input} == {"heard"}, "which is hidden"
    assert not any(button.key == "train" for button in app.button)
    assert not app.caption, "no toy to open elsewhere"
    assert any("a link cannot contain a file" in part.proto.body for part in app.get("html"))
    with pytest.raises(ValueError, match="not enough values"):
        copied_link(app)
    app.button(key="experiments").click().run()
    assert titles(app) == ["Nothing left out"]
    assert app.query_params.get("task") == "reverse"
    assert "recording" not in app.query_params


def test_a_toys_recording_opens_as_well(open_page) -> None:
    path = shipped.path(Experiment("sort", without=("positions",)))
    app = upload_recording(open_page("learning"), path.read_bytes())
    assert notes(app) == []
    (run,) = header(app)["runs"]
    assert (run["name"], run["state"]) == ("sort-without-positions", "recorded")
    assert run["moments"]["steps"] == list(attnviz.load_recording(path).steps)


def test_a_link_to_a_file_says_that_it_carries_none_and_forgets_what_was_in_view(open_page) -> None:
    """As after a reload: the file is gone with the page that had it."""
    app = open_page("learning", recording="file", moment="3", site="cross.1.2", sentence="2")
    assert notes(app) == [upload.AGAIN]
    assert titles(app) == TOYS
    assert header(app)["view"]["moment"] == 0
    assert header(app)["view"]["site"] == ""


def test_a_choice_in_what_is_shown_in_its_place_leaves_it(open_page, monkeypatch) -> None:
    session: dict = {controls._SHOWN: {"moment": 0, "site": "", "guess": "", "of": "x"}, controls._LACKS: True}
    written: list[dict] = []
    monkeypatch.setattr(controls.st, "session_state", session)
    monkeypatch.setattr(controls.persistent, "write", written.append)
    session[controls.COMPONENT] = {"view": {"moment": 7, "site": "", "guess": "", "of": "x", "sentence": 2}}
    controls.adopt()
    assert written[0] == {"recording": None, "sentence": None, "moment": "7", "site": None}


def _translators(**changed: object) -> bytes:
    """Write the recording with other arrays, or with another field of its meta."""
    with np.load(io.BytesIO(trained.content())) as file:
        arrays = dict(file)
    meta = json.loads(arrays["meta"].tobytes())
    for name, value in changed.items():
        name = name.replace("__", ".")
        if name in meta["translator"]:
            meta["translator"][name] = value
        else:
            arrays[name] = np.asarray(value)
    return archives.npz(**arrays | {"meta": pack_meta(meta)})


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: b"PK\x03\x04", "run.npz is not a recording of attnviz (it is not an .npz archive"),
        (lambda: archives.npz(attn=archives.ATTN), "(its arrays are not those of a recording)."),
        (lambda: archives.bomb(64 << 20), "(it unpacks to more than 32 MB)."),
        (lambda: _translators(format_version=9), "(its format_version is 9, this attnviz reads 1: record the run"),
        (lambda: _translators(held_out_loss=np.full(4, 1e300)), "(its losses are not valid)."),
        (lambda: _translators(**{"scores.chrf.fr": np.full(4, 1e9)}), "(its scores are not from 0 to 100)."),
        (lambda: _translators(lines=[]), "(it watches 0 lines)."),
        (lambda: _translators(wrote=[["a"]]), "(it has the wrong number of lines)."),
    ],
    ids=range(8),
)  # fmt: skip
def test_what_cannot_be_read_is_one_sentence_and_the_experiments_play(open_page, make, sentence) -> None:
    app = upload_recording(open_page("learning"), make())
    assert not app.exception
    (found,) = notes(app)
    assert sentence in found
    assert titles(app) == TOYS


def test_a_recording_that_finds_no_room_is_refused_and_room_is_given_back(open_page, monkeypatch) -> None:
    monkeypatch.setattr(pictures, "ROOM", Room(1_000))
    app = upload_recording(open_page("learning"), trained.content())
    assert notes(app) == [upload.FULL.format("run.npz")]
    monkeypatch.setattr(pictures, "ROOM", roomy := Room(1 << 20))
    app.run()
    assert notes(app) == []
    assert pictures.size(np.zeros(1_000)[1:]) == 999 * 8, "NumPy says of a view that it has nothing of its own"
    found = read_recording(io.BytesIO(trained.content()), "run.npz")
    assert roomy.taken_bytes > sum(maps.nbytes for of_line in found.maps for maps in of_line.values())


def test_the_translators_training_is_in_the_list_where_the_instance_has_it(open_page, monkeypatch, tmp_path) -> None:
    path = tmp_path / "translator.npz"
    monkeypatch.setattr(upload, "TRANSLATOR_FILE", path)
    app = open_page("learning", recording="translator")
    assert notes(app) == ["The link asks for the recording of the translator's training. This server does not have it."]
    assert titles(app) == TOYS
    path.write_bytes(trained.content())
    app = open_page("learning", recording="translator", moment="2", sentence="3")
    assert notes(app) == []
    assert titles(app) == ["A translator’s training"]
    assert copied_link(app) == {"v": "1", "recording": "translator", "moment": "2", "site": "", "sentence": "3"}


def test_a_recording_beside_the_lessons_is_opened_by_its_name(open_page, monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("ATTNVIZ_LESSONS", str(tmp_path))
    app = open_page("learning", recording="run.npz")
    assert notes(app) == [
        "The link asks for the recording “run.npz”. This recording is not in the folder of this server's lessons."
    ]
    shutil.copy(shipped.path(Experiment("reverse")), tmp_path / "run.npz")
    app = open_page("learning", recording="run.npz", moment="2")
    assert notes(app) == []
    assert [run["name"] for run in header(app)["runs"]] == ["reverse"]
    assert copied_link(app) == {"v": "1", "recording": "run.npz", "moment": "2", "site": "", "sentence": "0"}


def test_every_word_that_is_marked_there_is_defined() -> None:
    from attnviz.kit.glossary import definitions

    assert 'termNode("dev loss")' in (PACKAGE / "learning/widget/js/translator.js").read_text(encoding="utf-8")
    assert {"dev loss", "chrF", "BLEU"} <= set(definitions("Learning"))
