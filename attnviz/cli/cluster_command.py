"""`python -m attnviz cluster`: run several dashboards behind HAProxy on one machine (see docs/how-to/hosting.md)."""

import argparse
from pathlib import Path

from attnviz.extras import needs


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("--fronts", default="2", metavar="N", help="how many dashboards answer (2)")
    parser.add_argument(
        "--config", type=Path, metavar="FILE", help="settings in TOML, as for serve; each front reads it"
    )
    parser.add_argument("--host", help="the address to listen on (127.0.0.1: this machine alone)")
    parser.add_argument("--port", type=int, help="the port (8501); the fronts take those behind it")
    parser.add_argument(
        "--ready-seconds", type=float, default=120.0, metavar="S", help="how long a front may take to start (120)"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the cluster until a signal stops it. Raises ValueError for unusable arguments."""
    with needs("app", "cluster"), needs("serve", "cluster"):
        from attnviz.server.cluster import plan, supervisor
        from attnviz.server.telemetry import say, set_up_log

        given = {"host": options.host, "port": options.port}
        planned = plan.plan(options.fronts, options.config, given, options.ready_seconds)
        set_up_log()
        supervisor.run(planned, say)
    return 0
