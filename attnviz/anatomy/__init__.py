"""The feature Anatomy: an attention layer line by line, claims about it in textbooks, and ways to implement it.

It may import analysis, kit and implementations, but no other feature. Only `page/` imports Streamlit.
"""
