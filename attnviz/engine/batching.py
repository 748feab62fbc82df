"""Run requests that arrive while the model is busy as one batch.

Ray has the same (`serve.batch`), but only inside a cluster; this code also works in a single process and in tests.
"""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Sequence
from typing import Generic, TypeVar

from attnviz.engine.message import Message
from attnviz.engine.operations import OPERATIONS
from attnviz.models.inputs import Inputs
from attnviz.models.protocol import Model
from attnviz.models.translator import together
from attnviz.models.translator.together import one_of_batch
from attnviz.models.translator.translator import Translator
from attnviz.text.limits import cuts_are_shown
from attnviz.tracing import storage

Item = TypeVar("Item")
Made = TypeVar("Made")


class Batcher(Generic[Item, Made]):
    """A queue in front of `run(items)`, which gets at most `most` items at a time and returns their answers in order.

    If `run` returns an exception for an item, that item's `submit` raises it. The first item of a batch waits `seconds`
    for others. The queue belongs to one event loop.
    """

    def __init__(
        self, run: Callable[[Sequence[Item]], Awaitable[Sequence[Made | Exception]]], *, most: int, seconds: float
    ) -> None:
        self._run, self._most, self._seconds = run, most, seconds
        self._waiting: dict[Hashable, list[tuple[Item, asyncio.Future[Made]]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def submit(self, key: Hashable, item: Item) -> Made:
        """Return the answer to an item, which may run in a batch with other items that have the same key."""
        future: asyncio.Future[Made] = asyncio.get_running_loop().create_future()
        if key in self._waiting:
            self._waiting[key].append((item, future))
        else:
            self._waiting[key] = [(item, future)]
            task = asyncio.create_task(self._run_waiting(key))
            self._tasks.add(task)  # a reference, so that the task is not garbage-collected
            task.add_done_callback(self._tasks.discard)
        return await future

    async def _run_waiting(self, key: Hashable) -> None:
        await asyncio.sleep(self._seconds)
        while waiting := self._waiting[key]:
            now, self._waiting[key] = waiting[: self._most], waiting[self._most :]
            try:
                made: Sequence[Made | Exception] = await self._run([item for item, _ in now])
            except Exception as error:
                made = [error] * len(now)
            for (_, future), one in zip(now, made, strict=True):
                if future.done():  # the caller has cancelled
                    continue
                if isinstance(one, Exception):
                    future.set_exception(one)
                else:
                    future.set_result(one)
        del self._waiting[key]


def batch_key(model: Model, operation: str, asked: Message) -> Hashable | None:
    """Return a key that is equal for requests that can run as one batch, or None for a request that must run alone.

    Sentences to translate into one language can share a batch if the model writes the target; so can single sentences
    of an encoder. Runs with interventions cannot, because their positions belong to one sentence.
    """
    if operation != "trace" or asked.meta.get("interventions"):
        return None
    texts, how = asked.meta["args"], {name: one for name, one in asked.meta["how"].items() if one is not None}
    if len(texts) != 1 or not isinstance(texts[0], str) or not texts[0].strip():
        return None
    if isinstance(model, Translator):
        return ("to", how["to"]) if set(how) == {"to"} else None
    if model.inputs is Inputs.PAIR:
        return tuple(sorted(how.items())) if set(how) <= {"logits", "hidden", "max_tokens"} else None
    return None


def run_together(model: Model, asked: Sequence[Message]) -> list[bytes]:
    """Answer requests that have the same batch key, in their order."""
    if len(asked) == 1:
        return [OPERATIONS["trace"](model, asked[0])]
    texts, how = [one.meta["args"][0] for one in asked], asked[0].meta["how"]
    if isinstance(model, Translator):
        found = together.traces(model, texts, to=how["to"])
    else:
        with cuts_are_shown():
            batch = model.trace(texts, **how)
        found = [one_of_batch(batch, item, model.is_pad) for item in range(len(texts))]
    return [storage.to_bytes(one) for one in found]
