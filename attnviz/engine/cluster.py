"""The engine on Ray Serve: for each model a group of replicas, which Ray starts, watches and restarts.

Only this file imports Ray, and only when an engine is started.
"""

import os
import signal
import threading
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from attnviz.engine import door
from attnviz.engine.exchange import RefusedError
from attnviz.engine.service import ModelService, require_token
from attnviz.engine.serving import EngineSettings, display_name, load, model_list, paths_of, require_port, say

NAMESPACE = "attnviz"
_SECONDS = 120  # Ray's time limit for a request without a deadline


def run(settings: EngineSettings) -> None:
    """Start Ray and the models, and serve until a signal arrives. SIGHUP reloads every model, replica by replica.

    Raises ValueError, with a message of one sentence, if the port is taken or a model cannot be loaded.
    """
    require_port(settings.host, settings.port)  # without this, Ray's proxy tries for a minute and fails unclearly
    import ray  # pyright: ignore[reportMissingImports]  # the extra `cluster`
    from ray import serve  # pyright: ignore[reportMissingImports]

    stop, again = threading.Event(), threading.Event()
    start(settings)
    for number in (signal.SIGTERM, signal.SIGINT):  # replaces Ray's own handlers, which end in a core dump
        signal.signal(number, lambda *_: stop.set())
    signal.signal(signal.SIGHUP, lambda *_: again.set())
    try:
        generation = 0
        deploy(settings, generation)
        say(f"the engine answers on http://{settings.host}:{settings.port}")
        while not stop.wait(0.2):
            if again.is_set():
                again.clear()
                generation += 1
                deploy(settings, generation)
                say(f"every model was loaded again ({generation})")
    finally:
        serve.shutdown()
        ray.shutdown()


def start(settings: EngineSettings) -> None:
    """Start Ray and its HTTP proxy on this machine."""
    import ray  # pyright: ignore[reportMissingImports]  # the extra `cluster`
    from ray import serve  # pyright: ignore[reportMissingImports]

    os.environ.update(door.variables(paths_of(settings.models)))  # inherited by Ray's processes
    ray.init(
        num_cpus=max(1, len(settings.models)) * settings.most_replicas + 1,
        object_store_memory=settings.memory_mb << 20,
        include_dashboard=False,
        namespace=NAMESPACE,
        log_to_driver=False,
        _node_ip_address=settings.host,
    )
    serve.start(
        proxy_location="HeadOnly",
        http_options={"host": settings.host, "port": settings.port, "request_timeout_s": _SECONDS},
    )


def deploy(settings: EngineSettings, generation: int = 0) -> None:
    """Deploy every model at its path.

    A new `generation` replaces the replicas one after another, while the others answer. Raises ValueError if a model
    does not start.
    """
    from ray import serve  # pyright: ignore[reportMissingImports]

    paths = paths_of(settings.models)
    index: Any = serve.deployment(name="index", ray_actor_options={"num_cpus": 0})(_Index)
    named = {display_name(name): path for name, path in paths.items()}
    targets = [serve.RunTarget(index.bind(named, settings.token), "index", "/")]
    for name, path in paths.items():
        replica: Any = _replica(settings).bind(name, settings, generation)
        targets.append(serve.RunTarget(replica, path, f"/models/{path}"))
    try:
        serve.run_many(targets)
    except RuntimeError as error:
        raise ValueError(f"The models did not come up on Ray: {_reason(error)}") from error


def _replica(settings: EngineSettings) -> Any:
    """Return the Ray deployment of a model, with its number of replicas, queue and resources."""
    from ray import serve  # pyright: ignore[reportMissingImports]

    limits = settings.limits
    many: dict[str, Any] = (
        {"num_replicas": settings.replicas}
        if settings.most_replicas == settings.replicas
        else {
            "autoscaling_config": {
                "min_replicas": settings.replicas,
                "max_replicas": settings.most_replicas,
                "target_ongoing_requests": max(1, limits.batch // 2),
                "upscale_delay_s": 2,
                "downscale_delay_s": 60,
            }
        }
    )
    return serve.deployment(
        name="model",
        max_ongoing_requests=2
        * limits.waiting,  # Ray's default of 5 would limit batches; the service refuses requests earlier
        max_queued_requests=settings.waiting,
        health_check_period_s=1,
        health_check_timeout_s=10,
        graceful_shutdown_timeout_s=20,
        ray_actor_options={"num_cpus": 1, "num_gpus": settings.gpus},
        backpressure_config={"status_code": 429, "retry_after_s": 1},
        **many,
    )(_Replica)


class _Replica:
    """A model that Ray Serve runs in a separate process; Ray Serve starts the process, and restarts it if it dies."""

    def __init__(self, name: str, settings: EngineSettings, generation: int) -> None:
        self.generation = generation
        model = load(name, settings.threads)
        self._service = ModelService(model, display_name(name), token=settings.token, limits=settings.limits)
        self._service.warm_up()

    async def __call__(self, request: Request) -> Response:
        """Answer a request."""
        return await self._service.handle(request)


class _Index:
    """The Ray deployment that answers with the list of models."""

    def __init__(self, paths: Mapping[str, str], token: str) -> None:
        self._said, self._token = model_list(paths), token

    async def __call__(self, request: Request) -> Response:
        """Answer `GET /models`."""
        try:
            require_token(request, self._token)
        except RefusedError as refusal:
            return refusal.response()
        return JSONResponse(self._said)


def _reason(error: Exception) -> str:
    """Return the last line of Ray's error message that names an error, which is the model's own error."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return next((line for line in reversed(lines) if "Error" in line), lines[-1] if lines else "no reason was given")
