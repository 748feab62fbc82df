"""The feature Heads: every attention head of a run, as maps, links, lines, numbers and alignments.

Heads knows analysis, kit and maps. It knows no other feature; Streamlit is only in `page/`.
"""
