"""`attnviz run`: run the dashboard on this machine, wherever the package is installed."""

import argparse
from importlib import import_module
from pathlib import Path

from attnviz.extras import needs, require_streamlit
from attnviz.places import require_files


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("--port", type=int, default=8501, help="the port (8501)")
    parser.add_argument("--model", help="the model to open: a shipped one's name, a checkpoint's folder, or a hub id")
    parser.add_argument("--no-browser", action="store_true", help="open no browser")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the dashboard on the loopback address until Ctrl-C.

    Raises ValueError or OSError if the port is in use, a library is missing, Streamlit has another version, or the
    package was installed without its files.
    """
    require_files()
    with needs("app", "The dashboard"):
        import_module("streamlit")
    require_streamlit()
    from attnviz.server import session
    from attnviz.server.checks import check_port
    from attnviz.server.own_door import HOST

    if not 0 < options.port < 1 << 16:
        raise ValueError(f"A port must be a number from 1 to 65535, not {options.port}.")
    check_port(HOST, options.port)
    session.run(options.port, browser=not options.no_browser, model=_in_full(options.model))
    return 0


def _in_full(model: str | None) -> str:
    """Return a model's name for an address: the absolute path of a folder, or any other name unchanged."""
    folder = Path(model or "").expanduser()
    return str(folder.resolve()) if model and folder.exists() else model or ""
