"""How many threads a computation uses: one for a sentence, since there are many visitors; all cores for a long text."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

_MOST = 1024
_LONG = 4000  # characters: a thousand tokens or so


def prepare() -> None:
    """Set up torch's precision and threads before a model computes. Raises ValueError as `_threads_setting` does."""
    import torch

    from attnviz.transformer.device import exact_products

    exact_products()
    torch.set_num_threads(_threads_setting() or 1)


@contextmanager
def enough_for(characters: int) -> Iterator[None]:
    """Use all cores inside this context if a text has many characters, unless ATTNVIZ_THREADS sets the threads."""
    import torch

    if characters < _LONG or _threads_setting():
        yield
        return
    torch.set_num_threads(os.cpu_count() or 1)
    try:
        yield
    finally:
        prepare()


def _threads_setting() -> int | None:
    """Read ATTNVIZ_THREADS; None if it is not set.

    Raises ValueError if the variable is not a valid number of threads.
    """
    said = os.environ.get("ATTNVIZ_THREADS", "").strip()
    if said and (not said.isdecimal() or len(said) > 4 or not 1 <= int(said) <= _MOST):
        raise ValueError(
            f"ATTNVIZ_THREADS={said!r} is not a number of threads. Please set it to a number from 1 to {_MOST}."
        )
    return int(said) if said else None
