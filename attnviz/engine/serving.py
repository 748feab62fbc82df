"""The engine without Ray: its settings, its ASGI application in one process, and its start under uvicorn.

`cluster.py` starts the engine with Ray.
"""

import re
import socket
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from attnviz.engine.admission import Limits
from attnviz.engine.exchange import RefusedError
from attnviz.engine.service import ModelService, require_token
from attnviz.models import catalogue
from attnviz.models.protocol import Model

HEALTH = "/-/healthz"  # Ray's path for health checks


@dataclass(frozen=True)
class EngineSettings:
    """Settings of an engine.

    `replicas` and `most_replicas` are the minimum and maximum number of replicas of each model. `waiting` is the
    maximum number of requests in the proxy's queue. `threads` and `gpus` are those of each replica, and `memory_mb` is
    the size of Ray's object store.
    """

    models: Sequence[str]
    host: str = "127.0.0.1"
    port: int = 8600
    token: str = field(default="", repr=False)
    replicas: int = 1
    most_replicas: int = 1
    waiting: int = 64
    threads: int = 1
    gpus: float = 0.0
    memory_mb: int = 200
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        paths_of(self.models)
        for name, least, most in (("port", 1, 65535), ("replicas", 1, 1000), ("waiting", 1, 100_000),
                                  ("threads", 1, 1024), ("memory_mb", 80, 1_000_000)):  # fmt: skip
            if not least <= (value := getattr(self, name)) <= most:
                raise ValueError(f"--{name.replace('_', '-')} must be a number from {least} to {most}, not {value}.")
        if not self.token and not _is_loopback(self.host):
            raise ValueError(
                f"--host {self.host} may be reached from other machines, and without a token they can "
                "run the models. Please set ATTNVIZ_ENGINE_TOKEN, for example to the output of "
                "`openssl rand -hex 32`."
            )
        if self.most_replicas < self.replicas:
            raise ValueError(
                f"--most-replicas must be at least as large as --replicas ({self.replicas}), not {self.most_replicas}."
            )


def _is_loopback(host: str) -> bool:
    """Check whether an address can be reached only from this machine."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:  # a host name may be any address
        return False


def load(name: str, threads: int) -> Model:
    """Load a model that the engine can serve. Raises ValueError for a model that shows only its weights."""
    import torch

    from attnviz.transformer.device import exact_products

    exact_products()
    torch.set_num_threads(threads)
    model = catalogue.load(name)
    if not isinstance(model, Model) or hasattr(model, "why"):
        raise ValueError(getattr(model, "why", f"{name} is not a model that the engine can serve."))
    return model


def run_alone(settings: EngineSettings) -> None:
    """Serve every model in this process until a signal stops it."""
    import uvicorn

    require_port(settings.host, settings.port)
    services = {
        path: ModelService(
            load(name, settings.threads), display_name(name), token=settings.token, limits=settings.limits
        )
        for name, path in paths_of(settings.models).items()
    }
    for service in services.values():
        service.warm_up()
    say(f"the engine answers on http://{settings.host}:{settings.port}")
    app = engine_app(services, token=settings.token)
    uvicorn.run(app, host=settings.host, port=settings.port, access_log=False, log_level="warning")


def say(sentence: str) -> None:
    """Print a line to standard output."""
    sys.stdout.write(f"attnviz: {sentence}\n")
    sys.stdout.flush()


def require_port(host: str, port: int) -> None:
    """Raise ValueError if a port cannot be opened, before any model is loaded."""
    with closing(socket.socket()) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((host, port))
        except OSError as error:
            raise ValueError(
                f"Port {port} of {host} cannot be opened ({error.strerror}). Please choose another port."
            ) from None


def path_of(name: str) -> str:
    """Return a model's part of the URL: its name, with characters other than `A-Za-z0-9._-` replaced by `-`."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.") or "model"


def paths_of(names: Iterable[str]) -> dict[str, str]:
    """Map each model's name to its path. Raises ValueError if two models would get the same path, or if there is no
    model.
    """
    found: dict[str, str] = {}
    for name in names:
        if (path := path_of(display_name(name))) in found.values():
            raise ValueError(
                f"Two of the engine's models would have the path {path!r}. Please pass each model only once."
            )
        found[name] = path
    if not found:
        raise ValueError("Give at least one --model.")
    return found


def model_list(paths: Mapping[str, str]) -> dict[str, Any]:
    """Return the answer to `GET /models`: the display names of the models, and their paths."""
    return {"models": [{"name": display_name(name), "path": path} for name, path in paths.items()]}


def display_name(name: str) -> str:
    """Return the name that the dashboard shows: the last part of a folder's path, and any other name unchanged."""
    return Path(name).name if Path(name).is_dir() else name


def engine_app(services: Mapping[str, ModelService], *, token: str = "") -> Starlette:
    """Build the ASGI application from services, a mapping from path to service."""

    async def healthy(_: Request) -> Response:
        return PlainTextResponse("success")

    async def models(request: Request) -> Response:
        try:
            require_token(request, token)
        except RefusedError as refusal:
            return refusal.response()
        return JSONResponse(model_list({service.about.name: path for path, service in services.items()}))

    routes = [Route(HEALTH, healthy), Route("/models", models)]
    routes += [
        Route(f"/models/{path}/{{operation}}", service.handle, methods=["GET", "POST"])
        for path, service in services.items()
    ]
    return Starlette(routes=routes)
