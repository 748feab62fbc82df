"""The feature Masks: every mask and every fill, painted by hand and run on the real model.

Masks knows analysis, kit and models. It knows no other feature; Streamlit is only in `page/`.
"""
