"""On a server that many share, only a teacher who has logged in sees which lessons are broken; the log names them."""

import io
import json
import logging
from types import SimpleNamespace
from typing import Any

import pytest

from attnviz.server import telemetry
from attnviz.server.app import Instance


@pytest.mark.parametrize(
    ("login", "role", "is_author"),
    [
        ("password", "teacher", True),
        ("password", "student", False),
        ("oidc", "teacher", True),
        ("none", "teacher", False),
        ("none", "", False),
    ],
)
def test_whose_role_a_login_has_checked_counts_and_no_other(login: str, role: str, is_author: bool) -> None:
    instance: Any = SimpleNamespace(_settings=SimpleNamespace(login=login))
    assert Instance._is_author(instance, role) is is_author


def test_a_broken_lesson_is_a_line_of_json_in_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    heard = io.StringIO()
    monkeypatch.setattr("sys.stderr", heard)
    logs = [logging.getLogger(name) for name in ("attnviz.server", "attnviz.lessons")]
    before = [(log.handlers[:], log.level, log.propagate) for log in logs]
    try:
        telemetry.set_up_log()
        logs[1].warning("%s is not in the list of lessons. %s", "broken.md", "Line 3 …")
    finally:
        for log, (handlers, level, propagate) in zip(logs, before, strict=True):
            log.handlers[:], log.propagate = handlers, propagate
            log.setLevel(level)
    assert json.loads(heard.getvalue())["event"] == "broken.md is not in the list of lessons. Line 3 …"
