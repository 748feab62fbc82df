"""All shipped lessons as one folder: its files, its right answers, and its size."""

import base64
import json
import re
import zlib
from typing import Any

import numpy as np
import pytest

from attnviz.lessons.check import fingerprint
from attnviz.lessons.folder.files import Files, file_names, folder_files
from attnviz.lessons.folder.lesson_data import to_html, words
from attnviz.lessons.folder.mask_pages import HTML_TABS
from attnviz.lessons.lesson import Lesson
from attnviz.lessons.library import SHIPPED
from attnviz.lessons.picture import pictures
from attnviz.lessons.reading import read, read_file
from attnviz.lessons.scoring import Truth
from tests.each_case import each_case
from tests.lessons.front_matter import FRONT_MATTER as HEAD

LESSONS = [read_file(path) for path in sorted(SHIPPED.glob("*.md"))]
LIVE = ("Heads", "Masks", "Decoding", "Causes", "Learning")
MOST_BYTES = 400_000  # of a lesson, beyond what all share


@pytest.fixture(scope="module")
def files() -> Files:
    return folder_files(LESSONS, pictures(), instance="https://attnviz.example.org/all")


def page_data(files: Files, name: str) -> dict[str, Any]:
    return json.loads(files[f"{name}.js"].partition(" = ")[2].rstrip(";\n"))


def shown_pieces(data: dict[str, Any]) -> set[str]:
    shown = [step["picture"] for step in data["steps"] if step["picture"]]
    return {piece for picture in shown for piece in (picture["open"], picture["covered"]) if piece}


@each_case("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_what_is_right_is_what_the_author_signed(files: Files, lesson: Lesson) -> None:
    steps = page_data(files, lesson.name)["steps"]
    assert [bool(step["question"]) for step in steps] == [bool(step.question) for step in lesson.steps]
    found = {
        str(at + 1): fingerprint(question, Truth(steps[at]["question"]["truth"]["answer"]))
        for at, question in lesson.questions.items()
    }
    assert found == lesson.signed


@each_case("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_every_picture_is_live_on_five_pages(files: Files, lesson: Lesson) -> None:
    for at, step in enumerate(page_data(files, lesson.name)["steps"]):
        link, picture = lesson.picture(at), step["picture"]
        assert (link is None) == (picture is None)
        if link is None:
            continue
        is_live, is_tab = link.page in LIVE, link.page == "Masks" and link.texts.get("tab") in HTML_TABS
        found = [bool(picture[name]) for name in ("open", "widget", "html", "note")]
        assert found == [is_live, is_live and not is_tab, not is_live, is_tab or not is_live], f"step {at + 1}"
        assert picture["instance"].startswith("https://attnviz.example.org/all/")
        question = lesson.steps[at].question
        is_covered = question is not None and question.cover != "nothing"
        assert (picture["cover"] != "nothing") == is_covered
        assert (picture["covered"] is not None) == (picture["cover"] == "part")


def test_a_covered_picture_has_no_number_of_what_is_covered(files: Files) -> None:
    """Lesson 1: the first step covers a head of cross-attention, the third a row of another."""
    steps = page_data(files, LESSONS[0].name)["steps"]
    for at, site, rows in ((0, (2, 4), slice(None)), (2, (0, 3), 2)):
        opened, covered = (cross_weights(files, steps[at]["picture"][name]) for name in ("open", "covered"))
        assert (opened[site][rows] > 0).any()
        assert not covered[site][rows].any()
        covered[site][rows] = opened[site][rows]
        assert (covered == opened).all()


def cross_weights(files: Files, name: str) -> np.ndarray:
    """Return all weights of cross-attention among a picture's bytes, (layers, heads, rows, keys)."""
    piece = json.loads(files[f"pictures/{name}.js"].partition("] = ")[2].rstrip(";\n"))
    packed = zlib.decompress(base64.b64decode(piece["deflated"]))
    start = 4 + int.from_bytes(packed[:4], "little")
    header = json.loads(packed[4:start])
    at = next(at for at, entry in enumerate(header["exact"]) if entry["kind"] == "cross")
    count, shape = piece["planes"][at][1], next(kind["shape"] for kind in header["kinds"] if kind["kind"] == "cross")
    start += -start % 4
    planes = np.frombuffer(packed, np.uint8, 4 * count, start + header["exact"][at]["offset"])
    return planes.reshape(4, -1).T.copy().view("<f4").reshape(shape)


@each_case("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_a_lesson_is_small(files: Files, lesson: Lesson) -> None:
    own = [f"{lesson.name}.html", f"{lesson.name}.js"]
    own += [f"pictures/{piece}.js" for piece in shown_pieces(page_data(files, lesson.name))]
    assert sum(len(files[name].encode()) for name in own) < MOST_BYTES


def test_the_folder_has_every_file_that_its_pages_ask_for_and_no_other(files: Files) -> None:
    asked = {"index.html", "lessons.css", "widgets/row_guess.js"}
    for name in [name for name in files if name.endswith(".html")]:
        asked |= set(re.findall(r'(?:src|href)="([^"#]*)"', files[name]))
    for lesson in LESSONS:
        data = page_data(files, lesson.name)
        asked |= {f"pictures/{piece}.js" for piece in shown_pieces(data)}
        asked |= {
            f"widgets/{step['picture']['widget']}.js"
            for step in data["steps"]
            if step["picture"] and step["picture"]["widget"]
        }
    assert set(files) == asked


def test_no_file_of_the_folder_asks_a_network(files: Files) -> None:
    for name, text in files.items():
        assert not re.findall(r"(?:src|href)=\"(?:https?:)?//|@import|\bfetch\(|XMLHttpRequest|url\(http", text), name


def test_images_of_other_sites_are_links_and_a_policy_keeps_pages_from_asking_for_any(files: Files) -> None:
    text = (
        "![a cat](https://cats.example/1.png) ![](//cats.example/2.png) [![in](http://c.example/3)](https://d.example)"
    )
    made = to_html(f"{text} ![own](own.png)")
    assert re.findall(r"<img [^>]*>", made) == ['<img src="own.png" alt="own" />']
    assert re.findall(r'<a href="([^"]*)">([^<]*)</a>', made) == [
        ("https://cats.example/1.png", "a cat"), ("//cats.example/2.png", "//cats.example/2.png"),
        ("https://d.example", "in"),
    ]  # fmt: skip
    pages = [page for name, page in files.items() if name.endswith(".html")]
    assert pages
    for page in pages:
        (policy,) = re.findall(r'http-equiv="Content-Security-Policy"\s+content="([^"]*)"', page)
        assert policy.startswith("default-src 'none'; script-src 'self' file:;")
        assert "http" not in policy


def test_texts_that_look_like_markup_stay_texts() -> None:
    hostile = "</script><script>alert(1)</script>"
    lesson = read(
        f"---\ntitle: {hostile}\nminutes: 1\nfor: '<b>you</b>'\nlanguage: de\n---\n{hostile}\n\n"
        f"## {hostile}\n\n{hostile}\n\n"
        f"```question\nkind: text\nask: {hostile}\nwhy: '[a](javascript:alert(1)) <i>x</i> [map](/heads?src=a)'\n```\n",
        name=hostile,
    )
    files = folder_files([lesson], pictures())
    assert set(files) == {"index.html", "index.js", "lesson.js", "lessons.css", "script-script-alert-1-script.html",
                          "script-script-alert-1-script.js", "widgets/row_guess.js"}  # fmt: skip
    page, data = files["script-script-alert-1-script.html"], page_data(files, "script-script-alert-1-script")
    assert "alert(1)</script>" not in page + files["index.html"]
    assert "<b>" not in files["index.html"]
    assert "<script>" not in data["steps"][0]["text"] + data["about"]
    assert data["steps"][0]["question"]["why"] == "<p>[a](javascript:alert(1)) &lt;i&gt;x&lt;/i&gt; map</p>\n"


def test_a_folder_speaks_the_language_of_its_lesson() -> None:
    lesson = read(f"{HEAD.replace('language: en', 'language: de')}\n## Eins\n\nText.\n", name="eins")
    files = folder_files([lesson], pictures())
    assert page_data(files, "eins")["words"] == words("de")
    assert words("de")["Hint"] == "Hinweis"
    assert '<html lang="de">' in files["eins.html"]
    assert "<h1>Lektionen</h1>" in files["index.html"]
    assert "Alle Lektionen" in files["eins.html"]


def test_each_page_has_a_name_of_its_own_that_every_system_can_have() -> None:
    names = ["Aufgabe 1", "aufgabe-1", "index", "课", "课二", "a/../b", "lesson"]
    made = file_names([read(f"{HEAD}\n## One\n", name=name) for name in names])
    assert made == ["aufgabe-1", "aufgabe-1-2", "index-3", "lesson-4", "lesson-5", "a-b", "lesson-7"]


@each_case(
    ("link", "sentence"),
    [
        ("/heads?src=&to=fr", "odd, step 1: The link has no sentence"),
        ("/heads?src=Hi.&to=fr&layer=7", "odd, step 1: layer='7' cannot be shown"),
        ("/learning?task=french&first=pairs-31&second=none", "odd, step 1: No recording of french-pairs-31 comes"),
        ("/learning?recording=translator", "odd, step 1: There is no recording 'translator.npz'."),
        ("/heads?model=toy:none&src=a", "odd, step 1: There is no task 'none'"),
    ],
)
def test_a_picture_that_cannot_be_shown_is_named_by_its_step(link: str, sentence: str) -> None:
    lesson = read(f"{HEAD}\n## One\n\n[it]({link})\n", name="odd")
    with pytest.raises(ValueError, match=re.escape(sentence)):
        folder_files([lesson], pictures())
