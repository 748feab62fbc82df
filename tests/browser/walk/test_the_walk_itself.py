"""The walk notices faults, finds every control, and can be walked again."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext

from tests.browser import server
from tests.browser.walk import sentences
from tests.browser.walk.acts import Act, kin, presses
from tests.browser.walk.pictures import differences
from tests.browser.walk.report import Report
from tests.browser.walk.routes import Alone
from tests.browser.walk.visitor import Visitor, together

FAULTY = Path(__file__).with_name("faulty.py")


def test_a_page_with_faults_is_seen_through(visitor: Callable[..., BrowserContext], tmp_path: Path) -> None:
    log = tmp_path / "dashboard.log"
    report = Report(tmp_path, log, seed=0)
    with server.dashboard(log, {"STREAMLIT_LOGGER_ENABLE_RICH": "false"}, script=str(FAULTY)) as address:
        one = Visitor(0, visitor(base_url=address), report, {})
        together({one: one.walk(Alone(one, ("/",), ("/",), ("typed",), most=1, compared=4, each=False))})
        one.page.context.close()
    said = "\n".join(failure.what for failure in report.failures.values())
    assert "an exception on the page" in said
    assert "RuntimeError: on purpose" in said
    assert "a warning on purpose" in said
    assert "console: said on purpose" in said
    guilty = "pick  › combobox “Forgotten” 'two', and after reload: controls differ"
    assert guilty in said, "of all acts before a reload, the one that it does not bring back is named"
    assert "“Forgotten” 0: 'two' → 'one'" in said
    assert "“CSV of nothing” saved no file" in said
    assert "Kept" not in said
    assert "ATTNVIZ_WALK_SCRIPT" in str(report)
    assert report.script.read_text(encoding="utf-8").count("\n") == len(report.acts)


@pytest.mark.parametrize(
    "act",
    [
        Act("open", value="/heads?src=a"),
        Act("back"),
        Act("drag", (("place", "lab"), ("role", "img"), ("name", "“map”"), ("nth", 0)), ((0.1, 0.2), (0.3, 0.4))),
        Act("pick", (("place", ""), ("role", "combobox"), ("name", "To"), ("nth", 1)), "中文"),
    ],
)
def test_a_script_says_the_same_act_again(act: Act) -> None:
    assert Act.from_json(act.to_json()) == act


def test_keys_are_read_as_a_help_writes_them() -> None:
    def keys(*said: str) -> list[str]:
        return [act.value for act in presses("heads", list(said))]

    assert keys("← ↑", "Shift ↑ ↓", "j k") == [
        "ArrowLeft",
        "ArrowUp",
        "Shift+ArrowUp",
        "Shift+ArrowDown",
        "j",
        "k",
        "?",
    ]
    assert keys("Shift + arrows") == [f"Shift+Arrow{way}" for way in ("Left", "Up", "Down", "Right")] + ["?"]
    assert keys("+ −", "0", "drag", "double click", "Esc", "space") == ["+", "-", "0", "Escape", "Space", "?"]


def test_heads_that_differ_in_numbers_only_are_kin() -> None:
    first, second, other = (
        {"place": "heads", "role": "gridcell", "name": name}
        for name in ("L0 H1, entropy 0.5", "L2 H7, entropy 1.5", "mean of all heads")
    )
    assert kin(first) == kin(second) != kin(other)


def test_pictures_that_differ_say_where() -> None:
    picture = {
        "path": "/a",
        "title": "t",
        "fields": {"x": "1"},
        "lines": ["a", "b"],
        "views": [],
        "plots": [],
        "drawn": [],
    }
    assert differences(picture, picture) == []
    assert differences(picture, picture | {"fields": {"x": None}}) == [], "what is refused counts for nothing"
    assert differences(picture, picture | {"fields": {"x": "2"}}) == ["controls differ: x: '1' → '2'"]
    assert differences(picture, picture | {"lines": ["a", "c"]}) == ["lines differ: ['b'] → ['c']"]
    drawn = [picture | {"drawn": [["9×9", number]]} for number in (1, 2)]
    assert differences(*drawn) == ["1 of 1 canvases show other pixels"]


def test_a_picture_of_another_sentence_is_noticed() -> None:
    typed = {"Source sentence": "My walnut is red.", "To": "French", "Target": "", "Model": _title()}
    right = sentences.run_sentence(_name(), "My walnut is red.", "fr", "", 0)
    assert right is not None
    query = f"model={_name()}&src=My+walnut+is+red.&to=fr&tgt={right.text}&row=3"
    in_view = dict.fromkeys(sentences.IN_VIEW) | {"row": 3, "pins": []}
    n_src, n_tgt = right.counts
    look = {
        "refused": [], "isWithoutLink": False, "typed": typed, "others": ["My walnut is red.", ""], "text": "",
        "status": f"{n_src} tokens in · {n_tgt} out weights {right.weights}",
        "views": [in_view], "data": list(right.src), "link": f"http://a/heads?{query}", "address": "http://a/heads?src=My+walnut+is+red.",
    }  # fmt: skip
    assert sentences.problems(look) == []
    wrong = {
        "text": "The zebra", "data": ["The", "cat"], "status": "3 tokens", "link": "",
        "address": "http://a/heads?src=Another.", "views": [in_view | {"row": 4}],
    }  # fmt: skip
    for name, value in wrong.items():
        assert sentences.problems(look | {name: value}), name


def test_a_guess_is_the_addresss_and_no_links() -> None:
    view = {"moment": 3, "site": "", "guess": "none"}
    look = {
        "refused": [], "isWithoutLink": False, "views": [view], "link": "http://a/learning?moment=3&site=",
        "address": "http://a/learning?moment=3&guess=none",
    }  # fmt: skip
    assert sentences.problems(look) == []
    for name, value in {"views": [view | {"guess": "both"}], "link": look["link"] + "&guess=none"}.items():
        assert sentences.problems(look | {name: value}), name


def _name() -> str:
    return sentences.entries()[0].name


def _title() -> str:
    return sentences.entries()[0].title
