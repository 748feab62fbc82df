"""Attention maps of a trace as they are asked for: tokens hidden, pieces merged, rows cut, heads covered.

Maps know traces. They know no model, no picture and no page.
"""
