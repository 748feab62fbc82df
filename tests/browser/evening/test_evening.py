"""A class as a teacher holds it: three phones and a projector, and a server that is killed in the middle."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.classes.thumb import marked_cells, tap_cell
from tests.browser.evening.evening import PASSWORD, Evening, press, tap
from tests.browser.evening.restartable import Restartable

EARLY, LATE = ("Zebulon", "Quirin"), "Ottilie"
RED, DOG = (2, 1), (2, 2)  # cells of the row that writes “rouge”
TEXTS = {"Zebulon": "Quokkas do so.", "Quirin": "French has it that way.", "Ottilie": "Narwhals know."}
CHART = ".js-plotly-plot .main-svg"
LOST = "[data-testid='stApp']:not([data-test-connection-state='CONNECTED'])"


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Restartable]:
    """Start a server by the recipe of docs/how-to/hosting.md: a password for the class, no secret for the cookie."""
    lesson = Path(__file__).with_name("evening.md").read_text(encoding="utf-8")
    server = Restartable(tmp_path, lesson, {"ATTNVIZ_LOGIN": "password", "ATTNVIZ_CLASS_PASSWORD": PASSWORD})
    yield server
    server.close()


@pytest.fixture
def address(running: Restartable) -> str:
    """Return the address that the visitors open."""
    return running.address


def test_an_evening(visitor: Callable[..., BrowserContext], running: Restartable) -> None:
    evening = Evening(visitor)
    evening.begin()
    for name in EARLY:
        evening.join(name)
        expect(evening.phones[name].get_by_text("Waiting for the teacher to open the first step.")).to_be_visible()
    a_number_and_a_slip_of_the_thumb(evening)
    the_server_is_killed(evening, running)
    a_late_student(evening)
    a_cell_and_a_reload(evening)
    ask_again(evening)
    texts(evening)
    the_end(evening)


def a_number_and_a_slip_of_the_thumb(evening: Evening) -> None:
    press(evening.teacher, "Open")
    for name, number in (("Zebulon", "1"), ("Quirin", "10")):
        say_number(evening.phones[name], number, "Answer")
    expect(evening.projector.get_by_text("2 of 2 have answered")).to_be_visible()
    say_number(evening.phones["Quirin"], "1", "Change answer")
    expect(evening.projector.get_by_text("2 of 2 have answered")).to_be_visible()


def say_number(phone: Page, number: str, button: str) -> None:
    phone.wait_for_url("**/heads*")
    phone.get_by_label("Your number").fill(number)
    tap(phone, button)
    expect(phone.get_by_text(f"Your answer is in: {number}.")).to_be_visible()


def the_server_is_killed(evening: Evening, running: Restartable) -> None:
    """Kill the server and start it with the same command: every screen returns to its place, without a login."""
    places = [page.url for page in evening.everybody()]
    running.kill()
    for page in evening.everybody():
        expect(page.get_by_role("dialog")).to_contain_text("This page comes back by itself")
    running.start()
    for page in evening.everybody():
        page.locator(LOST).wait_for(state="detached")
    assert [page.url for page in evening.everybody()] == places
    for phone in evening.phones.values():
        expect(phone.get_by_text("Your answer is in: 1.")).to_be_visible()
    for page in (evening.teacher, evening.projector):
        expect(page.get_by_text("2 of 2 have answered")).to_be_visible()


def a_late_student(evening: Evening) -> None:
    """Let a student join at the open question and change a mistaken answer: it counts once, as the new one."""
    evening.join(LATE)
    say_number(evening.phones[LATE], "0.5", "Answer")
    expect(evening.projector.get_by_text("3 of 3 have answered")).to_be_visible()
    press(evening.teacher, "Reveal")
    expect(evening.projector.locator(".class-shares")).to_contain_text("2 of 3 right (67%)")
    require_told(evening.projector, "Right: 1", "Softmax divides each by their sum.")
    expect(evening.phones[LATE].get_by_text("Softmax divides each by their sum.")).to_be_visible()


def require_told(projector: Page, right: str, why: str) -> None:
    """Require the picture, the right answer and its reason on one screen."""
    for part in (projector.locator(CHART).first, projector.get_by_text(right), projector.get_by_text(why)):
        expect(part).to_be_in_viewport(ratio=1)


def a_cell_and_a_reload(evening: Evening) -> None:
    press(evening.teacher, "Next")
    press(evening.teacher, "Open")
    for name, cell in (("Zebulon", DOG), ("Quirin", DOG), (LATE, RED)):
        say_cell(evening.phones[name], cell)
    expect(evening.projector.get_by_text("3 of 3 have answered")).to_be_visible()
    zebulon = evening.phones["Zebulon"]
    zebulon.reload()
    expect(zebulon.get_by_text("Your answer is in: chien → rouge × dog.")).to_be_visible()
    expect(zebulon.locator("[data-attnviz-painted]")).to_be_attached()
    assert marked_cells(zebulon) == [list(DOG)]


def say_cell(phone: Page, cell: tuple[int, int]) -> None:
    expect(phone.locator(".lesson-line")).to_contain_text("which English token has most weight?")
    expect(phone.locator("[data-attnviz-painted]")).to_be_attached()
    tap_cell(phone, *cell)
    tap(phone, "Answer")
    expect(phone.get_by_text(re.compile("Your answer is in: "))).to_be_visible()


def ask_again(evening: Evening) -> None:
    """Ask again: a student on another tab is brought back."""
    quirin = evening.phones["Quirin"]
    quirin.get_by_role("radiogroup", name="View").get_by_text("Alignment", exact=True).tap()
    quirin.wait_for_url(re.compile("tab=alignment"))
    press(evening.teacher, "Ask again")
    expect(quirin).not_to_have_url(re.compile("tab=alignment"))
    for phone in evening.phones.values():
        expect(phone.get_by_text("Second round")).to_be_visible()
        say_cell(phone, RED)
    expect(evening.projector.get_by_text("3 of 3 have answered · second round")).to_be_visible()
    press(evening.teacher, "Reveal")
    shares = evening.projector.locator(".class-shares")
    expect(shares).to_contain_text(re.compile(r"First round\s*1 of 3 right \(33%\)"))
    expect(shares).to_contain_text(re.compile(r"Second round\s*3 of 3 right \(100%\)"))
    expect(shares).to_contain_text("of the 3 who answered both: 1 → 3 right")
    require_told(evening.projector, "Right: chien → rouge × red", "This head looks at what has to come out.")


def texts(evening: Evening) -> None:
    """Pick one of three texts: the others are sent to their authors only."""
    press(evening.teacher, "Next")
    press(evening.teacher, "Open")
    for name, phone in evening.phones.items():
        phone.get_by_label("In your own words").fill(TEXTS[name])
        tap(phone, "Answer")
        expect(phone.get_by_text(f"Your answer is in: {TEXTS[name]}")).to_be_visible()
    press(evening.teacher, "Reveal")
    press(evening.teacher, "Pick texts to show (0 of 3 shown)")
    evening.teacher.get_by_role("dialog").get_by_text(TEXTS["Quirin"]).click()
    expect(evening.projector.get_by_text(TEXTS["Quirin"])).to_be_visible()


def the_end(evening: Evening) -> None:
    """Require that no name and no unpicked text was sent to the projector, and none to another student's phone."""
    evening.teacher.keyboard.press("Escape")
    press(evening.teacher, "End the class")
    press(evening.teacher, "End it")
    expect(evening.projector.get_by_text("This class has ended.")).to_be_visible()
    for name, phone in evening.phones.items():
        expect(phone.get_by_text("The class has ended.")).to_be_visible()
        others = [other for other in evening.phones if other != name]
        evening.require_nobody_was_sent(phone, *others, *(TEXTS[other] for other in others if other != "Quirin"))
    evening.require_nobody_was_sent(evening.projector, *evening.phones, TEXTS["Zebulon"], TEXTS[LATE])
