"""Files of download buttons: kept a while after the page that offered them, and then forgotten.

`attnviz/ui/streamlit_internals.py` sets these into Streamlit's keeper of files, whose names it checks.
"""

import math
import time
from functools import wraps
from typing import Any

KEPT = 10  # seconds at least in which a file can still be saved after its page is gone


def sweep_seldom(sweep: Any) -> Any:
    """Wrap `sweep(files)`, which forgets files that no page offers, so that it runs at most every `KEPT` seconds."""

    @wraps(sweep)
    def sweep_rarely(files: Any) -> None:
        if time.monotonic() - vars(files).get("swept", -math.inf) >= KEPT:
            vars(files)["swept"] = time.monotonic()
            sweep(files)

    return sweep_rarely


def remove_orphans(files: Any) -> None:
    """Forget the function that makes a button's file when no page has had that button for two sweeps.

    While a page runs, the button that is still seen counts for none: Streamlit would forget it at once.
    """
    offered = {file for places in files._files_by_session_and_coord.values() for file in places.values()}
    orphans = files._deferred_callables.keys() - offered
    for file in orphans & vars(files).get("orphans", set()):
        files._drop_deferred_id(file)
    vars(files)["orphans"] = orphans
