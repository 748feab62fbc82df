"""A class in a browser: a teacher and two students, each in a context of their own, through a guided class."""

import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.at_rest import wait_until_settled

ANSWERS = {"ann": "gros", "Bo<b>": "chien"}


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def join(student: Page, code: str, nickname: str) -> None:
    student.get_by_label("Code").fill(code)
    student.get_by_label("Nickname").fill(nickname)
    press(student, "Join")


def answer(student: Page, option: str) -> None:
    student.locator(".st-key-lesson-panel").get_by_text(option, exact=True).click()
    press(student, "Answer")
    expect(student.get_by_text(f"Your answer is in: {option}.")).to_be_visible()


def test_a_guided_class(visitor: Callable[..., BrowserContext]) -> None:
    teacher = visitor().new_page()
    begin(teacher)
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
    students = {name: visitor(**(phone if name == "ann" else {})).new_page() for name in ANSWERS}
    everybody_joins(teacher, students)
    first_round(teacher, students)
    another_tab_is_the_same_student(students["ann"])
    reveal(teacher, students["ann"])
    onward_and_away(teacher, students)


def begin(teacher: Page) -> None:
    teacher.goto("/lessons")
    teacher.locator(".st-key-class-3-why-red-dog-turns-round").get_by_role("button").click()
    expect(teacher.locator(".class-invitation strong")).to_be_visible()


def everybody_joins(teacher: Page, students: dict[str, Page]) -> None:
    code = teacher.locator(".class-invitation strong").inner_text()
    for name, student in students.items():
        student.goto("/class")
        wait_until_settled(student)
        if name != "ann":
            join(student, code, "ANN")
            expect(student.get_by_text("choose another nickname")).to_be_visible()
        join(student, f" {code.lower()} ", name)
        expect(student.get_by_text("Waiting for the teacher to open the first step.")).to_be_visible()
    expect(teacher.get_by_role("heading", name="2 here, 2 in all")).to_be_visible()
    expect(teacher.locator(".class-members bdi").nth(1)).to_have_text("Student 2")
    teacher.get_by_text("Show nicknames on this screen").click()
    expect(teacher.locator(".class-members bdi").nth(1)).to_have_text("Bo<b>")


def first_round(teacher: Page, students: dict[str, Page]) -> None:
    press(teacher, "Open")
    for name, student in students.items():
        student.wait_for_url(re.compile("/heads"))
        expect(student.get_by_text("Covered until the teacher reveals the answer.")).to_be_visible()
        answer(student, ANSWERS[name])
    expect(teacher.get_by_text("2 of 2 have answered")).to_be_visible()
    expect(teacher.locator(".class-shares")).to_have_count(0)


def another_tab_is_the_same_student(ann: Page) -> None:
    again = ann.context.new_page()
    again.goto(ann.url)
    expect(again.get_by_text("Your answer is in: gros.")).to_be_visible()
    again.close()


def reveal(teacher: Page, ann: Page) -> None:
    press(teacher, "Reveal")
    expect(teacher.locator(".class-shares")).to_contain_text("1 of 2 right (50%)")
    expect(ann.get_by_text("Right. You said “gros”.")).to_be_visible()
    expect(ann.locator("[data-attnviz-painted]")).to_be_attached()
    assert ann.evaluate("document.documentElement.scrollWidth") <= 390


def onward_and_away(teacher: Page, students: dict[str, Page]) -> None:
    with teacher.expect_download() as saved:
        press(teacher, "Answers (CSV)")
    lines = Path(saved.value.path()).read_text(encoding="utf-8-sig").splitlines()
    assert len(lines) == 1 + 2, "a line for each answer"
    press(teacher, "Next")
    expect(teacher.get_by_text("Where does it look when it writes “chien”?")).to_be_visible()
    expect(students["Bo<b>"].get_by_text("Waiting for the teacher to open step 2.")).to_be_visible()
    press(teacher, "Open")
    asked = students["Bo<b>"].get_by_role("strong").get_by_text("Where does it look when it writes “chien”?")
    expect(asked).to_be_visible()
    teacher.get_by_role("button", name="Delete").click()
    press(teacher, "Delete everything now")
    expect(teacher.get_by_text("The class has been deleted")).to_be_visible()
    expect(students["ann"].get_by_text("This class is over and deleted")).to_be_visible()


def test_the_teachers_link_opens_the_class_and_leaves_the_address(visitor: Callable[..., BrowserContext]) -> None:
    teacher = visitor().new_page()
    begin(teacher)
    press(teacher, "Your link")
    link = teacher.get_by_test_id("stCode").inner_text().strip()
    secret = link.partition("#teach=")[2]
    assert len(secret) >= 32
    assert secret not in teacher.url
    asked: list[str] = []
    elsewhere = visitor().new_page()
    elsewhere.on("request", lambda request: asked.extend([request.url, str(request.headers)]))
    elsewhere.goto(link)
    expect(elsewhere.get_by_role("heading", name="0 here, 0 in all")).to_be_visible()
    assert secret not in elsewhere.url
    assert not [text for text in asked if secret in text]
    elsewhere.reload()
    expect(elsewhere.get_by_role("heading", name="0 here, 0 in all")).to_be_visible()
