"""The frame around every page: address, cache, top bar, drawing of widgets, messages to the browser.

The frame imports Streamlit, models and the kit. It imports no feature, no lesson and no class.
"""

import os

from attnviz.extras import require_streamlit

require_streamlit()  # whichever way the dashboard is started: an import from another version would fail without a word

# Both before torch is imported. Threads that spin starve each other; the profiler, which measures memory here, prints
# two lines for each use, on a level above errors.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("KINETO_LOG_LEVEL", "6")
