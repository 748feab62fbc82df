"""`attnviz.open`: the dashboard on a model in memory, in a process of its own, for Streamlit starts once in each."""

import subprocess
import sys

from tests.browser.server import ROOT

OPENED = """
import attnviz
from tests.websocket.visitor import Visitor
from urllib.parse import parse_qs, urlsplit
from attnviz.models.translator.tiny import tiny_translator
import urllib.request, urllib.error, socket
from websockets.exceptions import InvalidStatus

def see(session, to):
    parts = urlsplit(session.address)
    query = {name: values[0] for name, values in parse_qs(parts.query).items()}
    cookie = {"Cookie": f"attnviz_{parts.port}={query.pop('token')}"}
    with Visitor(f"{parts.scheme}://{parts.netloc}", headers=cookie) as visitor:
        shown = visitor.open("heads", {**query, "to": to})
    assert shown.exceptions == [], shown.exceptions
    assert "heads" in shown.widgets, (shown.alerts, list(shown.widgets))
    return shown

first = attnviz.open(tiny_translator(seed=1), text="I love you.")
assert first.address.startswith("http://127.0.0.1:")
see(first, "zh")
with attnviz.open(tiny_translator(seed=2), text="A big red dog") as second:
    assert second.address != first.address
    see(second, "fr")
    see(first, "fr")
try:
    Visitor(first.address).__enter__()
except InvalidStatus as refused:
    print("refused", refused.response.status_code)
try:
    urllib.request.urlopen(second.address, timeout=2)
except urllib.error.URLError:
    print("closed")
taken = socket.socket()
taken.bind(("127.0.0.1", 0))
taken.listen()
try:
    attnviz.open(tiny_translator(seed=1), port=taken.getsockname()[1])
except ValueError as error:
    print(error)
first.close()
first.close()
again = attnviz.open(tiny_translator(seed=3), text="Hello")
see(again, "fr")
print("done")
"""


def test_models_in_memory_are_opened_closed_and_opened_again() -> None:
    ran = subprocess.run(
        (sys.executable, "-c", OPENED), cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    assert ran.returncode == 0, ran.stderr
    *addresses, refused, closed, taken, last, done = ran.stdout.splitlines()
    assert (refused, closed, done) == ("refused 403", "closed", "done"), "a websocket without the token is refused"
    assert "cannot be listened on" in taken
    assert all(line.startswith("attnviz: http://127.0.0.1:") for line in (*addresses, last))
