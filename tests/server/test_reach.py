"""The addresses that a server prints at its start."""

import io
import json
import socket
import sys

import pytest
import segno

from attnviz.server import reach
from attnviz.server.reach import own_addresses
from attnviz.server.settings import Settings

ELSEWHERE = "192.0.2.77"


@pytest.fixture
def machine_addresses(monkeypatch) -> list[str]:
    """Set the machine's addresses: the first is that of the way out."""
    own: list[str] = ["192.0.2.10"]
    monkeypatch.setattr(reach, "_outgoing_addresses", lambda family: own[:1])
    monkeypatch.setattr(reach, "_interface_addresses", lambda family: ["127.0.0.1", *own])
    return own


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def announced_lines(monkeypatch, settings: Settings, out: io.StringIO) -> list[dict[str, object]]:
    """Return the log's lines; `out` has what is printed."""
    log: list[dict[str, object]] = []
    monkeypatch.setattr(sys, "stdout", out)
    reach.announce(settings, lambda event, **said: log.append({"event": event, **said}))
    return log


def test_an_address_of_this_machine_is_found_and_can_be_listened_on() -> None:
    for address in own_addresses(socket.AF_INET):
        assert not address.startswith("127.")
        with socket.socket() as listener:
            listener.bind((address, 0))


def test_on_loopback_it_says_that_others_need_the_setting_host() -> None:
    found = reach.reach(Settings())
    assert found.addresses == ("http://127.0.0.1:8501",)
    assert "Only this machine reaches it" in found.note
    assert "--host 0.0.0.0" in found.note


def test_beyond_loopback_the_machine_s_own_addresses_are_told(machine_addresses) -> None:
    assert reach.reach(Settings(host="0.0.0.0", port=80)).addresses == ("http://192.0.2.10",)
    machine_addresses.append("198.51.100.4")
    found = reach.reach(Settings(host="0.0.0.0"))
    assert found == reach.Reach(("http://192.0.2.10:8501", "http://198.51.100.4:8501"))
    assert reach.reach(Settings(host="198.51.100.4")).addresses == ("http://198.51.100.4:8501",)


def test_without_a_network_it_says_so(machine_addresses) -> None:
    machine_addresses.clear()
    found = reach.reach(Settings(host="0.0.0.0"))
    assert found.addresses == ()
    assert "not in a network" in found.note


def test_names_of_the_settings_are_told_and_one_that_is_not_this_machine_s_is_named(machine_addresses) -> None:
    found = reach.reach(Settings(host="0.0.0.0", hosts=("attn.example", "192.0.2.10")))
    assert found == reach.Reach(("http://attn.example:8501", "http://192.0.2.10:8501"))
    found = reach.reach(Settings(host="0.0.0.0", hosts=(ELSEWHERE,)))
    assert found.addresses == (f"http://{ELSEWHERE}:8501",)
    assert f"hosts has {ELSEWHERE}, which is not an address of this machine; 192.0.2.10 is." in found.note
    assert reach.reach(Settings(host="0.0.0.0", hosts=("*.example",))).addresses == ()


def test_behind_a_proxy_its_address_is_told_where_it_is_set() -> None:
    settings = {"hosts": ("attn.example",), "proxies": ("127.0.0.1",)}
    assert reach.reach(Settings(**settings, public_address="https://attn.example/")).addresses == (
        "https://attn.example",
    )
    found = reach.reach(Settings(**settings))
    assert found.addresses == ()
    assert "set public_address" in found.note


def test_a_terminal_shows_the_address_and_its_qr_code(monkeypatch, machine_addresses) -> None:
    machine_addresses.append("198.51.100.4")
    out = Terminal()
    assert announced_lines(monkeypatch, Settings(host="0.0.0.0"), out) == []
    assert "Students open http://192.0.2.10:8501\n" in out.getvalue()
    assert "or, from another network of this machine, http://198.51.100.4:8501\n" in out.getvalue()
    drawn = [line[len("\x1b[97;40m") : -len("\x1b[0m")] for line in out.getvalue().splitlines() if "\x1b" in line]
    halves = {"█": "00", "▀": "01", "▄": "10", " ": "11"}  # 1 is dark
    rows = [[int(halves[block][half]) for block in line] for line in drawn for half in (0, 1)]
    modules = [row[4:-4] for row in rows[4:-4]]
    expected = [list(row) for row in segno.make("http://192.0.2.10:8501", error="m").matrix]
    assert modules[: len(expected)] == expected


def test_a_log_has_the_address_in_a_line_and_no_drawing(monkeypatch, machine_addresses) -> None:
    out = io.StringIO()
    (line,) = announced_lines(monkeypatch, Settings(host="0.0.0.0"), out)
    assert out.getvalue() == ""
    assert json.loads(json.dumps(line)) == {"event": "reachable", "addresses": ["http://192.0.2.10:8501"], "note": ""}


def test_on_loopback_no_qr_code_is_drawn(monkeypatch) -> None:
    out = Terminal()
    announced_lines(monkeypatch, Settings(), out)
    assert "attnviz is at http://127.0.0.1:8501\nOnly this machine" in out.getvalue()
    assert "\x1b" not in out.getvalue()
