"""The page Anatomy, and the choice of an attention site, which the page Implementations uses too. It uses Streamlit."""

import attnviz.app  # noqa: F401 - checks Streamlit's version, and sets how torch's threads wait before torch comes
