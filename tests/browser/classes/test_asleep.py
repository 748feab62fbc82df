"""A phone that slept, or lost its connection, is the same student and where the class is."""

from collections.abc import Callable

from playwright.sync_api import BrowserContext, Page, expect

from attnviz.classroom.room import Classroom
from tests.browser.at_rest import wait_until_settled
from tests.classroom.lesson import choices


def sleep(page: Page, state: str) -> None:
    """Freeze a phone: its scripts stand still from "frozen" until "active"."""
    page.context.new_cdp_session(page).send("Page.setWebLifecycleState", {"state": state})


def test_a_phone_that_slept_is_where_the_class_is(classes: Classroom, visitor: Callable[..., BrowserContext]) -> None:
    key = classes.teachers.start(choices(3))
    phone = visitor(viewport={"width": 390, "height": 844}, has_touch=True).new_page()
    phone.goto(f"/class?class={key.code}")
    wait_until_settled(phone)
    phone.get_by_label("Nickname").fill("Ann")
    phone.get_by_role("button", name="Join", exact=True).click()
    expect(phone.get_by_text("Waiting for the teacher to open the first step.")).to_be_visible()
    sleep(phone, "frozen")
    classes.teachers.open(key)
    classes.teachers.go(key, 1)
    classes.teachers.open(key)
    sleep(phone, "active")
    expect(phone.get_by_text("The text of step 2.")).to_be_visible()
    phone.locator(".stRadio").get_by_text("green", exact=True).click()
    phone.goto("about:blank")  # the connection ends, and with it the session
    phone.go_back()
    expect(phone.get_by_text("The text of step 2.")).to_be_visible()
    phone.locator(".stRadio").get_by_text("blue", exact=True).click()
    phone.get_by_role("button", name="Answer", exact=True).click()
    expect(phone.get_by_text("Your answer is in: blue.")).to_be_visible()
    assert [one.nickname for one in classes.teachers.view(key).members] == ["Ann"]
    assert classes.teachers.view(key).summaries["before"].options == (0, 0, 1)
