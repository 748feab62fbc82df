"""The feature Decoding: compare a target that is written step by step with the single pass of training.

It may import analysis, kit and models, but no other feature. Only `page/` imports Streamlit.
"""
