"""Colours, captions, labels and tables that several features draw with.

They take numbers and return HTML or a Plotly figure. They know no feature and no page.
"""
