"""`attnviz run`: the dashboard on this machine, from wherever the package lies."""

import argparse
import subprocess
import sys
from importlib import import_module

from attnviz.extras import needs, require_streamlit
from attnviz.places import APP, require_files

HOST = "127.0.0.1"  # this machine alone


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("--port", type=int, default=8501, help="the port (8501)")
    parser.add_argument("--no-browser", action="store_true", help="open no browser")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the dashboard until Ctrl-C, on the loopback address. Raises ValueError or OSError, with one sentence, for a
    port that is taken, a missing library, another Streamlit, and an installation without its files.
    """
    require_files()
    with needs("app", "The dashboard"):
        import_module("streamlit")
    require_streamlit()
    from attnviz.server.checks import check_port

    if not 0 < options.port < 1 << 16:
        raise ValueError(f"A port is a number from 1 to 65535, not {options.port}.")
    check_port(HOST, options.port)
    command = [sys.executable, "-m", "streamlit", "run", str(APP / "dashboard.py")]
    command += ["--server.address", HOST, "--server.port", str(options.port)]
    command += ["--server.headless", str(options.no_browser).lower()]
    return subprocess.run(command, check=False).returncode
