"""The welcome page: what attnviz is, a first picture, and links to the other pages. It uses Streamlit."""

import attnviz.app  # noqa: F401 - checks Streamlit's version, and sets how torch's threads wait before torch comes
