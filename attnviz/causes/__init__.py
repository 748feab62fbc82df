"""The feature Causes: what changes when heads are switched off, patched or followed back from a logit.

Causes knows analysis, kit and models. It knows no other feature; Streamlit is only in `page/`.
"""
