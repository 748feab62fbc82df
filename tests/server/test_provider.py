"""A login provider that does not answer: one sentence for the visitor, one for the log, and no traceback."""

import logging

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from attnviz.server.headers import Headers
from attnviz.server.login.oidc import ProviderErrors
from attnviz.server.settings import Settings

SETTINGS = Settings(oidc_metadata="https://id.school.example/.well-known/openid-configuration")
STREAMLITS_LOG = "streamlit.web.server.starlette.starlette_auth_routes"


def streamlit_answer(request: Request) -> Response:
    """Streamlit's own answer to a provider that is away, and what it logs."""
    if "code" in request.query_params:
        return RedirectResponse("/")
    try:
        raise ConnectionError("All connection attempts failed\nand more")
    except ConnectionError:
        logging.getLogger(STREAMLITS_LOG).warning("Error during OAuth authorization redirect.", exc_info=True)
    return PlainTextResponse("Authentication error", 400)


def test_a_provider_that_is_away_is_said_in_one_sentence(caplog) -> None:
    said: list[dict] = []
    routes = [Route(path, streamlit_answer) for path in ("/auth/login", "/oauth2callback", "/other")]
    app = ProviderErrors(Starlette(routes=routes), SETTINGS, lambda event, **what: said.append({"event": event} | what))
    with TestClient(app, follow_redirects=False) as client:
        answer = client.get("/auth/login")
        assert answer.status_code == 502
        assert "The login at id.school.example cannot be reached, or refuses this server" in answer.text
        assert "href='../login'" in answer.text
        assert client.get("/oauth2callback?code=1").status_code == 307  # nothing went wrong
        assert client.get("/other").text == "Authentication error"
    assert said[0] == {
        "event": "fault",
        "type": "ConnectionError",
        "sentence": "No login at id.school.example: All connection attempts failed.",
    }
    assert caplog.records == []


def test_behind_tls_every_cookie_is_secure_streamlits_own_too() -> None:
    def answer_with_cookies(_: Request) -> Response:
        answer = PlainTextResponse("")
        answer.set_cookie("_streamlit_xsrf", "1")
        answer.set_cookie("attnviz_role", "2", secure=True)
        return answer

    inner = Starlette(routes=[Route("/", answer_with_cookies)])
    for address, is_secure in (("https://attn.example", True), ("", False)):
        with TestClient(Headers(inner, Settings(public_address=address), ())) as client:
            first, second = client.get("/").headers.get_list("set-cookie")
        assert (first.lower().count("; secure"), second.lower().count("; secure")) == (int(is_secure), 1)
