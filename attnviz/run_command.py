"""`attnviz run`: the dashboard on this machine, from wherever the package lies."""

import argparse
import socket
import subprocess
import sys

from attnviz.extras import needs
from attnviz.places import APP, require_files


def add(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument("--port", type=int, default=8501, help="the port (8501)")
    parser.add_argument("--no-browser", action="store_true", help="open no browser")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the dashboard until Ctrl-C, on the loopback address. Raises ValueError or OSError, with one sentence, for a
    port that is taken, a missing library, and an installation without its files.
    """
    require_files()
    with needs("app", "The dashboard"):
        import streamlit  # noqa: F401 - asked for only
    require_port(options.port)
    command = [sys.executable, "-m", "streamlit", "run", str(APP / "dashboard.py")]
    command += ["--server.address", "127.0.0.1", "--server.port", str(options.port)]
    command += ["--server.headless", str(options.no_browser).lower()]
    return subprocess.run(command, check=False).returncode


def require_port(port: int) -> None:
    """Raise ValueError, with one sentence, for a port of the loopback address that cannot be listened on."""
    if not 0 < port < 1 << 16:
        raise ValueError(f"A port is a number from 1 to 65535, not {port}.")
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as servers do: one that has just ended is free
        try:
            tried.bind(("127.0.0.1", port))
        except OSError as error:
            raise ValueError(
                f"Port {port} of 127.0.0.1 cannot be listened on: {error.strerror}. Give another with --port."
            ) from None
