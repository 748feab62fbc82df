"""The feature Spans: how much attention each part of a prompt gets, and how the answer changes without that part.

It may import analysis, kit and models, but not Streamlit: its tab is on the page Heads. `python -m attnviz.spans` asks
from which of twelve sentences an answer came.
"""
