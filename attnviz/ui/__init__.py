"""The pages: the only code that knows Streamlit."""

import os

# Both before torch is imported. Threads that spin starve each other; the profiler, which measures memory here, prints
# two lines for each use, on a level above errors.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("KINETO_LOG_LEVEL", "6")
