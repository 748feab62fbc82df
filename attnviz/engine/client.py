"""HTTP client of an engine.

It retries with growing pauses, waits as long as the engine asks it to, and stops at a deadline.
"""

import random
import threading
import time
import uuid
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from attnviz.engine.description import ModelOnEngine
from attnviz.engine.exchange import DEADLINE, ID, SENT, WEIGHTS, refusal_of
from attnviz.engine.message import Message
from attnviz.extras import needs

if TYPE_CHECKING:
    import httpx

ADDRESS = "ATTNVIZ_ENGINE"  # environment variable with the engine's address
_SECONDS = 60.0  # longest time for an answer
_PAUSE, _LONGEST_PAUSE = 0.1, 2.0
_GONE_AFTER, _DOWN_AFTER = 3.0, 20.0  # seconds without any answer; with answers only of a proxy without replicas
_GONE = "The engine that runs this server's models does not answer."
_LOOK_AGAIN, _SELDOMEST = 1.0, 8.0  # shortest and longest seconds between checks whether the engine is back


class EngineGoneError(ConnectionError, ValueError):
    """No engine answers, or it does not answer in time."""


class OtherWeightsError(ValueError):
    """The engine's model of this name no longer has the same weights."""


@dataclass
class Engine:
    """An engine at an address. Many threads may use it; `seconds` is the timeout for an answer."""

    address: str
    token: str = field(default="", repr=False)
    seconds: float = _SECONDS
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _gone_since: float = 0.0
    _look_at: float = 0.0
    _pause: float = _LOOK_AGAIN
    _paths: dict[str, str] | None = None

    def __post_init__(self) -> None:
        if not self.address.startswith(("http://", "https://")):
            raise ValueError(f"{ADDRESS} is an address such as http://127.0.0.1:8600, not {self.address[:80]!r}.")
        self.address, self._http = self.address.rstrip("/"), _http(self.token)

    @property
    def is_there(self) -> bool:
        """Whether the engine answers. After a failure, the engine is asked again at growing intervals."""
        with self._lock:
            if not self._gone_since:
                return True
            if time.monotonic() < self._look_at:
                return False
            self._look_at = time.monotonic() + self._pause
            self._pause = min(2 * self._pause, _SELDOMEST)
        return self._answers()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def models(self) -> tuple[str, ...]:
        """Return the names of the engine's models, from its latest answer.

        Raises EngineGoneError if the engine has never answered.
        """
        return tuple(self._known_paths())

    def description(self, name: str) -> ModelOnEngine:
        """Request the description of a model. Raises ValueError if the engine does not have the model."""
        response = self._request("GET", f"{self._path(name)}/about", b"", {})
        return ModelOnEngine.from_json(response.json())

    def ask(self, name: str, operation: str, message: Message, *, weights: str = "") -> bytes:
        """Send a message to an operation and return the bytes of the answer.

        Raises the errors that the model raises, and EngineGoneError.
        """
        headers = {ID: uuid.uuid4().hex, **({WEIGHTS: weights} if weights else {})}
        response = self._request("POST", f"{self._path(name)}/{operation}", message.to_bytes(), headers)
        if response.headers.get(ID) != headers[ID]:
            raise EngineGoneError(
                f"{self.address} does not answer like an attnviz engine, because it answered another "
                "request than the one that was sent."
            )
        return response.content

    def _path(self, name: str) -> str:
        paths = self._known_paths()
        if name not in paths:
            raise ValueError(f"The engine has no model {name[:80]!r}; it has {', '.join(paths)}.")
        return f"/models/{paths[name]}"

    def _known_paths(self) -> dict[str, str]:
        if self._paths is None:
            said = self._request("GET", "/models", b"", {}).json()
            self._paths = {one["name"]: one["path"] for one in said["models"]}
        return self._paths

    def _answers(self) -> bool:
        try:
            self._http.get(f"{self.address}/models", timeout=1.0).raise_for_status()
        except self._failures:
            return False
        self._is_back()
        return True

    @property
    def _failures(self) -> tuple[type[Exception], ...]:
        import httpx

        return (httpx.HTTPError,)

    def _request(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> "httpx.Response":
        """Send one request and repeat it until it is answered. Raises EngineGoneError at the deadline."""
        if not self.is_there:
            raise EngineGoneError(_GONE)
        pause, until, patience = _PAUSE, time.time() + self.seconds, _Patience()
        headers = {**headers, DEADLINE: f"{until:.3f}"}
        while True:
            response = self._try_once(method, path, body, headers, until)
            if response is not None and not _is_retryable(response):
                self._is_back()
                _require_answer(response)
                return response
            wait = pause * random.uniform(0.7, 1.3)  # random, so that many clients do not retry at the same time
            if response is not None and response.status_code == 429:
                wait = max(wait, min(_retry_after(response), _LONGEST_PAUSE))
            if time.time() + wait > until:
                raise EngineGoneError(f"The engine was too busy to answer within {self.seconds:.0f} seconds.")
            if patience.is_over(response):
                self._is_gone()
                raise EngineGoneError(_GONE)
            time.sleep(wait)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _try_once(
        self, method: str, path: str, body: bytes, headers: dict[str, str], until: float
    ) -> "httpx.Response | None":
        """Send a request once; return None if nothing answers, because a replica died or the network is down."""
        try:
            seconds, headers = max(0.1, until - time.time()), {**headers, SENT: f"{time.time():.3f}"}
            return self._http.request(method, f"{self.address}{path}", content=body, headers=headers, timeout=seconds)
        except self._failures:
            return None

    def _is_gone(self) -> None:
        with self._lock:
            if not self._gone_since:
                self._gone_since = time.monotonic()
                self._look_at, self._pause = self._gone_since + _LOOK_AGAIN, _LOOK_AGAIN

    def _is_back(self) -> None:
        with self._lock:
            if self._gone_since:
                self._gone_since, self._paths = 0.0, None


@dataclass
class _Patience:
    """How long one request has got no answer at all, or only answers of a proxy without replicas."""

    silent_since: float = 0.0
    down_since: float = 0.0

    def is_over(self, response: "httpx.Response | None") -> bool:
        """Return whether the request has waited too long, given the latest response (None: no answer).

        A response "wait" (429) resets both clocks.
        """
        now, is_busy = time.monotonic(), response is not None and response.status_code == 429
        self.silent_since = 0.0 if response is not None else self.silent_since or now
        self.down_since = 0.0 if is_busy else self.down_since or now
        silence = now - (self.silent_since or now)
        return silence > _GONE_AFTER or now - (self.down_since or now) > _DOWN_AFTER


def _http(token: str) -> "httpx.Client":
    with needs("serve", ADDRESS):
        import httpx
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return httpx.Client(headers=headers, limits=httpx.Limits(max_connections=64), trust_env=False)


def _is_retryable(response: "httpx.Response") -> bool:
    """Check whether to repeat a request: the engine is busy, or Ray answers for a replica that died or is still
    starting.
    """
    return response.status_code == 429 or (response.status_code != 200 and not refusal_of(response.content)[0])


def _retry_after(response: "httpx.Response") -> float:
    try:
        return max(0.0, float(response.headers.get("Retry-After", "0")))
    except ValueError:  # a date, which no engine sends
        return 0.0


def _require_answer(response: "httpx.Response") -> None:
    """Raise the error that a refusal names; return if the response is an answer."""
    if response.status_code == 200:
        return
    sentence, kind = refusal_of(response.content)
    if kind == "RuntimeError":
        raise RuntimeError(sentence)
    if kind == "weights":
        raise OtherWeightsError(f"{sentence} Run it again.")
    if kind == "late":
        raise EngineGoneError("The engine was too busy to answer in time.")
    raise ValueError(sentence)
