"""The feature Anatomy: an attention layer line by line, what textbooks claim of it, and ways to write it.

Anatomy knows analysis, kit and implementations. It knows no other feature; Streamlit is only in `page/`.
"""
