"""Imported by the dashboard under test (it is on its PYTHONPATH): notes every address outside this machine.

An audit hook sees each connection and each name that is looked up, whichever library asks.
"""

import os
import sys

_LOG = os.environ["ATTNVIZ_OUTBOUND_LOG"]
_HOME = ("127.", "::1", "localhost", "0.0.0.0")


def _note(event: str, arguments: tuple) -> None:
    if event == "socket.connect":
        address = arguments[1]
        host = address[0] if isinstance(address, tuple) else "127. (a socket file)"
    elif event == "socket.getaddrinfo":
        host = arguments[0] or "localhost"
    else:
        return
    if not str(host).startswith(_HOME):
        with open(_LOG, "a", encoding="utf-8") as log:  # noqa: PTH123 - too early for anything but builtins
            log.write(f"{event} {host}\n")


sys.addaudithook(_note)
