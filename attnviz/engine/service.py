"""One model behind HTTP: it checks token and deadline, limits the queue, and runs a repeated request only once.

Ray runs it as a replica, or one process serves it (`app`); the code is the same.
"""

import asyncio
import gc
import hmac
import logging
import os
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from attnviz.engine.admission import Admission, Limits
from attnviz.engine.batching import Batcher, batch_key, run_together
from attnviz.engine.description import ModelOnEngine
from attnviz.engine.exchange import DEADLINE, ID, SENT, WEIGHTS, RefusedError
from attnviz.engine.message import MOST_BYTES, Message
from attnviz.engine.operations import OPERATIONS
from attnviz.models.protocol import Model
from attnviz.transformer.device import OutOfDeviceMemoryError, retry_out_of_memory

log = logging.getLogger(__name__)
_KEPT_BYTES = 64 << 20  # answers kept for clients that ask again because the first answer was lost
_LONGEST_ID = 100
_LIMITS = Limits()
_WARM_UP = ("I love you.", "The old man has lost the keys of a red car.")
_WARM_RUNS = 3  # for each sentence


class ModelService:
    """A model and its queue of requests. It belongs to one event loop; the model runs in its own thread."""

    def __init__(self, model: Model, name: str, *, token: str = "", limits: Limits = _LIMITS) -> None:
        self._model, self._token, self._limits = model, token, limits
        self.about = ModelOnEngine.describe(model, name)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="attnviz-model")
        self._batcher: Batcher[_Job, bytes] = Batcher(
            self._submit_batch, most=limits.batch, seconds=limits.batch_seconds
        )
        self._admission = Admission(limits)
        self._kept: OrderedDict[str, asyncio.Future[bytes]] = OrderedDict()

    def warm_up(self) -> None:
        """Run the model on sample sentences, so that the first visitor is answered as fast as the next.

        This also gives the first estimate of how long an answer takes.
        """
        to = {"to": self.about.languages[0]} if self._model.inputs.has_language else {}
        asked = [Message({"args": [text], "how": to}) for text in _WARM_UP]
        for _ in range(_WARM_RUNS):
            began = time.monotonic()
            self._thread.submit(self._warm_run, asked).result()
            self._admission.learn("trace", (time.monotonic() - began) / len(asked))

    def _warm_run(self, asked: Sequence[Message]) -> None:
        try:
            for one in asked:
                OPERATIONS["trace"](self._model, one)
        except (ValueError, RuntimeError) as error:  # a model with other inputs warms up with its first visitor
            log.info("%s is not warmed up: %s", self.about.name, error)

    async def handle(self, request: Request) -> Response:
        """Answer `GET …/about` or `POST …/<operation>`."""
        try:
            require_token(request, self._token)
            operation = request.url.path.rstrip("/").rpartition("/")[2]
            if request.method == "GET" and operation == "about":
                return JSONResponse(self.about.to_json())
            if request.method != "POST" or operation not in OPERATIONS:
                raise RefusedError(404, f"The engine has no operation {operation[:40]!r}.")
            return await self._answer_request(request, operation)
        except RefusedError as refusal:
            return refusal.response()

    async def _answer_request(self, request: Request, operation: str) -> Response:
        sent, until = _time(request, SENT, time.time()), _deadline(request)
        id_ = request.headers.get(ID, "")[:_LONGEST_ID]
        if (weights := request.headers.get(WEIGHTS, "")) and weights != self.about.model_id:
            raise RefusedError(409, f"The engine now has other weights of {self.about.name}.", kind="weights")
        body = await _body(request)
        content = await self._run_once(id_, lambda: self._run_job(_Job(operation, body, sent, until)))
        headers = {ID: id_, "X-Attnviz-Replica": str(os.getpid())}
        return Response(content, media_type="application/octet-stream", headers=headers)

    async def _run_once(self, id_: str, run: Callable[[], Awaitable[bytes]]) -> bytes:
        """Return the result of `run`, or of an earlier request with the same id; failures are not kept."""
        if not id_:
            return await run()
        if (known := self._kept.get(id_)) is None:
            known = asyncio.ensure_future(run())
            self._kept[id_] = known
            known.add_done_callback(lambda made: self._keep_answer(id_, made))
        return await asyncio.shield(known)  # if the client disconnects, the run continues for its next attempt

    def _keep_answer(self, id_: str, made: "asyncio.Future[bytes]") -> None:
        if made.cancelled() or made.exception() is not None:
            del self._kept[id_]
            return
        sizes = {key: len(one.result()) for key, one in self._kept.items() if one.done() and not one.exception()}
        total = sum(sizes.values())
        for key, size in sizes.items():
            if total <= _KEPT_BYTES:
                return
            del self._kept[key]
            total -= size

    async def _run_job(self, job: "_Job") -> bytes:
        job.require_time()
        entry, is_answered = self._admission.enter(job.operation, sent=job.sent, until=job.until), False
        try:
            content = await self._answer_job(job)
            is_answered = True
            return content
        finally:
            self._admission.leave(entry, is_answered=is_answered)

    async def _answer_job(self, job: "_Job") -> bytes:
        try:
            asked = Message.from_bytes(job.body)
            key = batch_key(self._model, job.operation, asked) if self._limits.batch > 1 else None
            if key is not None:
                return await self._batcher.submit(key, job)
            return await asyncio.get_running_loop().run_in_executor(self._thread, self._run_alone, job)
        except OutOfDeviceMemoryError as error:
            raise RefusedError(503, str(error), kind="memory") from error
        except ValueError as error:
            raise RefusedError(422, str(error), kind="ValueError") from error
        except RuntimeError as error:
            raise RefusedError(422, str(error).strip().partition("\n")[0], kind="RuntimeError") from error
        except (KeyError, TypeError, AttributeError) as error:
            raise RefusedError(400, f"The message is not what {job.operation} needs ({error}).") from error
        except RefusedError:
            raise
        except Exception as error:  # a bug: answered, so that it is not mistaken for a dead replica
            log.exception("%s failed", job.operation)
            raise RefusedError(422, f"The engine failed ({type(error).__name__}).", kind="fault") from error

    def _run_alone(self, job: "_Job") -> bytes:
        job.require_time()
        run, asked = OPERATIONS[job.operation], Message.from_bytes(job.body)
        return retry_out_of_memory(lambda: run(self._model, asked), gc.collect)

    async def _submit_batch(self, jobs: Sequence["_Job"]) -> Sequence[bytes | Exception]:
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._run_batch, jobs)

    def _run_batch(self, jobs: Sequence["_Job"]) -> Sequence[bytes | Exception]:
        """Run the jobs that are still in time as one batch; if one of them fails, run each alone."""
        found: list[bytes | Exception] = [RefusedError(504, _LATE, kind="late") for _ in jobs]
        going = [at for at, job in enumerate(jobs) if job.is_in_time()]
        made: Sequence[bytes | Exception] | None = None
        with suppress(Exception):  # drops the error, and the device memory that it holds, before the jobs run again
            made = run_together(self._model, [Message.from_bytes(jobs[at].body) for at in going])
        for at, one in zip(going, made or map(self._answer_alone, [jobs[at] for at in going]), strict=True):
            found[at] = one
        return found

    def _answer_alone(self, job: "_Job") -> bytes | Exception:
        try:
            return self._run_alone(job)
        except Exception as error:
            return error


_LATE = "The time for this request ended before the engine could begin."


@dataclass(frozen=True)
class _Job:
    """A request whose body has been read; `sent` and `until` are when it was sent and its deadline, in seconds since
    1970.
    """

    operation: str
    body: bytes
    sent: float
    until: float

    def is_in_time(self) -> bool:
        return time.time() <= self.until

    def require_time(self) -> None:
        if not self.is_in_time():
            raise RefusedError(504, _LATE, kind="late")


def require_token(request: Request, token: str) -> None:
    """Compare the request's token with `token` in constant time. Raises RefusedError for a wrong token."""
    given = request.headers.get("Authorization", "").removeprefix("Bearer ")
    if token and not hmac.compare_digest(given.encode(), token.encode()):
        raise RefusedError(
            401, "The engine accepts only requests with its token. Please set ATTNVIZ_ENGINE_TOKEN to this token."
        )


def _deadline(request: Request) -> float:
    until = _time(request, DEADLINE, float("inf"))
    if not time.time() <= until:
        raise RefusedError(504, _LATE, kind="late")
    return until


def _time(request: Request, header: str, default: float) -> float:
    try:
        return float(request.headers.get(header, default))
    except ValueError:
        raise RefusedError(400, f"{header} is a time in seconds since 1970.") from None


async def _body(request: Request) -> bytes:
    found = bytearray()
    async for piece in request.stream():
        found += piece
        if len(found) > MOST_BYTES:
            raise RefusedError(413, f"A message has at most {MOST_BYTES >> 20} MB.")
    return bytes(found)
