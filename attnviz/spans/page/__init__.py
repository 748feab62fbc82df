"""The experiment on spans that the page Causes shows: a needle in a haystack. Streamlit is used here."""

import attnviz.app  # noqa: F401 - checks Streamlit's version, and sets how torch's threads wait before torch comes
