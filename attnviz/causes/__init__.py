"""The feature Causes: show what changes if heads are switched off or patched, and which heads produced a logit.

It may import analysis, kit and models, but no other feature. Only `page/` imports Streamlit.
"""
