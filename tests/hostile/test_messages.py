"""Messages that no browser would send, to a real server: a sentence or nothing, but no fault and no harm to other
visitors.
"""

import json
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg

from tests.browser import server
from tests.websocket.visitor import Visitor

SENTENCE = {"src": "I love you."}
PAGES = {
    "": {}, "heads": {}, "heads: links": {"tab": "links"}, "heads: model": {"tab": "model"},
    "heads: neuron": {"tab": "neuron"}, "heads: alignment": {"tab": "alignment"}, "heads: flow": {"tab": "flow"},
    "heads: spans": {"tab": "spans", "spans": "a=1-2"},
    "masks": {"masks": "random~window", "fill": "number"},
    "decoding": {"choose": "sampled", "more": "experiment"}, "anatomy": {}, "anatomy: skip": {"tab": "skip"},
    "implementations": {}, "implementations: bugs": {"tab": "bugs"}, "learning": {"train": "1"},
    "class": {"class": "BCDFGHJK"},
}  # fmt: skip
OWN_BAR = {"learning": {"task-shown"}, "class": {"class-code"}}
WRONG = {
    "kind": 5, "layer": {}, "head": [], "row": "x", "pins": 5, "zoom": 5, "seq": "x", "heads": 5, "token": {},
    "key": {},    "order": 1, "step": {}, "at": "x", "paint": 5, "open": 1, "mini": {}, "scale": {}, "rows": [],
    "way": 5, "drawn": {}, "null": "x", "gold": [], "by": 5, "residual": "x", "flow": {},
    "spans": 5, "answer": {}, "shares": [], "hidden": 5, "focus": "x", "per_token": [],
}  # fmt: skip
FAR = {
    "kind": "cross", "layer": -1, "head": 10**30, "row": -5, "pins": [[1], [2, 3, 4, 5]], "zoom": [1, 2], "seq": -1,
    "heads": [[1]], "token": "q99999", "key": -7, "order": "x", "step": -1, "at": -1, "paint": "\ud800", "open": True,
    "mini": "x", "scale": "x", "rows": "x", "bake": 1,
    "way": "head.99.99.in", "drawn": "x", "null": 7, "gold": -1, "by": "x", "residual": 10**9, "flow": 2,
    "spans": "a=1-99999;\ud800", "answer": "9-5", "shares": "x", "hidden": "x", "focus": -1, "per_token": 7,
}  # fmt: skip
SAID = [json.dumps(dict.fromkeys(("view", "edit", "chosen"), said)) for said in ("x", {}, WRONG, FAR)]
STATES = [
    {"bool_value": True}, {"double_value": float("nan")}, {"int_value": -(2**62)}, {"string_value": "another"},
    {"string_value": "\0\u202e"}, {"double_array_value": [float("nan")] * 3}, {"int_array_value": [2**62]},
    {"string_array_value": ["x", "y"]}, {"string_trigger_value": "x"}, {"bytes_value": b"\xff"},
    {"json_value": "[" * 20_000}, {"json_value": "9" * 5_000}, {"json_value": '{"view": NaN, "edit": Infinity}'},
    {"json_trigger_value": '[{"event": "view", "value": 5}]'},
]  # fmt: skip
TURNS = 4  # in which the widgets of a page get states in turn: each another one, and on the next page others


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hostile") / "dashboard.log"


@pytest.fixture(scope="module")
def address(log: Path) -> Iterator[str]:
    """Provide a dashboard that offers the shipped model only."""
    environment = {"ATTNVIZ_MODELS": "", "ATTNVIZ_DATABASE": str(log.with_name("classes.sqlite"))}
    with server.dashboard(log, environment | {"OMP_WAIT_POLICY": "passive"}) as address:
        yield address


@pytest.mark.parametrize("page", PAGES)
def test_a_state_of_any_kind_for_every_widget_leaves_no_fault(address, log, page) -> None:
    name, query = page.partition(":")[0], SENTENCE | PAGES[page]
    turns = [cycle([{"json_value": said}]) for said in SAID]
    turns += [islice(cycle(STATES), turn * TURNS + list(PAGES).index(page), None) for turn in range(TURNS)]
    with Visitor(address) as visitor:
        before = set(visitor.open(name, query).widgets)
        for values in turns:
            states = [visitor.state(key, **value) for key, value in zip(visitor.shown.widgets, values, strict=False)]
            assert not visitor.send(*states).exceptions, states
            assert not visitor.shown.has_dialog, states
        after = visitor.open(name, query)
        assert not after.exceptions
        assert before & set(after.widgets) >= OWN_BAR.get(page, {"src-shown", "model-shown"})
    assert "Traceback (most recent call last)" not in log.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["another", "/etc", "/no/such/folder", "gpt2"])
def test_an_instance_that_offers_nothing_opens_nothing(address, name) -> None:
    with Visitor(address) as visitor:
        visitor.open("heads", SENTENCE)
        shown = visitor.send(visitor.state("model-shown", string_value=name))
        assert not shown.has_dialog
        assert not shown.exceptions
        said = {alert.replace(f"“{name}”", "“…”") for alert in shown.alerts}
        assert said <= {"The link asks for the model “…”, which this server does not offer. Another model is shown."}
        assert (
            shown.widgets["model-shown"][1].options == visitor.open("heads", SENTENCE).widgets["model-shown"][1].options
        )


def test_a_message_that_is_too_large_ends_the_connection_alone(address) -> None:
    from websockets.exceptions import ConnectionClosed

    with Visitor(address) as visitor:
        visitor.open("", SENTENCE)
        with pytest.raises(ConnectionClosed):
            visitor.send(visitor.state("src-shown", string_value="a" * 5_000_000))
    with Visitor(address) as other:
        assert not other.open("", SENTENCE).exceptions


def test_nobody_empties_what_is_kept_for_all(address) -> None:
    with Visitor(address) as visitor, Visitor(address) as other:
        other.open("heads", SENTENCE)
        visitor.open("heads", SENTENCE)
        visitor.tell_raw(BackMsg(clear_cache=True).SerializeToString())
        assert not visitor.send().exceptions
        assert not other.send().exceptions


# On the page that reads most of it.
LINKS = {
    "nearly a megabyte": "src=I+love+you.&pins=" + "a" * 900_000,
    "nearly a megabyte of pins": "src=I+love+you.&pins=" + "cross.0.0~" * 90_000,
    "a model of a thousand folders": "src=I+love+you.&model=" + "a/" * 100_000 + "x",
    "thousands of parameters": "src=I+love+you.&" + "&".join(f"p{at}=1" for at in range(20_000)),
    "one parameter a thousand times": "src=I+love+you." + "&layer=1" * 5_000,
    "half characters": "src=%ED%A0%80+love&tgt=%ED%A0%80&second=%FF%FE",
    "no numbers": "src=I+love+you.&layer=NaN&head=1e400&row=-1&number=NaN&seed=1e400&step=9e99&arrived=NaN",
    "percent of percent": "src=%2525252525&kind=%25%25&model=%252e%252e%252f",
    "a huge zoom": "src=I+love+you.&zoom=0.99999.0.99999",
    "a huge painted mask": "src=I+love+you.&paint=gBCAEICAgAI",
    "masks by the thousand": "src=I+love+you.&masks=" + "~".join(["random_0.5_3"] * 5_000),
    "lines by the thousand": "src=I+love+you.&tab=links&lines=" + "~".join(["0.0"] * 20_000),
    "ids by the thousand": "src=I+love+you.&more=experiment&ids_src=" + "1+" * 50_000 + "&ids_tgt=9999999999999999999",
}


READ_BY = {
    "no numbers": ("heads", "masks", "decoding"), "half characters": ("masks",), "a huge painted mask": ("masks",),
    "masks by the thousand": ("masks",), "ids by the thousand": ("decoding",),
    "one parameter a thousand times": ("decoding",),
}  # fmt: skip


@pytest.mark.parametrize(
    ("page", "link"),
    [(page, link) for name, link in LINKS.items() for page in READ_BY.get(name, ("heads",))],
    ids=[f"{name}: {page}" for name in LINKS for page in READ_BY.get(name, ("heads",))],
)
def test_a_crafted_link_is_bounded_and_leaves_no_fault(address, log, page, link) -> None:
    with Visitor(address) as visitor:
        shown = visitor.open(page, link)
        assert not shown.exceptions
        assert len(shown.alerts) < 40
        assert all(len(alert) < 1000 for alert in shown.alerts)
    assert "Traceback (most recent call last)" not in log.read_text(encoding="utf-8")
