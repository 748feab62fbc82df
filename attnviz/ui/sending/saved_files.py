"""Files that buttons save: kept a while after the page that offered them, and then forgotten.

`attnviz/ui/streamlit_internals.py` sets these into Streamlit's keeper of files, whose names it checks.
"""

import math
import time
from functools import wraps
from typing import Any

KEPT = 10  # seconds at least that what nobody's page offers any more can still be saved


def seldom(sweep: Any) -> Any:
    """Forget what nobody's page offers any more, but not at the end of every run of every visitor."""

    @wraps(sweep)
    def guarded(files: Any) -> None:
        if time.monotonic() - vars(files).get("swept", -math.inf) >= KEPT:
            vars(files)["swept"] = time.monotonic()
            sweep(files)

    return guarded


def remove_orphans(files: Any) -> None:
    """Forget what makes a file for a button when no page has had that button for two sweeps.

    While a page runs, the button that is still seen counts for none: Streamlit would forget it at once.
    """
    offered = {file for places in files._files_by_session_and_coord.values() for file in places.values()}
    orphans = files._deferred_callables.keys() - offered
    for file in orphans & vars(files).get("orphans", set()):
        files._drop_deferred_id(file)
    vars(files)["orphans"] = orphans
