"""Only visitors with the class's password get in."""

import pytest
from itsdangerous import URLSafeTimedSerializer

from attnviz.server.login.door import Door, local_path
from attnviz.server.login.password import PasswordLogin
from attnviz.server.settings import Settings
from attnviz.server.telemetry import Telemetry
from tests.apart import run_apart
from tests.server.asked import Client, Socket, ask, echo

SECRET = "s" * 32
PAGE = {"accept": "text/html"}


@pytest.fixture
def door() -> Door:
    settings = Settings(login="password", class_password="correct horse", teacher_password="battery staple")
    telemetry = Telemetry(is_logging=False)
    return Door(echo, PasswordLogin(settings, SECRET, telemetry), telemetry)


def log_in(password: str, there: str = "/heads"):
    async def work(client: Client):
        answer = await client.post("/login", params={"next": there}, data={"password": password})
        return answer, await client.get("/heads", headers=PAGE)

    return work


@pytest.mark.parametrize(("password", "role"), [("correct horse", "student"), ("battery staple", "teacher")])
def test_a_password_says_who_somebody_is(door, password, role) -> None:
    answer, page = ask(door, log_in(password))
    assert (answer.status_code, answer.headers["Location"]) == (303, "./heads")
    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert page.text == f"/heads {role}"


@pytest.mark.parametrize("password", ["", "Correct horse", "correct horse ", "x" * 5000, "\ud800"[:0] + "é"])
def test_any_other_is_refused_by_a_sentence(door, password) -> None:
    answer, page = ask(door, log_in(password))
    assert answer.status_code in {403, 413}
    assert "role='alert'" in answer.text
    assert (page.status_code, page.headers["Location"]) == (303, "./login?next=%2Fheads")


def test_without_a_teacher_s_password_an_empty_one_makes_nobody_a_teacher() -> None:
    settings, telemetry = Settings(login="password", class_password="correct horse"), Telemetry(is_logging=False)
    answer, _ = ask(Door(echo, PasswordLogin(settings, SECRET, telemetry), telemetry), log_in(""))
    assert answer.status_code == 403


def test_what_was_asked_for_comes_after_the_login(door) -> None:
    async def work(client: Client):
        first = await client.get("/masks?src=I+love+you.&to=fr", headers=PAGE)
        form = await client.get(first.headers["Location"])
        action = form.text.partition("action='")[2].partition("'")[0].replace("&amp;", "&").replace("&#x27;", "'")
        return form, await client.post(action, data={"password": "correct horse"})

    form, answer = ask(door, work)
    assert form.status_code == 200
    assert answer.headers["Location"] == "./masks?src=I+love+you.&to=fr"


@pytest.mark.parametrize(
    "there", ["https://evil.example", "//evil.example", "/\\evil.example", "javascript:x", "/a\nb"]
)
def test_a_login_leads_nowhere_else(there) -> None:
    assert local_path(there) == "/"


@pytest.mark.parametrize("secret", ["another" * 6, SECRET])
def test_a_cookie_of_another_hand_is_none(door, secret) -> None:
    signed = URLSafeTimedSerializer(secret, salt="attnviz_role").dumps("teacher")
    cookie = str(signed) if secret != SECRET else str(signed)[:-2] + "xx"

    async def work(client: Client):
        return await client.get("/heads", headers={"cookie": f"attnviz_role={cookie}"})

    assert ask(door, work).status_code == 401


def test_nobody_makes_themselves_a_teacher_by_a_header(door) -> None:
    async def work(client: Client):
        await client.post("/login", data={"password": "correct horse"})
        return await client.get("/heads", headers={"X-Attnviz-Role": "teacher"})

    assert ask(door, work).text == "/heads student"

    async def ask_for_script(client: Client):
        return await client.get("/static/x.js", headers={"X-Attnviz-Role": "teacher"})

    assert ask(door, ask_for_script).text == "/static/x.js "


def test_a_websocket_without_a_cookie_is_closed(door) -> None:

    async def go():
        socket = Socket(door, "192.0.2.1")
        await socket.task
        return socket.sent

    assert run_apart(go()) == [{"type": "websocket.close", "code": 1008}]


def test_too_many_password_tries_are_delayed(door) -> None:
    async def work(client: Client):
        return [await client.post("/login", data={"password": "guess"}) for _ in range(42)]

    answers = ask(door, work)
    assert [answer.status_code for answer in answers[:40]] == [403] * 40
    assert (answers[-1].status_code, answers[-1].headers["Retry-After"]) == (429, "3")
    assert "Too many tries: wait 3 seconds." in answers[-1].text
