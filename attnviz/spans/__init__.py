"""The feature Spans: how much attention each part of a prompt gets, and what an answer loses without it.

Spans knows analysis, kit and models. It knows no Streamlit: its tab stands on the page Heads.

`python -m attnviz.spans` asks which of twelve sentences an answer came from.
"""
