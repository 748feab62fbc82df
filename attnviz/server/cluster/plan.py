"""Plan of a cluster on one machine: its fronts (dashboard processes behind HAProxy), their ports and settings."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attnviz.server import checks
from attnviz.server.settings import PREFIX, Settings, read_settings

MOST_FRONTS = 64
_LEAST_SHARE = 0.05  # of the memory, for one front's caches: as little as `memory_share` may be


@dataclass(frozen=True)
class Front:
    """One dashboard of a cluster: a process that listens on 127.0.0.1. It has no metrics if `metrics_port` is 0."""

    name: str
    port: int
    metrics_port: int

    @property
    def address(self) -> str:
        """The address on 127.0.0.1 at which the supervisor checks whether this front is ready."""
        return f"http://127.0.0.1:{self.port}"


@dataclass(frozen=True)
class ClusterPlan:
    """The plan of a cluster: its public settings, the `file` of settings that every front reads, and the fronts.

    A front is one of the dashboard processes behind HAProxy.
    """

    settings: Settings
    file: Path | None
    fronts: tuple[Front, ...]
    secret: str
    ready_seconds: float

    @property
    def command(self) -> tuple[str, ...]:
        """The command line that starts a front, which is one of the dashboard processes behind HAProxy."""
        config = ("--config", str(self.file)) if self.file else ()
        return (sys.executable, "-m", "attnviz", "serve", *config)

    def environment(self, front: Front) -> dict[str, str]:
        """Return the environment variables of a front, which tell it that HAProxy handles TLS and host names for it."""
        settings = self.settings
        told = {
            "front": front.name,
            "host": "127.0.0.1",
            "port": front.port,
            "metrics_port": front.metrics_port,
            "certificate": "",
            "key": "",
            "redirect_port": 0,
            "base_path": settings.base_path,
            "hosts": ",".join(settings.hosts or (() if settings.is_local else ("*",))),
            "proxies": ",".join(("127.0.0.1", *settings.proxies)),
            "public_address": settings.public_address or (self._address if settings.is_tls else ""),
            "cookie_secret": self.secret,
            "memory_share": settings.memory_share / len(self.fronts),
        }
        return {**os.environ, **{f"{PREFIX}{name.upper()}": str(value) for name, value in told.items()}}

    @property
    def _address(self) -> str:
        return f"https://{(*self.settings.hosts, self.settings.host)[0]}"


def plan(fronts: str, file: Path | None, given: Mapping[str, Any], ready_seconds: float) -> ClusterPlan:
    """Read and check all settings before the first process starts. Raises ValueError for the first wrong one."""
    if not fronts.isdecimal() or len(fronts) > 3 or not 1 <= int(fronts) <= MOST_FRONTS:
        raise ValueError(f"fronts is {fronts!r}: it has to be a whole number from 1 to {MOST_FRONTS}.")
    count = int(fronts)
    settings = read_settings(file, os.environ, given)
    checks.check(settings)
    if settings.memory_share / count < _LEAST_SHARE:
        raise ValueError(
            f"memory_share is {settings.memory_share:g}, which leaves each of {count} fronts less than {_LEAST_SHARE}: "
            f"set {_LEAST_SHARE * count:.2g} or more, or take fewer fronts."
        )
    first = settings.metrics_port
    made = [Front(f"f{n + 1}", settings.port + 1 + n, first + n if first else 0) for n in range(count)]
    if settings.redirect_port in {port for front in made for port in (front.port, front.metrics_port) if port}:
        raise ValueError(f"redirect_port is {settings.redirect_port}, the port of a front. Please choose another port.")
    for port in (port for front in made for port in (front.port, front.metrics_port) if port):
        if port > 65535:
            raise ValueError(f"port {settings.port} leaves no room for {count} fronts on the ports behind it.")
        checks.check_port("127.0.0.1", port)
    return ClusterPlan(settings, file, tuple(made), checks.secret_of(settings), ready_seconds)
