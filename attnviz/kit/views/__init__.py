"""Colours, captions, labels and tables that several features use.

The functions take values and return HTML or a Plotly figure. They may import no feature and no page.
"""
