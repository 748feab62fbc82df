"""A lock on transformers while it loads: one model at a time, and without its reports, which we make to a reader
ourselves.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from transformers.utils.logging import disable_progress_bar, enable_progress_bar, is_progress_bar_enabled

_LOGGER = logging.getLogger("transformers")
_LOADING = Lock()  # `from_pretrained` swaps globals of torch and its own: of two at once, one lacks its tied weights


@contextmanager
def exclusive_loading() -> Iterator[None]:
    """Load no other model inside the block, and show no message and no bar; put settings back after it."""
    with _LOADING:
        level, had_bars = _LOGGER.level, is_progress_bar_enabled()
        _LOGGER.setLevel(logging.CRITICAL)
        disable_progress_bar()
        try:
            yield
        finally:
            _LOGGER.setLevel(level)
            if had_bars:
                enable_progress_bar()
