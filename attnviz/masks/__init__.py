"""The feature Masks: paint a mask by hand, choose any fill value, and run the real model with the mask.

It may import analysis, kit and models, but no other feature. Only `page/` imports Streamlit.
"""
