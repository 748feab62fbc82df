"""The feature Learning: the training of toy models and translators, with their maps and texts at each recorded step.

It may import toys, analysis and kit, but no other feature. Only `page/` imports Streamlit.
"""
