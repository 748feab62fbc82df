"""The page Implementations. It uses Streamlit."""

import attnviz.app  # noqa: F401 - checks Streamlit's version, and sets how torch's threads wait before torch comes
