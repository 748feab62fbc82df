"""Supervisor of a cluster on one machine: it starts, watches, renews and stops HAProxy and the dashboard processes.

These dashboard processes are called fronts.
"""

import asyncio
import os
import signal
import sys
import tempfile
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import httpx

from attnviz.server import reach
from attnviz.server.cluster import haproxy
from attnviz.server.cluster.plan import ClusterPlan, Front
from attnviz.server.cluster.supervised_process import SupervisedProcess
from attnviz.server.telemetry import Say

_LOOK = 0.2  # seconds between two looks at whether a front is ready
_WATCH, _MISSES = 5.0, 6  # seconds between two looks at a front that was ready; it may miss fewer than so many in a row
_GRACE = 10.0  # seconds beyond `stop_seconds` after which a process that does not stop is killed


def run(plan: ClusterPlan, say: Say) -> None:
    """Run the cluster until a signal stops it. Raises ValueError if the cluster cannot start."""
    program = haproxy.find()
    with tempfile.TemporaryDirectory(prefix="attnviz-cluster-") as name:
        folder = Path(name)
        file = haproxy.write(plan, folder)
        haproxy.check(program, file)
        proxy = SupervisedProcess("haproxy", (program, "-db", "-q", "-f", str(file)), None, say)
        asyncio.run(Cluster(plan, proxy, haproxy.Runtime(folder), say).run())


class Cluster:
    """The running processes of a cluster.

    SIGTERM stops the cluster, SIGHUP renews one front after the other, and SIGUSR1 empties the fronts' caches.
    """

    def __init__(self, plan: ClusterPlan, proxy: SupervisedProcess, runtime: haproxy.Runtime, say: Say) -> None:
        self._plan, self._proxy, self._runtime, self._say = plan, proxy, runtime, say
        self._fronts = {
            front: SupervisedProcess(front.name, plan.command, plan.environment(front), say) for front in plan.fronts
        }
        self._stop = asyncio.Event()
        self._rolling: asyncio.Task[None] | None = None

    async def run(self) -> None:
        """Start every process, and wait until all have ended."""
        loop = asyncio.get_running_loop()
        for sign, answer in (
            (signal.SIGTERM, self._begin_stop),
            (signal.SIGINT, self._begin_stop),
            (signal.SIGHUP, self._begin_roll),
            (signal.SIGUSR1, self._empty_caches),
        ):
            loop.add_signal_handler(sign, answer)
        try:
            async with httpx.AsyncClient(timeout=_WATCH) as self._client, asyncio.TaskGroup() as tasks:
                kept = [self._proxy, *self._fronts.values()]
                running = [tasks.create_task(one.run()) for one in kept]
                watching = [tasks.create_task(self._watch(front)) for front in self._fronts]
                try:
                    await self._wait_until_ready()
                    await self._stop.wait()
                finally:
                    for task in watching:
                        task.cancel()
                    await self._end()
                    for task in running:
                        task.cancel()  # a process that waits to be started again stops waiting
        except* (ValueError, OSError) as errors:
            raise ValueError(str(errors.exceptions[0])) from None

    async def _wait_until_ready(self) -> None:
        """Wait until HAProxy has found one front ready. Raises ValueError if none becomes ready in time."""
        plan, began = self._plan, time.monotonic()
        until = began + plan.ready_seconds
        while not self._stop.is_set():
            said = [await self._why_not_ready(front) for front in self._fronts]
            if "" in said and await self._is_any_up():
                settings, seconds = plan.settings, round(time.monotonic() - began, 1)
                address = f"{'https' if settings.is_tls else 'http'}://{settings.host}:{settings.port}"
                self._say("ready", address=address, fronts=len(said), seconds=seconds, roll=f"kill -HUP {os.getpid()}")
                reach.announce(settings, self._say)
                return
            failed = [one for one in self._fronts.values() if one.status == 2]
            if failed:
                raise ValueError(f"{failed[0].name} cannot start, and says why in the line above.")
            if self._proxy.starts and not self._proxy.is_running:
                raise ValueError(f"HAProxy ended with status {self._proxy.status}, and says why in the line above.")
            if time.monotonic() > until:
                raise ValueError(
                    f"No front process was ready within {plan.ready_seconds:g} s: {plan.fronts[0].name} {said[0]}."
                )
            await asyncio.sleep(_LOOK)

    async def _is_any_up(self) -> bool:
        try:
            return any([await self._runtime.is_up(front.name) for front in self._fronts])
        except OSError:  # HAProxy has only just begun
            return False

    async def _why_not_ready(self, front: Front, path: str = "/readyz") -> str:
        """Return the reason why a front (a dashboard process) is not ready for visitors; "" if it is."""
        try:
            answer = await self._client.get(front.address + path)
        except httpx.HTTPError:
            return "does not answer"
        return "" if answer.status_code == 200 else f"says “{answer.text.strip()}”"

    async def _watch(self, front: Front) -> None:
        """Restart a front (a dashboard process) whenever it takes too long to become ready, or no longer answers."""
        kept, seen, misses, since = self._fronts[front], 0, 0, time.monotonic()
        is_known = False  # whether this start of it has been ready
        while True:
            await asyncio.sleep(_WATCH)
            if kept.starts != seen:
                seen, misses, since, is_known = kept.starts, 0, time.monotonic(), False
            said = await self._why_not_ready(front, "/healthz" if is_known else "/readyz")
            misses = misses + 1 if said else 0
            late = not is_known and time.monotonic() - since > self._plan.ready_seconds
            is_known = is_known or not said
            if said and (late or (is_known and misses >= _MISSES)):
                self._say("fault", process=front.name, sentence=f"{front.name} {said}: it is stopped.")
                kept.send_signal(signal.SIGKILL)

    def _begin_stop(self) -> None:
        if self._stop.is_set():  # asked twice
            for kept in (self._proxy, *self._fronts.values()):
                kept.send_signal(signal.SIGKILL)
        self._stop.set()

    def _empty_caches(self) -> None:
        for kept in self._fronts.values():
            kept.send_signal(signal.SIGUSR1)

    def _begin_roll(self) -> None:
        if self._rolling is None or self._rolling.done():
            self._rolling = asyncio.get_running_loop().create_task(self._roll())

    async def _roll(self) -> None:
        """Renew the fronts (dashboard processes) one after another.

        If a front does not become ready again, the remaining ones are not renewed.
        """
        began = time.monotonic()
        for front in self._fronts:
            try:
                async with asyncio.timeout(self._plan.ready_seconds + self._most_seconds):
                    await self._renew(front)
            except (TimeoutError, OSError, ValueError) as error:
                said = str(error) or f"{front.name} {await self._why_not_ready(front) or 'is not up'}"
                self._say("fault", process=front.name, sentence=f"Rolling stopped: {said.rstrip('.')}.")
                return
        self._say("rolled", fronts=len(self._fronts), seconds=round(time.monotonic() - began, 1))

    async def _renew(self, front: Front) -> None:
        """Replace the process of a front by a new one.

        Its visitors stay connected until it has finished the answers that it has begun. Then they reconnect to another
        front.
        """
        await self._runtime.close_front(front.name)
        kept = self._fronts[front]
        starts = kept.starts
        await kept.replace(self._most_seconds)
        while kept.starts == starts or await self._why_not_ready(front):
            await asyncio.sleep(_LOOK)
        await self._runtime.open_front(front.name)
        while not await self._runtime.is_up(front.name):
            await asyncio.sleep(_LOOK)
        self._say("renewed", process=front.name)

    @property
    def _most_seconds(self) -> float:
        return self._plan.settings.stop_seconds + _GRACE

    async def _end(self) -> None:
        """Stop the fronts and then HAProxy.

        HAProxy runs on while the fronts finish the answers that they have begun.
        """
        if self._rolling is not None:
            self._rolling.cancel()
        ends: list[Coroutine[Any, Any, None]] = [kept.end(self._most_seconds) for kept in self._fronts.values()]
        await asyncio.gather(*ends)
        await self._proxy.end(_GRACE)
        self._say("stopped")
        sys.stderr.flush()
