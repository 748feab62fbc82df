"""Coroutines of a test, away from the event loop that the browser tests' thread has."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


def run_apart(asked: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end in a thread and an event loop of its own, and return its result."""
    with ThreadPoolExecutor(1) as apart:
        return apart.submit(asyncio.run, asked).result()
