"""`python -m attnviz engine`: serve models to many dashboards (see docs/how-to/hosting.md)."""

import argparse
import os

from attnviz.extras import needs


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
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
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
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
