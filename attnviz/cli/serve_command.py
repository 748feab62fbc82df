"""`python -m attnviz serve`: run the dashboard for many visitors (see docs/how-to/hosting.md)."""

import argparse
from pathlib import Path

from attnviz.extras import needs


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "--config", type=Path, metavar="FILE", help="settings in TOML; deploy/attnviz.toml has them all"
    )
    parser.add_argument("--host", help="the address to listen on (127.0.0.1: this machine alone)")
    parser.add_argument("--port", type=int, help="the port (8501)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the server until a signal stops it. Raises ValueError for an invalid setting."""
    with needs("app", "serve"), needs("serve", "serve"):
        from attnviz.server import serving

        serving.run(options.config, {"host": options.host, "port": options.port})
    return 0
