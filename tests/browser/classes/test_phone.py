"""An answer from a phone: a tap counts while the bar is open."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from attnviz.classroom.room import Classroom
from attnviz.classroom.state import TeacherKey
from attnviz.lessons.reading import read
from tests.browser.at_rest import wait_until_settled
from tests.browser.classes.thumb import tap_on
from tests.browser.screens.phone import PHONE
from tests.lessons.front_matter import FRONT_MATTER

LESSON = (
    FRONT_MATTER
    + """## Words

/heads?src=I+love+you&to=fr&kind=cross&layer=1&head=0

```question
kind: choice
ask: How many words?
options: [two, three]
right: 2
```

"""
)


@pytest.fixture
def key(classes: Classroom) -> TeacherKey:
    return classes.teachers.start(read(LESSON))


@pytest.fixture
def phone(visitor: Callable[..., BrowserContext], classes: Classroom, key: TeacherKey) -> Page:
    """Provide Ann's phone, at the class's first step, which is open."""
    page = visitor(**PHONE).new_page()
    page.goto(f"/class?class={key.code}")
    wait_until_settled(page)
    page.get_by_label("Nickname").fill("Ann")
    page.get_by_role("button", name="Join", exact=True).tap()
    expect(page.get_by_text("Waiting for the teacher to open the first step.")).to_be_visible()
    classes.teachers.open(key)
    page.wait_for_url("**/heads*")
    return page


def open_bar(phone: Page) -> None:
    phone.get_by_role("button", name="Bar: I love you → French").tap()
    expect(phone.get_by_label("Source sentence")).to_be_visible()


def test_a_tap_on_answer_counts_while_the_bar_is_open(phone: Page, settle, classes: Classroom, key) -> None:
    phone.locator(".stRadio").get_by_text("two", exact=True).tap()
    settle(phone)
    open_bar(phone)
    tap_on(phone, phone.get_by_role("button", name="Answer", exact=True))
    expect(phone.get_by_text("Your answer is in: two.")).to_be_visible()
    expect(phone.get_by_label("Source sentence")).to_be_hidden()
    phone.locator(".stRadio").get_by_text("three", exact=True).tap()
    expect(phone.get_by_text("Your earlier answer counts until you press “Change answer”.")).to_be_visible()
    open_bar(phone)
    tap_on(phone, phone.get_by_role("button", name="Change answer"))
    expect(phone.get_by_text("Your answer is in: three.")).to_be_visible()
    assert classes.teachers.view(key).summaries["before"].options == (0, 1)
