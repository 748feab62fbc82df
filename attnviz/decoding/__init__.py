"""The feature Decoding: a target written step by step, held against the one pass of training.

Decoding knows analysis, kit and models. It knows no other feature; Streamlit is only in `page/`.
"""
