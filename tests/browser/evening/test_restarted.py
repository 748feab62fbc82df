"""A server that goes away under open pages: what they say meanwhile, and how they come back, by a login or without."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.evening.restartable import Restartable

AWAY = "The server is starting again. This page comes back by itself."
LOST = "[data-testid='stApp']:not([data-test-connection-state='CONNECTED'])"
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
LESSON = """---
title: In own words
minutes: 1
for: a test
language: en
---

## One

```question
kind: text
ask: What did you see?
```
"""


@pytest.fixture
def tolerated_errors() -> tuple[str, ...]:
    """Tolerate what Streamlit's front end raises where the server is killed between two messages of one run."""
    return ("setIn cannot be called on an ElementNode",)


def login(page: Page, password: str) -> None:
    page.locator("input[name=password]").fill(password)
    page.get_by_role("button").click()


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def start_class(visitor: Callable[..., BrowserContext], address: str, password: str) -> tuple[Page, Page]:
    """Start a class: a teacher, and a student on a phone before the first question."""
    teacher = visitor(base_url=address).new_page()
    student = visitor(base_url=address, **PHONE).new_page()
    teacher.goto("/lessons")
    login(teacher, password)
    teacher.locator(".st-key-class-0").get_by_role("button").click()
    code = teacher.locator(".class-invitation strong").inner_text()
    student.goto("/class")
    login(student, password)
    student.get_by_label("Code").fill(code)
    student.get_by_label("Nickname").fill("ann")
    press(student, "Join")
    press(teacher, "Open")
    student.get_by_label("In your own words").fill("Half a sen")
    return teacher, student


def text_is_back(student: Page) -> None:
    """Check that the field, drawn anew, has its text again: the focus shows that it has been given back."""
    expect(student.get_by_label("In your own words")).to_be_focused()
    expect(student.get_by_label("In your own words")).to_have_value("Half a sen")


def test_under_a_killed_server_nothing_typed_is_lost_and_a_login_that_no_longer_counts_leads_back(
    visitor, tmp_path
) -> None:
    running = Restartable(tmp_path, LESSON, {"ATTNVIZ_LOGIN": "password", "ATTNVIZ_CLASS_PASSWORD": "correct horse"})
    try:
        teacher, student = start_class(visitor, running.address, "correct horse")
        there = student.url
        running.kill()
        for page in (teacher, student):
            expect(page.get_by_role("dialog", name="No connection")).to_contain_text(AWAY)
            expect(page.get_by_text("Streamlit")).to_be_hidden()
        student.context.set_offline(True)
        expect(student.get_by_text("This device has no network. This page comes back by itself.")).to_be_visible()
        student.context.set_offline(False)
        running.start()
        for page in (teacher, student):
            expect(page.get_by_text(AWAY)).to_have_count(0)
            page.locator(LOST).wait_for(state="detached")
        assert student.url == there
        text_is_back(student)

        running.kill()
        student.locator(LOST).wait_for(state="attached")
        running.start(ATTNVIZ_COOKIE_SECRET="s" * 40, ATTNVIZ_CLASS_PASSWORD="another horse")
        student.wait_for_url("**/login?next=**")
        login(student, "another horse")
        student.wait_for_url(there)
        text_is_back(student)
        press(student, "Answer")
        expect(student.get_by_text(re.compile("Your answer is in"))).to_be_visible()
    finally:
        running.close()
