"""The welcome page: what attnviz is, a first picture, and the way to the other pages. Streamlit is used here."""

import attnviz.app  # noqa: F401 - checks Streamlit's version, and sets how torch's threads wait before torch comes
