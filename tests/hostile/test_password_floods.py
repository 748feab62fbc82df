"""The login of a real server under guesses and malformed forms: a visitor with the password gets in."""

import http.client
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from urllib.parse import urlsplit

import pytest

from tests.browser.served.process import start_server
from tests.hostile import raw
from tests.hostile.watched import LINUX_ONLY

pytestmark = LINUX_ONLY
FORM = "application/x-www-form-urlencoded"
RIGHT = "password=correct+horse"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    log = tmp_path_factory.mktemp("password") / "log"
    with start_server(log, {"ATTNVIZ_LOGIN": "password", "ATTNVIZ_CLASS_PASSWORD": "correct horse"}) as (address, _):
        yield address
    assert "Traceback" not in log.read_text(encoding="utf-8")


def request_login(address: str, content: str | bytes, source: str = "127.0.0.1", **headers: str) -> tuple[int, str]:
    """Send a form, or ask for it where it has no content: the answer's status, and the sentence in it."""
    place = urlsplit(address)
    with closing(http.client.HTTPConnection(place.netloc, timeout=60, source_address=(source, 0))) as connection:
        given = {"Content-Type": FORM} | {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request("POST" if content else "GET", "/login", content or None, given)
        answer = connection.getresponse()
        return answer.status, answer.getheader("Set-Cookie") or answer.read().decode()


def test_half_forms_keep_nobody_from_logging_in(address: str) -> None:
    head = f"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {FORM}\r\nContent-Length: 900\r\n\r\npass"
    with ExitStack() as stack:
        slow = [stack.enter_context(raw.connect(address)) for _ in range(6)]
        for connection in slow:
            connection.sendall(head.encode())
        started = time.monotonic()
        status, cookie = request_login(address, RIGHT)
        assert status == 303
        assert "attnviz_role=" in cookie
        assert time.monotonic() - started < 50
        slow[0].settimeout(60)
        assert b" 408 " in slow[0].recv(4096)


ODD = {
    "without a boundary": ("multipart/form-data", b"--x\r\n\r\n--x--"),
    "in parts": ("multipart/form-data; boundary=x", b'--x\r\nContent-Disposition: form-data; name="password"\r\n\r\na'),
    "of no kind": ("", b"password=guess"),
    "in half characters": (FORM, b"password=%ED%A0%80\xff"),
    "of many fields": (FORM, b"a=1&" * 1_000),
}


@pytest.mark.parametrize("kind", ODD)
def test_an_odd_form_is_refused_in_a_sentence(address: str, kind: str) -> None:
    content_type, content = ODD[kind]
    status, page = request_login(address, content, "127.0.0.3", Content_Type=content_type)
    assert status == 403
    assert "That is not the password." in page


@pytest.mark.parametrize(
    "lengths", ["Content-Length: 14\r\nContent-Length: 15", "Content-Length: 14, 14", "Content-Length: +14"]
)
def test_a_form_of_two_lengths_is_no_fault(address: str, lengths: str) -> None:
    head = f"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {FORM}\r\n{lengths}\r\n\r\npassword=guess"
    with raw.connect(address, "127.0.0.4") as connection:
        connection.sendall(head.encode())
        assert connection.recv(4096).split(b" ")[1] in (b"400", b"403")


def test_a_form_in_pieces_of_no_length_is_read_up_to_its_bound(address: str) -> None:
    head = f"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {FORM}\r\nTransfer-Encoding: chunked\r\n\r\n"
    with raw.connect(address, "127.0.0.4") as connection:
        connection.sendall(head.encode() + b"1000\r\n" + b"a" * 4096 + b"\r\n10\r\n" + b"a" * 16 + b"\r\n")
        assert b" 413 " in connection.recv(4096)


def test_wrong_passwords_of_one_address_keep_out_nobody_who_knows_it(address: str) -> None:
    _, cookie = request_login(address, "", raw.HOSTILE)
    browser = cookie.partition(";")[0]
    statuses = [request_login(address, "password=guess", raw.HOSTILE)[0] for _ in range(45)]
    assert statuses[0] == 403
    assert statuses[-1] == 429
    assert request_login(address, RIGHT, raw.HOSTILE)[0] == 429, (
        "nobody guesses on from a browser that has not seen the form"
    )
    assert request_login(address, "password=guess", raw.HOSTILE, Cookie=browser)[0] == 403
    assert request_login(address, RIGHT, raw.HOSTILE, Cookie=browser)[0] == 303
    guesses = [request_login(address, "password=guess", raw.HOSTILE, Cookie=browser)[0] for _ in range(4)]
    assert guesses[-1] == 429, "a browser has three tries of its own"
