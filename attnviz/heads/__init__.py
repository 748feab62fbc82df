"""The feature Heads: every attention head of a run, as maps, links, lines, values and word alignments.

It may import analysis, kit and maps, but no other feature. Only `page/` imports Streamlit.
"""
