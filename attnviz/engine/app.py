"""The engine as one ASGI application in one process: a route for each model, and the list of models."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from attnviz.engine.exchange import RefusedError
from attnviz.engine.service import ModelService, require_token

HEALTH = "/-/healthz"  # Ray's own name for it


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
            raise ValueError(f"Two of the engine's models would be called {path!r}: give each one once.")
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
