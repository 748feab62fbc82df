"""The commands that start servers: `attnviz run`, `serve`, `cluster` and `engine` (see docs/how-to/hosting.md)."""

import argparse
import os
from importlib import import_module
from pathlib import Path

from attnviz.extras import needs, require_streamlit
from attnviz.places import require_files


def add_run(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `attnviz run`."""
    parser.add_argument("--port", type=int, default=8501, help="the port (8501)")
    parser.add_argument("--model", help="the model to open: a shipped one's name, a checkpoint's folder, or a hub id")
    parser.add_argument("--no-browser", action="store_true", help="open no browser")
    parser.set_defaults(run=open_dashboard)


def open_dashboard(options: argparse.Namespace) -> int:
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


def add_serve(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `attnviz serve`."""
    parser.add_argument(
        "--config", type=Path, metavar="FILE", help="settings in TOML; deploy/attnviz.toml has them all"
    )
    parser.add_argument("--host", help="the address to listen on (127.0.0.1: this machine alone)")
    parser.add_argument("--port", type=int, help="the port (8501)")
    parser.set_defaults(run=run_serve)


def run_serve(options: argparse.Namespace) -> int:
    """Run the server until a signal stops it. Raises ValueError for an invalid setting."""
    with needs("app", "serve"), needs("serve", "serve"):
        from attnviz.server import serving

        serving.run(options.config, {"host": options.host, "port": options.port})
    return 0


def add_cluster(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `attnviz cluster`."""
    parser.add_argument("--fronts", default="2", metavar="N", help="how many dashboards answer (2)")
    parser.add_argument(
        "--config", type=Path, metavar="FILE", help="settings in TOML, as for serve; each front reads it"
    )
    parser.add_argument("--host", help="the address to listen on (127.0.0.1: this machine alone)")
    parser.add_argument("--port", type=int, help="the port (8501); the fronts take those behind it")
    parser.add_argument(
        "--ready-seconds", type=float, default=120.0, metavar="S", help="how long a front may take to start (120)"
    )
    parser.set_defaults(run=run_cluster)


def run_cluster(options: argparse.Namespace) -> int:
    """Run the cluster until a signal stops it. Raises ValueError for unusable arguments."""
    with needs("app", "cluster"), needs("serve", "cluster"):
        from attnviz.server.cluster import plan, supervisor
        from attnviz.server.telemetry import say, set_up_log

        given = {"host": options.host, "port": options.port}
        planned = plan.plan(options.fronts, options.config, given, options.ready_seconds)
        set_up_log()
        supervisor.run(planned, say)
    return 0


def add_engine(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `attnviz engine`."""
    parser.add_argument("--model", action="append", required=True, help="a model's name, folder or hub id; repeatable")
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (127.0.0.1: this machine alone)")
    parser.add_argument("--port", type=int, default=8600, help="the port (8600)")
    parser.add_argument("--replicas", type=int, default=1, help="processes of each model (1)")
    parser.add_argument("--most-replicas", type=int, help="most processes of each model under load (as --replicas)")
    parser.add_argument("--waiting", type=int, default=64, help="most requests that may wait; others are refused (64)")
    parser.add_argument("--batch", type=int, default=8, help="most requests run in one batch; 1: no batching (8)")
    parser.add_argument("--threads", type=int, default=1, help="threads of each replica (1)")
    parser.add_argument("--gpus", type=float, default=0.0, help="GPUs of each replica, or a part of one (0)")
    parser.add_argument("--memory-mb", type=int, default=200, help="Ray's object store (200)")
    parser.add_argument("--alone", action="store_true", help="one process, without Ray")
    parser.set_defaults(run=run_engine)


def run_engine(options: argparse.Namespace) -> int:
    """Run the engine until a signal stops it. Raises ValueError for unusable arguments."""
    from attnviz.engine.admission import Limits
    from attnviz.engine.serving import EngineSettings, run_alone

    if options.batch < 1:
        raise ValueError(f"--batch must be 1 or more, not {options.batch}.")
    settings = EngineSettings(
        options.model, options.host, options.port, os.environ.get("ATTNVIZ_ENGINE_TOKEN", ""), options.replicas,
        options.most_replicas or options.replicas, options.waiting, options.threads, options.gpus, options.memory_mb,
        Limits(batch=options.batch),
    )  # fmt: skip
    if options.alone:
        run_alone(settings)
        return 0
    with needs("cluster", "The engine", otherwise="start it with --alone"):
        from attnviz.engine import cluster

        cluster.run(settings)
    return 0
