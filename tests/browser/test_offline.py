"""Nothing leaves this machine: neither from the page (the `visitor` fixture sees to that) nor from the server."""

import os
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Page


def test_no_address_outside_is_asked_for(page: Page, settle, outbound: Path) -> None:
    for path in ("/", "/heads?src=I+love+you.&to=fr", "/heads?src=I+love+you.&to=zh&plotly=1"):
        page.goto(path)
        settle(page)
    assert outbound.read_text(encoding="utf-8") == ""


def test_the_watch_would_notice(tmp_path: Path) -> None:
    log = tmp_path / "outbound.log"
    code = (
        "import socket; s = socket.socket(); s.settimeout(0.01); s.connect_ex(('192.0.2.1', 9))"  # TEST-NET-1: nobody
    )
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parent / "outbound"), "ATTNVIZ_OUTBOUND_LOG": str(log)}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    assert log.read_text(encoding="utf-8") == "socket.connect 192.0.2.1\n"
